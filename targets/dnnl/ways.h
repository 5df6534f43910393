/* The ways oneDNN is asked to run a composite: algorithm, layouts and how a
 * residual is added. A way's number is the implementation's. */
#ifndef TARGETS_DNNL_WAYS_H
#define TARGETS_DNNL_WAYS_H

#include "targets/dnnl/layer.h"

/* SECOND: the implementation that the library would take if it did not have its
 * first one. SOURCE: seen in 2.6.3: jit behind brgconv, gemm behind brgemm; in
 * 3.7.2 the same with AVX-512, and with AVX2 jit behind brgconv, brgemm behind
 * gemm. */
enum algorithm { DIRECT, DIRECT_SECOND, WINOGRAD, IN_PLACE };

struct way {
	const char *name;
	const char *nan_name; /* where bounds are put so that NaN stays */
	enum layout in, out; /* BLK16 stands for this CPU's block */
	enum algorithm algorithm;
	enum residual residual;
};

/* Added to the number of a way whose bounds are put so that NaN stays
 * (nan.h). */
#define WAY_KEEPS_NAN 64u
/* The same, of one that runs behind a guard (targets/guarded.h). */
#define WAY_GUARDED 128u

/* Do library and processor compute with float16? */
bool dnnl_has_halves(void);
/* Leave those of `n` ways that there are for float16; how many that is. */
uint32_t ways_of_halves(
    const struct match_in *m, struct implementation *out, uint32_t n);

/* The number of the way with the same layouts and the direct algorithm: its own, but for
 * Winograd's. */
uint32_t way_direct(uint32_t number);

/* Which of the implementations of its algorithm a way asks for, from 0. */
uint32_t way_nth(const struct way *w);

/* Facts of a way; number as handed back in a candidate. */
const struct way *way_get(uint32_t number);

/* Ways to run a match, by family; see struct target_kind's implementations. */
uint32_t ways_conv(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
uint32_t ways_depthwise(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
uint32_t ways_matmul(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
/* Of bytes: channels last; the library's first choice, or its second, too. */
uint32_t ways_last(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
uint32_t ways_bytes(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
uint32_t ways_integer_product(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
/* Does this processor add products of bytes up without saturating on the way? */
bool ways_sum_bytes(void);
/* One per layout: pooling, pointwise, ... */
uint32_t ways_layouts(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
/* The same, but for what the library computes wrong. */
uint32_t ways_binary(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
/* Plain, and channels-last for images. */
uint32_t ways_group_norm(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
/* Channels-last too when the result keeps its rank. */
uint32_t ways_reduction(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
/* One per layout, and in place. */
uint32_t ways_concat(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);
/* C order only: softmax, layer norm, transpose. */
uint32_t ways_plain(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max);

#endif
