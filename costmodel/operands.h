/* What candidates are tried on. Inputs, in all the formats they were wanted in: the same
 * for every try, so each is made once. And room for outputs: memory that is new to the
 * process costs more than most kernels take to fill it. */
#ifndef COSTMODEL_OPERANDS_H
#define COSTMODEL_OPERANDS_H

#include "ir/base/map.h"
#include "targets/target.h"

struct kept_operands {
	const struct mix *mix;
	struct arena arena; /* everything below lives there */
	struct map map; /* graph, value and format -> made */
	const void **made;
	uint32_t n, cap;
	struct operand_room *room; /* [nrooms] the first ntaken are in use */
	uint32_t nrooms, ntaken, room_cap;
};

void operands_init(struct kept_operands *o, const struct mix *m);
void operands_release(struct kept_operands *o);

void operands_forget(struct kept_operands *o);

/* Before a try, whose inputs and rooms hold until the next: what is there is forgotten
 * where it is much. */
void operands_begin(struct kept_operands *o);

/* So many bytes, zeroed, for this try only. */
void *operands_room(struct kept_operands *o, size_t bytes);

/* Seeded content of a value of static size, to be read only; NULL with err set where
 * there is no converter. */
const void *operands_get(struct kept_operands *o, const struct graph *g,
    const struct port *p, struct err *err);

/* The same, anew in `a`, to be written over as well. */
void *operand_new(const struct graph *g, const struct mix *m,
    const struct port *p, struct arena *a, struct err *err);

#endif
