/* Kernels of our own, where a table shows that they beat the libraries. */
#include "targets/native/native.h"

#include "targets/byte_product.h"
#include "targets/cores.h"
#include "targets/dynamic.h"
#include "targets/tiling.h"

extern const struct target_kind target_native;

/* Dequantised, and quantised. */
#define REAL(p) NODE(DEQUANTIZELINEAR, p, CONSTANT, REST)
#define BYTES(p) NODE(QUANTIZELINEAR, p, CONSTANT, REST)
#define BYTE_CONV \
	EITHER(NODE(QLINEARCONV, VARIABLE, CONSTANT, CONSTANT, CONSTANT, \
	           CONSTANT, REST), \
	    SPELLED(QLINEAR_CONV, ANY))
#define PART(name, p) \
	static const struct pattern name = { \
	    .kind = PATTERN_EITHER, .nargs = 1, .arg = {p}};
/* Functions of one number, up to three between a pair of quantisers. */
#define BYTE_FUNCTION(p) \
	EITHER(EITHER(NODE(SIGMOID, p), NODE(TANH, p), NODE(HARDSIGMOID, p), \
	           NODE(HARDSWISH, p), NODE(RELU, p), NODE(LEAKYRELU, p)), \
	    EITHER(NODE(CLIP, p, EITHER(ABSENT, CONSTANT), \
	               EITHER(ABSENT, CONSTANT)), \
	        NODE(GELU, p), NODE(ELU, p), NODE(EXP, p), NODE(ERF, p), \
	        NODE(SQRT, p)), \
	    EITHER(NODE(ADD, p, CONSTANT), NODE(MUL, p, CONSTANT), \
	        NODE(SUB, p, CONSTANT), NODE(DIV, p, CONSTANT), \
	        NODE(POW, p, CONSTANT)))
PART(function_reals, REAL(AS("x", VARIABLE)))
PART(function_once, BYTE_FUNCTION(&function_reals))
PART(function_twice, BYTE_FUNCTION(EITHER(&function_reals, &function_once)))
PART(function_thrice, BYTE_FUNCTION(EITHER(&function_reals, &function_twice)))
/* Of what was quantised in between; times another one of the same byte; and that's. */
PART(function_codes, BYTES(EITHER(&function_reals, &function_thrice)))
PART(function_behind, BYTES(BYTE_FUNCTION(REAL(&function_codes))))
PART(function_other, REAL(EITHER(&function_codes, &function_behind)))
PART(function_gate, BYTES(NODE(MUL, &function_reals, &function_other)))
PART(function_gated, BYTES(BYTE_FUNCTION(REAL(&function_gate))))
#define BYTE_FUNCTIONS \
	EITHER(&function_codes, &function_behind, &function_gate, \
	    &function_gated)
/* Moves, several at once: between one pair of quantisers, between several, or of
 * bytes as they are. */
#define MOVED(p) \
	EITHER(EITHER(NODE(RESHAPE, p, CONSTANT), NODE(TRANSPOSE, p), \
	           NODE(SLICE, p, REST), NODE(FLATTEN, p)), \
	    EITHER(NODE(SQUEEZE, p, REST), NODE(UNSQUEEZE, p, REST), \
	        NODE(GATHER, p, CONSTANT)), \
	    EITHER(NODE(RESIZE, p, REST), NODE(EXPAND, p, CONSTANT), \
	        NODE(TILE, p, CONSTANT)))
PART(moved_bytes, AS("x", VARIABLE))
PART(moved_reals, REAL(&moved_bytes))
PART(moved_once, MOVED(&moved_reals))
PART(moved_twice, MOVED(EITHER(&moved_reals, &moved_once)))
PART(moved_thrice, MOVED(EITHER(&moved_reals, &moved_twice)))
PART(pair_once, BYTES(&moved_once))
PART(pair_reals, REAL(EITHER(&moved_bytes, &pair_once)))
PART(pair_twice, BYTES(MOVED(&pair_reals)))
PART(pairs_reals, REAL(EITHER(&moved_bytes, &pair_twice)))
PART(pair_thrice, BYTES(MOVED(&pairs_reals)))
PART(bare_once, MOVED(&moved_bytes))
PART(bare_twice, MOVED(EITHER(&moved_bytes, &bare_once)))
PART(bare_thrice, MOVED(EITHER(&moved_bytes, &bare_twice)))
#define MOVED_CODES EITHER(BYTES(&moved_thrice), &pair_thrice)
#define MOVED_BYTES (&bare_thrice)
/* Parts of one tensor, joined: turned round in one dimension or in two; every second
 * element of two dimensions. */
