/* What a region's layers have to do, and what is alive meanwhile: the part of a
 * cost that depends on no rate. */
#ifndef TARGETS_MRVL_WORK_H
#define TARGETS_MRVL_WORK_H

#include "targets/mrvl/layer.h"
#include "targets/mrvl/options.h"
#include "targets/target.h"

/* What a layer has to do, before any rate. */
struct mrvl_work {
	double macs; /* of the MAC array, as the layer states them */
	double dense_factor; /* MACs and weights when depthwise goes dense */
	int64_t channels_in, channels_out, pixels;
	double vector_bytes; /* touched by pooling and sums */
	double weight_bytes; /* kernel, bias, norm */
	double in_bytes, out_bytes; /* activations */
	bool free; /* changes shapes only: absorbed by its neighbours */
};

struct mrvl_work work_of(const struct layer *l, bool int8);

/* One layer of a region. */
struct layer_work {
	struct mrvl_work work;
	double live; /* bytes of activations that exist while it runs, its own
		      * included, on all tiles together */
	bool unmade; /* see struct layer */
};

/* The candidates of a region, in order. */
struct layer_work *steps_of(const struct region *r, struct arena *a);

#endif
