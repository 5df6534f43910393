/* The last thing that a file of an instruction set includes: the table of what it
 * has made. */
#ifndef TARGETS_NATIVE_VECTOR_VERSION_H
#define TARGETS_NATIVE_VECTOR_VERSION_H

#include "targets/native/vector_attention.h"
#include "targets/native/vector_attention_few.h"
#include "targets/native/vector_byte_matrices.h"
#include "targets/native/vector_byte_quads.h"
#include "targets/native/vector_byte_recurrent.h"
#include "targets/native/vector_byte_tiles.h"
#include "targets/native/vector_bytes.h"
#include "targets/native/vector_chain.h"
#include "targets/native/vector_direct.h"
#include "targets/native/vector_depthwise.h"
#include "targets/native/vector_depthwise_bytes.h"
#include "targets/native/vector_integer.h"
#include "targets/native/vector_narrow.h"
#include "targets/native/vector_norm.h"
#include "targets/native/vector_point_depthwise.h"
#include "targets/native/vector_pointwise.h"
#include "targets/native/vector_pool_bytes.h"
#include "targets/native/vector_recurrent.h"
#include "targets/native/vector_reduce.h"
#include "targets/native/vector_softmax.h"
#include "targets/native/vector_strides.h"
#include "targets/native/vector_winograd.h"
#include "targets/native/version.h"

#define NATIVE_VERSION(words, here) \
	{ \
		.name = words, .width = NATIVE_WIDTH, .group = NATIVE_GROUP, \
		.is_here = here, .winograd = winograd_unit, \
		.pointwise = pointwise_unit, .direct = direct_unit, \
		.depthwise = depthwise_unit, \
		.point_depthwise = point_depthwise_unit, .chain = chain_part, \
		.choice = choice_part, .reduce = reduce_part, \
		.bytes_table = bytes_table, \
		.bytes_table_rows = bytes_table_rows, \
		.bytes_channels = bytes_channels, .bytes_pair = bytes_pair, \
		.bytes_sum = bytes_sum, .range = floats_range_of, \
		.quantize = floats_quantize, .dequantize = bytes_floats, \
		.number = floats_number, .attention_room = attention_floats, \
		.attention = attention_heads, .few_room = few_floats, \
		.few = attention_few, .narrow_stride = narrow_stride, \
		.narrow_pack = narrow_pack, .narrow = narrow_columns, \
		.recurrent_room = recurrent_rooms, \
		.recurrent_pack = recurrent_packed, \
		.recurrent = recurrent_sequence, .byte_rows = rows_rounded, \
		.byte_layer_room = byte_layer_bytes, \
		.byte_layer = byte_layer_direction, .strides = strides_pieces, \
		.softmax_units = softmax_units, .softmax = softmax_part, \
		.norm = norm_lines, .integer_room = integer_numbers, \
		.integer = integer_unit, .tiles_room = byte_tiles_numbers, \
		.tiles = byte_tiles_unit, .quads_room = byte_quads_numbers, \
		.quads = byte_quads_unit, \
		.byte_matrices_room = byte_matrices_numbers, \
		.byte_matrices = byte_matrices_unit, \
		.depthwise_bytes_pack = depthwise_bytes_packed, \
		.depthwise_bytes = depthwise_bytes_rows, \
		.pool_bytes = pool_bytes_row, \
	}

#endif
