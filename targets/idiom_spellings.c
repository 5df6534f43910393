/* The table of idioms: how exporters spell them. Constants are compared by value
 * (NUMBER) or caught and checked by the writer; what is named twice is one
 * value. A row covers the orders and associations that occur; the largest match
 * at a node counts. */
#include "targets/idiom_write.h"

/* A part that several patterns share: compound literals written out each time
 * would double at every level. */
#define PART(name, p) \
	static const struct pattern name##_part = { \
	    .kind = PATTERN_EITHER, .nargs = 1, .arg = {p}};

#define X AS("x", ANY)
#define SQUARE_OF(p) EITHER(NODE(POW, p, NUMBER(2)), NODE(MUL, p, p))
#define HALF_OF(p) EITHER(NODE(MUL, p, NUMBER(0.5)), NODE(DIV, p, NUMBER(2)))
/* x, y and a half multiplied, in any order. */
#define HALF_PRODUCT(x, y) \
	EITHER(NODE(MUL, HALF_OF(x), y), NODE(MUL, x, HALF_OF(y)), \
	    HALF_OF(NODE(MUL, x, y)))

/* ---- functions ---- */

#define ROOT_2 1.4142135623730951
PART(erf,
    NODE(ERF,
        EITHER(NODE(DIV, X, NUMBER(ROOT_2)), NODE(MUL, X, NUMBER(1 / ROOT_2)))))
PART(erf_bell, NODE(ADD, &erf_part, NUMBER(1)))
/* Of PyTorch's decomposition, the half went inside. */
PART(half_bell, NODE(ADD, NODE(MUL, &erf_part, NUMBER(0.5)), NUMBER(0.5)))
PART(gelu,
    EITHER(HALF_PRODUCT(X, &erf_bell_part), NODE(MUL, X, &half_bell_part)))

#define CUBE_FACTOR NUMBER(0.044715)
#define ROOT_2_PI 0.7978845608028654 /* sqrt(2 / pi) */
PART(square, SQUARE_OF(X))
/* 0.044715 x^3 */
PART(cubic,
    EITHER(
        NODE(MUL, EITHER(NODE(POW, X, NUMBER(3)), NODE(MUL, X, &square_part)),
            CUBE_FACTOR),
        NODE(MUL, NODE(MUL, NODE(MUL, X, CUBE_FACTOR), X), X)))
/* 1 + 0.044715 x^2 */
PART(one_plus,
    NODE(ADD,
        EITHER(NODE(MUL, &square_part, CUBE_FACTOR),
            NODE(MUL, NODE(MUL, X, CUBE_FACTOR), X)),
        NUMBER(1)))
/* The sum, times x, with the factors of both multiplied beforehand. */
PART(premultiplied,
    NODE(ADD, NODE(MUL, &square_part, NUMBER(0.044715 * ROOT_2_PI)),
        NUMBER(ROOT_2_PI)))
PART(tanh_argument,
    EITHER(NODE(MUL, NODE(ADD, X, &cubic_part), NUMBER(ROOT_2_PI)),
        NODE(MUL, NODE(MUL, X, NUMBER(ROOT_2_PI)), &one_plus_part),
        NODE(MUL, NODE(MUL, X, &one_plus_part), NUMBER(ROOT_2_PI)),
        NODE(MUL, X, &premultiplied_part)))
PART(tanh_bell, NODE(ADD, NODE(TANH, &tanh_argument_part), NUMBER(1)))
PART(gelu_tanh, HALF_PRODUCT(X, &tanh_bell_part))

PART(swish,
    EITHER(NODE(MUL, X,
               NODE(SIGMOID, EITHER(X, NODE(MUL, X, AS("alpha", CONSTANT))))),
        NODE(DIV, X, NODE(ADD, NODE(EXP, NODE(NEG, X)), NUMBER(1)))))

#define SIXTH_OF(p) \
	EITHER(NODE(DIV, p, NUMBER(6)), NODE(MUL, p, NUMBER(1 / 6.)))
PART(plus_3, NODE(ADD, X, NUMBER(3)))
PART(relu_6,
    EITHER(AS("to_6", NODE(CLIP, &plus_3_part, REST)),
        NODE(MIN,
            EITHER(
                NODE(RELU, &plus_3_part), NODE(MAX, &plus_3_part, NUMBER(0))),
            NUMBER(6))))
