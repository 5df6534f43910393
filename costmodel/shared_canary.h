/* Canaries of a fleet: a few subjects that every machine measures, whoever's they
 * are, so that one that disagrees with its peers is seen. They are kept apart
 * from prices (cost=canary): nothing is priced twice. */
#ifndef COSTMODEL_SHARED_CANARY_H
#define COSTMODEL_SHARED_CANARY_H

#include "costmodel/station.h"

/* Measure the `most` of the list with the least keys, unless the database has
 * them: all who are given the list choose the same. */
bool station_canaries(
    struct station *s, const struct want *w, uint32_t most, struct err *err);

#endif
