/* The kernels of this folder, as its rules name them. */
#ifndef TARGETS_NATIVE_NATIVE_H
#define TARGETS_NATIVE_NATIVE_H

#include "targets/native/version.h"
#include "targets/target.h"

/* Of which instruction set a target's kernels are. */
const struct native_version *native_version_of(const struct target *t);

/* Blocks of channels as wide as its vectors. */
enum layout native_blocked(const struct target *t);

bool accept_winograd(const struct match_in *m, struct why *why);
uint32_t ways_winograd(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_winograd(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_pointwise(const struct match_in *m, struct why *why);
uint32_t ways_pointwise(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_pointwise(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_matrix(const struct match_in *m, struct why *why);
bool compile_matrix(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_direct(const struct match_in *m, struct why *why);
bool compile_direct(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_channelwise(const struct match_in *m, struct why *why);
uint32_t ways_channelwise(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_channelwise(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_point_depthwise(const struct match_in *m, struct why *why);
bool compile_point_depthwise(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_elements(const struct match_in *m, struct why *why);
uint32_t ways_elements(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_elements(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_attention(const struct match_in *m, struct why *why);
uint32_t ways_attention(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_attention(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_bytes(const struct match_in *m, struct why *why);
bool compile_byte_function(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_byte_join(const struct match_in *m, struct why *why);
bool compile_byte_join(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_byte_norm(const struct match_in *m, struct why *why);
bool compile_byte_norm(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_byte_mean(const struct match_in *m, struct why *why);
bool compile_byte_mean(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_pool_bytes(const struct match_in *m, struct why *why);
bool compile_pool_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_byte_lines(const struct match_in *m, struct why *why);
bool compile_byte_lines(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_byte_matrices(const struct match_in *m, struct why *why);
bool compile_byte_matrices(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);
bool accept_byte_pair(const struct match_in *m, struct why *why);
bool compile_byte_pair(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

uint32_t ways_byte_join(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);

uint32_t ways_byte_mean(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);

uint32_t ways_byte_layouts(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);

bool accept_choice(const struct match_in *m, struct why *why);
bool compile_choice(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_reduce(const struct match_in *m, struct why *why);
bool compile_reduce(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_conv_bytes(const struct match_in *m, struct why *why);
uint32_t ways_conv_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
uint32_t ways_integer_conv(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
uint32_t ways_product_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
uint32_t ways_dynamic_rows(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_conv_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);
bool compile_product_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_winograd_bytes(const struct match_in *m, struct why *why);
uint32_t ways_winograd_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_winograd_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_depthwise_bytes(const struct match_in *m, struct why *why);
bool compile_depthwise_bytes(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_dynamic_rows(const struct match_in *m, struct why *why);
bool compile_dynamic_rows(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_sequence(const struct match_in *m, struct why *why);
bool compile_sequence(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_byte_sequence(const struct match_in *m, struct why *why);
bool compile_byte_sequence(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_blocks(const struct match_in *m, struct why *why);
bool compile_blocks(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_quantize(const struct match_in *m, struct why *why);
bool compile_quantize(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_byte_move(const struct match_in *m, struct why *why);
uint32_t ways_byte_move(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_byte_move(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_reorder(const struct match_in *m, struct why *why);
uint32_t ways_reorder(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
uint32_t ways_join(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_reorder(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_lines(const struct match_in *m, struct why *why);
uint32_t ways_lines(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
bool compile_lines(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_norm(const struct match_in *m, struct why *why);
bool compile_norm(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_code(const struct match_in *m, struct why *why);
bool compile_code(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

bool accept_number(const struct match_in *m, struct why *why);
bool compile_number(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);
/* Of a move: in C order, or with channels last where that side may have them. */
uint32_t native_ways_of_sides(struct formats *f, bool from, bool to,
    struct implementation *out, uint32_t max);

/* C order only, of any rank. */
uint32_t ways_one(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);

#endif
