/* Inputs that candidates are tried on, in all the formats they were wanted in: the same
 * for every try, so each is made once. */
#ifndef COSTMODEL_OPERANDS_H
#define COSTMODEL_OPERANDS_H

#include "ir/base/map.h"
#include "targets/target.h"

struct operands {
	const struct mix *mix;
	struct arena arena; /* everything below lives there */
	struct map map; /* graph, value and format -> made */
	const void **made;
	uint32_t n, cap;
};

void operands_init(struct operands *o, const struct mix *m);
void operands_release(struct operands *o);

/* Forget them where they are many. Before a try: it keeps pointers. */
void operands_trim(struct operands *o);

/* Seeded content of a value of static size, to be read only; NULL with err set where
 * there is no converter. */
const void *operands_get(struct operands *o, const struct graph *g,
    const struct port *p, struct err *err);

/* The same, anew in `a`, to be written over as well. */
void *operand_new(const struct graph *g, const struct mix *m,
    const struct port *p, struct arena *a, struct err *err);

#endif
