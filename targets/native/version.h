/* The kernels as compiled for one instruction set. */
#ifndef TARGETS_NATIVE_VERSION_H
#define TARGETS_NATIVE_VERSION_H

#include "targets/native/attention_form.h"
#include "targets/native/byte_loops.h"
#include "targets/native/byte_matrices_form.h"
#include "targets/native/byte_recurrent_form.h"
#include "targets/native/chain.h"
#include "targets/native/direct_form.h"
#include "targets/native/depthwise_bytes_form.h"
#include "targets/native/depthwise_form.h"
#include "targets/native/integer_form.h"
#include "targets/native/narrow_form.h"
#include "targets/native/point_depthwise_form.h"
#include "targets/native/norm_form.h"
#include "targets/native/pointwise.h"
#include "targets/native/pool_bytes_form.h"
#include "targets/native/recurrent_form.h"
#include "targets/native/reduce_form.h"
#include "targets/native/softmax_form.h"
#include "targets/native/strides.h"
#include "targets/native/winograd.h"

struct native_version {
	const char *name; /* of its vectors: "avx2", ... */
	uint32_t width; /* floats of a vector */
	uint32_t group; /* rows of a product whose sums fit the registers */
	bool (*is_here)(void); /* does this processor have them? */
	winograd_run *winograd;
	pointwise_run *pointwise;
	direct_run *direct;
	depthwise_run *depthwise;
	point_depthwise_run *point_depthwise;
	chain_run *chain;
	choice_run *choice;
	reduce_run *reduce;
	bytes_table_run *bytes_table;
	bytes_table_rows_run *bytes_table_rows;
	bytes_channels_run *bytes_channels;
	bytes_pair_run *bytes_pair;
	bytes_sum_run *bytes_sum;
	floats_range_run *range;
	floats_quantize_run *quantize;
	bytes_floats_run *dequantize;
	floats_number_run *number;
	attention_room *attention_room, *few_room;
	attention_run *attention, *few;
	narrow_stride_of *narrow_stride;
	narrow_pack_run *narrow_pack;
	narrow_run *narrow;
	recurrent_room_of *recurrent_room;
	recurrent_pack *recurrent_pack;
	recurrent_run *recurrent;
	byte_rows_run *byte_rows;
	byte_layer_room *byte_layer_room;
	byte_layer_run *byte_layer;
	strides_run *strides;
	integer_room *integer_room;
	integer_run *integer;
	integer_room *tiles_room;
	integer_run *tiles;
	integer_room *quads_room;
	integer_run *quads;
	byte_matrices_room *byte_matrices_room;
	byte_matrices_run *byte_matrices;
	depthwise_bytes_pack *depthwise_bytes_pack;
	depthwise_bytes_run *depthwise_bytes;
	pool_bytes_run *pool_bytes;
	softmax_units_of *softmax_units;
	softmax_run *softmax;
	norm_run *norm;
};

/* The best this processor has, or the one of that name ("auto": the best); NULL:
 * there is none, or not here. */
const struct native_version *native_version_find(const char *name);

#endif