PART(line, NODE(ADD, NODE(MUL, X, AS("alpha", CONSTANT)), AS("beta", CONSTANT)))
PART(hard_sigmoid,
    EITHER(SIXTH_OF(&relu_6_part), AS("to_1", NODE(CLIP, &line_part, REST))))
PART(hard_swish,
    EITHER(NODE(MUL, X, AS("gate", NODE(HARDSIGMOID, X))),
        NODE(MUL, X, SIXTH_OF(&relu_6_part)),
        NODE(MUL, SIXTH_OF(X), &relu_6_part),
        SIXTH_OF(NODE(MUL, X, &relu_6_part))))

/* PyTorch leaves the logarithm where it makes no difference. */
PART(softplus, NODE(WHERE, NODE(GREATER, X, NUMBER(20)), X, NODE(SOFTPLUS, X)))
PART(mish,
    NODE(MUL, X,
        NODE(TANH,
            EITHER(NODE(SOFTPLUS, X), &softplus_part,
                NODE(LOG, NODE(ADD, NODE(EXP, X), NUMBER(1)))))))

/* ---- normalisations ---- */

/* p by the root of q plus epsilon. */
#define PLUS_EPSILON(q) NODE(ADD, q, AS("epsilon", CONSTANT))
#define BY_ROOT(p, q) \
	EITHER(NODE(DIV, p, NODE(SQRT, q)), \
	    NODE(MUL, p, \
	        EITHER(NODE(RECIPROCAL, NODE(SQRT, q)), \
	            NODE(DIV, NUMBER(1), NODE(SQRT, q)), \
	            NODE(POW, q, NUMBER(-0.5)))), \
	    NODE(DIV, p, NODE(POW, q, NUMBER(0.5))))
#define AFFINE(p) \
	MAYBE(ADD, MAYBE(MUL, p, AS("scale", CONSTANT)), AS("shift", CONSTANT))

PART(mean, NODE(REDUCEMEAN, X, REST))
PART(centred, NODE(SUB, X, &mean_part))
PART(square_centred, SQUARE_OF(&centred_part))
PART(variance_plus, PLUS_EPSILON(NODE(REDUCEMEAN, &square_centred_part, REST)))
PART(standard, BY_ROOT(&centred_part, &variance_plus_part))
/* TensorFlow's: x * s + (shift - mean * s), where s = scale / deviation. */
PART(times,
    NODE(MUL, NODE(RECIPROCAL, NODE(SQRT, &variance_plus_part)),
        AS("scale", CONSTANT)))
PART(norm,
    EITHER(AFFINE(&standard_part),
        NODE(ADD, NODE(MUL, X, &times_part),
            NODE(SUB, AS("shift", CONSTANT),
                NODE(MUL, &mean_part, &times_part))),
        MAYBE(
            ADD, NODE(MUL, &centred_part, &times_part), AS("shift", CONSTANT))))

PART(mean_square_plus, PLUS_EPSILON(NODE(REDUCEMEAN, &square_part, REST)))
PART(rms, MAYBE(MUL, BY_ROOT(X, &mean_square_plus_part), AS("scale", CONSTANT)))

/* Groups become the channels of an instance normalisation, or the rows of a
 * layer normalisation; then the shape comes back. */
PART(split, AS("split", NODE(RESHAPE, X, CONSTANT)))
PART(split_mean, NODE(REDUCEMEAN, &split_part, REST))
PART(split_centred, NODE(SUB, &split_part, &split_mean_part))
PART(split_square, SQUARE_OF(&split_centred_part))
PART(split_variance, PLUS_EPSILON(NODE(REDUCEMEAN, &split_square_part, REST)))
PART(groups,
    EITHER(AS("instance",
               NODE(INSTANCENORMALIZATION, &split_part, AS("ones", CONSTANT),
                   AS("zeros", CONSTANT))),
        BY_ROOT(&split_centred_part, &split_variance_part)))
PART(group_norm, AFFINE(NODE(RESHAPE, &groups_part, CONSTANT)))

/* ONNX's LpNormalization, and what keeps its length off zero. */
PART(length,
    EITHER(NODE(REDUCEL2, X, REST),
        NODE(SQRT,
            EITHER(NODE(REDUCESUMSQUARE, X, REST),
                NODE(REDUCESUM, &square_part, REST)))))