PART(part_once, NODE(SLICE, AS("x", VARIABLE), REST))
PART(part_twice, NODE(SLICE, EITHER(AS("x", VARIABLE), &part_once), REST))
PART(rolled_once, NODE(CONCAT, &part_once, &part_once))
PART(rolled_part, NODE(SLICE, AS("rolled", &rolled_once), REST))
#define JOINED_PARTS \
	EITHER(&rolled_once, NODE(CONCAT, &rolled_part, &rolled_part), \
	    NODE(CONCAT, &part_twice, &part_twice, &part_twice, &part_twice))

/* Functions of every element, up to four one behind the other. */
#define ELEMENT(p) \
	EITHER(EITHER(EITHER(NODE(EXP, p), NODE(LOG, p), NODE(SQRT, p), \
	                  NODE(SOFTPLUS, p), NODE(ELU, p), NODE(TANH, p)), \
	           EITHER(NODE(SIGMOID, p), NODE(RELU, p), NODE(LEAKYRELU, p), \
	               NODE(ABS, p), NODE(NEG, p), NODE(RECIPROCAL, p))), \
	    EITHER(NODE(ADD, p, ANY), NODE(SUB, p, ANY), NODE(SUB, ANY, p), \
	        NODE(MUL, p, ANY), NODE(DIV, p, ANY), NODE(DIV, ANY, p)), \
	    EITHER(NODE(POW, p, CONSTANT), NODE(CLIP, p, REST), \
	        NODE(HARDSIGMOID, p), NODE(HARDSWISH, p), NODE(GELU, p)))
PART(element_once, ELEMENT(ANY))
PART(element_twice, ELEMENT(EITHER(ANY, &element_once)))
PART(element_thrice, ELEMENT(EITHER(ANY, &element_twice)))
#define ELEMENTS \
	EITHER(SPELLED(GELU_TANH, ANY), \
	    SPELLED(GELU, EITHER(ANY, &element_once)), \
	    ELEMENT(EITHER(ANY, &element_thrice)))

/* A product with a constant matrix, what is added and functions behind it. */
PART(matrix_product,
    EITHER(NODE(MATMUL, ANY, CONSTANT), NODE(GEMM, ANY, CONSTANT, REST)))
PART(biased_product, MAYBE(ADD, &matrix_product, CONSTANT))
#define PRODUCT \
	EITHER(ACT(PLUS(&biased_product)), GATED(&biased_product), \
	    EITHER(SPELLED(GELU, &biased_product), \
	        SPELLED(GELU_TANH, &biased_product)))

#define REDUCTION(p) \
	EITHER(EITHER(NODE(REDUCESUM, p, REST), NODE(REDUCEMEAN, p, REST), \
	           NODE(REDUCEMAX, p, REST), NODE(REDUCEMIN, p, REST)), \
	    EITHER(NODE(REDUCEL1, p, REST), NODE(REDUCEL2, p, REST), \
	        NODE(REDUCESUMSQUARE, p, REST)))

/* A convolution of an image that is normalised, or whose channels have factors, as
 * it is read. */
#define NORMED \
	AS("norm", \
	    NODE(BATCHNORMALIZATION, ANY, CONSTANT, CONSTANT, CONSTANT, \
	        CONSTANT))
#define CONV_ENTERED \
	MAYBE(BATCHNORMALIZATION, \
	    NODE(CONV, \
	        EITHER(AS("relu", NODE(RELU, NORMED)), NORMED, \
	            AS("gate", \
	                NODE(MUL, AS("image", VARIABLE), \
	                    AS("factor", VARIABLE)))), \
	        CONSTANT, REST), \
	    CONSTANT, CONSTANT, CONSTANT, CONSTANT)
