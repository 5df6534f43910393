/* A station: a model that somebody wants measured here, opened, with what of it
 * has a key. */
#ifndef COSTMODEL_STATION_H
#define COSTMODEL_STATION_H

#include "costmodel/pricer.h"
#include "costmodel/want.h"
#include "ir/base/map.h"
#include "ir/onnx_read.h"

struct station {
	struct model model;
	struct mix mix;
	struct candidates candidates;
	struct pricer *pricer;
	struct prices prices;
	struct map keys; /* target and key -> subject */
	struct arena *arena;
};

/* Read the wanted model, find its candidates, look up what is on record.
 * Closed on error. The wanted document outlives the station. */
bool station_open(struct station *s, const struct want *w,
    const struct pricer_options *o, struct arena *a, struct err *err);

/* The subject of a key, or SUBJECT_NONE: this program, or its libraries, offer
 * nothing of the kind. */
uint32_t station_find(const struct station *s, const struct wanted_subject *w);

/* What measuring a list did. */
struct station_counts {
	uint32_t measured, known, absent, failed;
	uint32_t probed; /* looked at in passing */
	uint32_t left; /* ended early */
};

/* Measure the wanted subjects in their order, except those that have a price; look
 * first at those that only that is wanted of.
 * Stops early, with true. */
bool station_measure(struct station *s, const struct want *w,
    struct station_counts *out, struct err *err);

bool station_close(struct station *s, struct err *err);

#endif
