/* Changing a value's format on the host (layout and dtype), for the executor
 * and for measuring: plain C, and a kernel library's where one is built in
 * that is faster. */
#ifndef TARGETS_CONVERT_H
#define TARGETS_CONVERT_H

#include <stdbool.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "targets/format.h"
#include "targets/quant.h"

struct converter {
	void (*run)(struct converter *c, const void *in, void *out);
	void (*release)(struct converter *c); /* may be NULL */
	void *state;
};

/* A value of `type` in another format. */
struct format_change {
	struct format from, to;
	const struct type *type;
	const struct quant *quant; /* what 8 bits of a float mean; or NULL */
};

/* ERR_UNSUPPORTED for a pair nothing here converts. */
bool converter_new(struct converter *c, const struct format_change *change,
    struct arena *a, struct err *err);

#endif