/* A convolution of each channel behind one of single pixels, functions behind both. */
#define CONV_OF(p) \
	MAYBE(BATCHNORMALIZATION, NODE(CONV, p, CONSTANT, REST), CONSTANT, \
	    CONSTANT, CONSTANT, CONSTANT)
#define ACTED(p) EITHER(CLAMPED(p), NODE(HARDSWISH, p), GATED(p))
PART(conv_first, CONV_OF(ANY))
PART(conv_acted, ACTED(&conv_first))
PART(conv_second, CONV_OF(&conv_acted))
#define POINT_DEPTHWISE ACTED(&conv_second)

/* Lines normalised, perhaps of a sum that nobody else reads. */
PART(norm_sum, AS("sum", NODE(ADD, VARIABLE, VARIABLE)))
#define LINES_NORM_OF(p) \
	EITHER(NODE(LAYERNORMALIZATION, p, CONSTANT, REST), \
	    SPELLED(LAYER_NORM, p), NODE(RMSNORMALIZATION, p, CONSTANT), \
	    SPELLED(RMS_NORM, p))
#define LINES_NORM EITHER(LINES_NORM_OF(ANY), LINES_NORM_OF(&norm_sum))

static const struct rule rules[] = {
#define RULE(n, p, a, w, c) {.name = "native." n, .pattern = p, .accepts = a},
#define TAPPED(n, p, a, w, c) \
	{.name = "native." n, .pattern = p, .accepts = a, .multi_output = true},
#include "targets/native/rules.def"
#undef RULE
#undef TAPPED
};

static const struct {
	uint32_t (*ways)(const struct match_in *m, struct formats *f,
	    struct implementation *out, uint32_t max);
	bool (*compile)(const struct target *t, const struct graph *g,
	    const struct candidate *c, struct arena *a, struct kernel *out,
	    struct err *err);
} family[] = {
#define RULE(n, p, a, w, c) {w, c},
#define TAPPED RULE
#include "targets/native/rules.def"
#undef RULE
#undef TAPPED
};

const struct native_version *
native_version_of(const struct target *t)
{
	/* facts are asked of targets nobody opened */
	return t->state ? t->state : native_version_find("auto");
}

enum layout
native_blocked(const struct target *t)
{
	return native_version_of(t)->width == 16 ? LAYOUT_BLK16 : LAYOUT_BLK8;
}

static bool
open_native(
    struct target *t, struct formats *f, struct arena *a, struct err *err)
{
	const char *vectors = target_option_get(t, "vectors");
	const struct native_version *v = native_version_find(vectors);

	(void)f;
	(void)a;
	t->state = v;
	return v
	    || err_set(err, ERR_TARGET,
	        "native: this processor has no vectors of '%s'", vectors);
}

static uint32_t
implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	return family[m->rule].ways(m, f, out, max);
}

static bool
compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	return family[c->rule].compile(t, g, c, a, out, err);
}

static void
environment(const struct target *t, struct buf *b)
{
	const struct native_version *v = native_version_of(t);

	buf_printf(b, "native_vectors=%s\nnative_width=%u\n", v->name,
	    (unsigned)v->width);
}

static const struct target_option options[] = {
    {"vectors", "auto|avx512|avx2|neon|c|wide", "auto",
        "instruction set of the kernels (wide: AVX-512's, made of others)"},
    TILING_MEMORY, {.name = NULL}};

const struct target_kind target_native = {
    .name = "native",
    .summary =
        "kernels of our own: convolutions (Winograd, 1x1, depthwise, of few filters), "
        "attention, LSTM, GRU, products of blocks of 4 or 8 bits, softmax, normalised "
        "lines, functions, reductions, moves, bytes",
    .option = options,
    .rule = rules,
    .nrules = (uint32_t)(sizeof rules / sizeof *rules),
    .source = PRICE_MEASURED,
    .needs_input = true,
    .widens = true,
    .open = open_native,
    .implementations = implementations,
    .compile = compile,
    .environment = environment,
};
