/* The other end of a link: measures what a search elsewhere asks for (wire.h). */
#ifndef COSTMODEL_SERVE_H
#define COSTMODEL_SERVE_H

#include "costmodel/pricer_data.h"

/* Until `in` ends or somebody says bye. What was measured is kept in a journal
 * of the session until that bye, so that a search whose connection was lost
 * gets it from who serves it next. A fault is told on `out`, too. */
bool serve(int in, int out, const struct pricer_options *o, struct arena *a,
    struct err *err);

#endif