PART(bounded_length,
    EITHER(&length_part, AS("bound", NODE(CLIP, &length_part, REST)),
        NODE(MAX, &length_part, AS("epsilon", CONSTANT)),
        NODE(ADD, &length_part, AS("epsilon", CONSTANT)),
        NODE(SQRT,
            NODE(MAX,
                EITHER(NODE(REDUCESUMSQUARE, X, REST),
                    NODE(REDUCESUM, &square_part, REST)),
                AS("epsilon", CONSTANT)))))
PART(l2_norm,
    EITHER(NODE(DIV, X,
               EITHER(&bounded_length_part,
                   NODE(EXPAND, &bounded_length_part, CONSTANT))),
        NODE(MUL, X, NODE(RECIPROCAL, &bounded_length_part))))

/* ---- attention ---- */

#define SCALED(name, p) \
	EITHER(p, NODE(MUL, p, AS(name "_by", CONSTANT)), \
	    NODE(DIV, p, AS(name "_over", CONSTANT)))
/* Keys or values behind those of the past; each for several queries' heads. */
#define JOINED(name) \
	AS(name "_joined", NODE(CONCAT, AS(name "_past", ANY), AS(name, ANY)))
#define APART(name, p) AS(name "_apart", NODE(UNSQUEEZE, p, REST))
#define REPEATED(name, p) \
	AS(name "_repeated", \
	    NODE(RESHAPE, \
	        AS(name "_copied", \
	            EITHER(NODE(EXPAND, APART(name, p), CONSTANT), \
	                NODE(TILE, APART(name, p), CONSTANT))), \
	        CONSTANT))
#define ALL_OF(name) \
	EITHER(AS(name, ANY), JOINED(name), REPEATED(name, AS(name, ANY)), \
	    REPEATED(name, JOINED(name)))
/* The last two dimensions exchanged: at once, or with the others as one. */
#define TURNED(p) \
	EITHER(AS("turned", NODE(TRANSPOSE, p)), \
	    AS("turned_back", \
	        NODE(RESHAPE, \
	            AS("turned", \
	                NODE(TRANSPOSE, \
	                    AS("flat", NODE(RESHAPE, p, CONSTANT)))), \
	            CONSTANT)))
/* A mask for each window, of windows that are side by side in the batch. */
#define WINDOWED(scores) \
	NODE(RESHAPE, \
	    NODE(ADD, \
	        AS("windowed", \
	            NODE(RESHAPE, \
	                EITHER( \
	                    scores, NODE(ADD, scores, AS("bias", CONSTANT))), \
	                CONSTANT)), \
	        AS("windows", CONSTANT)), \
	    CONSTANT)
#define SOFTENED(scores) \
	AS("softmax", \
	    NODE(SOFTMAX, \
	        EITHER(EITHER(scores, WINDOWED(scores)), \
	            NODE(ADD, scores, AS("mask", ANY)), \
	            NODE(WHERE, AS("seen", ANY), scores, \
	                AS("hidden", CONSTANT)), \
	            NODE(WHERE, AS("unseen", ANY), AS("hidden", CONSTANT), \
	                scores))))
/* PyTorch makes zeros of rows that are wholly masked. */
#define WEIGHTS(p) \
	EITHER(p, AS("guarded", NODE(WHERE, NODE(ISNAN, p), NUMBER(0), p)))

PART(keys, ALL_OF("k"))
PART(turned_keys, TURNED(&keys_part))
PART(scores,
    SCALED("s",
        AS("product",
            NODE(MATMUL, SCALED("q", X), SCALED("k", &turned_keys_part)))))
PART(softened, SOFTENED(&scores_part))
PART(values, ALL_OF("v"))
PART(attention, NODE(MATMUL, WEIGHTS(&softened_part), &values_part))

/* From and to tensors that have the heads side by side. */
#define HEADS_OF(name) AS(name "_heads", NODE(RESHAPE, AS(name, ANY), CONSTANT))
PART(q_apart, AS("q_apart", NODE(TRANSPOSE, HEADS_OF("x"))))
PART(k_heads, HEADS_OF("k"))
PART(k_apart, AS("k_apart", NODE(TRANSPOSE, &k_heads_part)))
PART(k_turned,
    EITHER(
        AS("k_turned", NODE(TRANSPOSE, &k_heads_part)), TURNED(&k_apart_part)))
PART(v_apart, AS("v_apart", NODE(TRANSPOSE, HEADS_OF("v"))))
PART(scores_of_heads,
    SCALED("s",
        AS("product",
            NODE(MATMUL, SCALED("q", &q_apart_part),
                SCALED("k", &k_turned_part)))))
PART(softened_heads, SOFTENED(&scores_of_heads_part))
PART(attention_whole,
    NODE(RESHAPE,
        AS("together",
            NODE(TRANSPOSE,
                NODE(MATMUL, WEIGHTS(&softened_heads_part), &v_apart_part))),
        CONSTANT))

/* ---- rotary embedding ---- */

/* The second half before the first, its sign changed. */
#define BY_SLICES(name) AS(name, NODE(SLICE, X, REST))
#define BY_SPLIT AS("low", NODE(SPLIT, X, REST))
PART(rotated,
    AS("rotated",
        EITHER(NODE(CONCAT, NODE(NEG, BY_SLICES("high")), BY_SLICES("low")),
            NODE(CONCAT, NODE(NEG, AS("high", ANY)), BY_SPLIT))))
#define ROTATED_HALVES(low, high) \
	AS("halves", \
	    NODE(CONCAT, \
	        NODE(SUB, NODE(MUL, low, AS("cos", ANY)), \
	            NODE(MUL, high, AS("sin", ANY))), \
	        NODE(ADD, NODE(MUL, high, AS("cos", ANY)), \
	            NODE(MUL, low, AS("sin", ANY)))))
PART(rotary,
    EITHER(NODE(ADD, NODE(MUL, X, AS("cos", ANY)),
               NODE(MUL, &rotated_part, AS("sin", ANY))),
        ROTATED_HALVES(BY_SLICES("low"), BY_SLICES("high")),
        ROTATED_HALVES(BY_SPLIT, AS("high", ANY))))

/* ---- moves ---- */

PART(
    moves, NODE(RESHAPE, AS("swapped", NODE(TRANSPOSE, &split_part)), CONSTANT))

/* ---- between quantisers ---- */

#define REAL_OF(p) NODE(DEQUANTIZELINEAR, p, CONSTANT, REST)
#define WEIGHTS_OF(name) \
	AS(name, NODE(DEQUANTIZELINEAR, CONSTANT, CONSTANT, REST))
PART(real, AS("from", REAL_OF(X)))
PART(qconv,
    NODE(QUANTIZELINEAR,
        MAYBE(RELU,
            AS("inner",
                NODE(CONV, &real_part, WEIGHTS_OF("weights"),
                    EITHER(ABSENT, WEIGHTS_OF("bias"))))),
        CONSTANT, REST))
PART(qpool,
    NODE(
        QUANTIZELINEAR, AS("inner", NODE(MAXPOOL, &real_part)), CONSTANT, REST))

const struct spelling idiom_spelling[] = {
    {IDIOM_GELU, &gelu_part, write_function},
    {IDIOM_GELU_TANH, &gelu_tanh_part, write_function},
    {IDIOM_SWISH, &swish_part, write_function},
    {IDIOM_HARD_SWISH, &hard_swish_part, write_function},
    {IDIOM_HARD_SIGMOID, &hard_sigmoid_part, write_function},
    {IDIOM_SOFTPLUS, &softplus_part, write_function},
    {IDIOM_MISH, &mish_part, write_function},
    {IDIOM_LAYER_NORM, &norm_part, write_norm}, /* or INSTANCE_NORM */
    {IDIOM_RMS_NORM, &rms_part, write_rms},
    {IDIOM_GROUP_NORM, &group_norm_part, write_groups},
    {IDIOM_L2_NORM, &l2_norm_part, write_length},
    {IDIOM_ATTENTION, &attention_part, write_heads},
    {IDIOM_ATTENTION, &attention_whole_part, write_heads},
    {IDIOM_ROTARY, &rotary_part, write_rotation},
    {IDIOM_QLINEAR_CONV, &qconv_part, write_quantised},
    {IDIOM_BYTE_POOL, &qpool_part, write_quantised},
    {IDIOM_PIXEL_SHUFFLE, &moves_part, write_moves}, /* or those behind it */
};
const uint32_t nidiom_spellings =
    sizeof idiom_spelling / sizeof *idiom_spelling;
