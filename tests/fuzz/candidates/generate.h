/* Random models, by operator: chains and joins of whatever the kernel libraries
 * have patterns for, and of what stands between. */
#ifndef TESTS_FUZZ_CANDIDATES_GENERATE_H
#define TESTS_FUZZ_CANDIDATES_GENERATE_H

#include "tests/support/make.h"
#include "tests/support/support.h"

#define POOL_MAX 64
#define ATTRS_MAX 16

/* What read_back() makes of a model. */
enum form { FORM_FUSED, FORM_IF, FORM_LOOP, FORM_SCAN, FORM_OPEN, NFORMS };

struct generator {
	struct maker m;
	struct rng r;
	value_id pool[POOL_MAX]; /* float tensors made so far */
	uint32_t n;
	bool failed; /* inference refused something: no model */
	bool was_file; /* it was read_back() */
	bool halves; /* its floats are float16 */
	bool has[NFORMS];
};

/* Attributes being put together; their content lives in the model's arena. */
struct attributes {
	struct attr item[ATTRS_MAX];
	uint32_t n;
};

/* A model of a few operators, normalised; false when what came up is none. */
bool generate(struct generator *g, uint32_t seed, struct arena *a);

/* The model as a file would have it, read again: open shapes, branches,
 * operators of other domains. False: it is not read. */
bool read_back(struct generator *g);

/* A function becomes an If, a Loop or a Scan around it; whatever else the node is
 * stays. */
void put_in_graph(struct generator *g, node_id id);

/* ---- what makers of nodes use ---- */

uint32_t upto(struct generator *g, uint32_t n); /* 1..n */
bool one_in(struct generator *g, uint32_t n);
int64_t any_dim(struct generator *g);
int64_t any_channels(struct generator *g);

const struct type *type_of(const struct generator *g, value_id v);
/* A tensor of that rank (0: any): made before, or a new input. */
value_id take(struct generator *g, uint32_t rank);
value_id new_input(struct generator *g, const int64_t *dim, uint32_t rank);
value_id new_constant(struct generator *g, const int64_t *dim, uint32_t rank,
    float low, float high);
/* Either. */
value_id new_tensor(struct generator *g, const int64_t *dim, uint32_t rank);

void add_int(
    struct generator *g, struct attributes *at, const char *name, int64_t x);
void add_ints(struct generator *g, struct attributes *at, const char *name,
    const int64_t *x, uint32_t n);
void add_text(struct generator *g, struct attributes *at, const char *name,
    const char *text);
/* Some attributes with values from values.def. */
void add_from_table(struct generator *g, struct attributes *at, enum op op);

/* Add a node; its output joins the pool. Inputs end with VALUE_LAST. */
value_id add_node(struct generator *g, enum op op, const value_id *in,
    const struct attributes *at);
#define NODE_OF(g, op, ...) \
	add_node(g, OP_##op, (const value_id[]){__VA_ARGS__, VALUE_LAST}, NULL)

/* ---- makers, by family ---- */

void make_window(struct generator *g); /* Conv, ConvTranspose, pools */
void make_product(struct generator *g); /* Gemm, MatMul */
void make_pointwise(struct generator *g); /* functions, operations of two */
void make_norm(struct generator *g); /* normalisations, softmax, reductions */
void make_moved(struct generator *g); /* Transpose, Pad, Concat, Resize ... */
void make_quantised_move(
    struct generator *g); /* Transpose, Gather ... of bytes */
void make_parts(struct generator *g); /* Slices of one tensor, joined */
void make_sequence(struct generator *g); /* LSTM, GRU, RNN */
void make_byte_sequence(struct generator *g); /* DynamicQuantizeLSTM */
void make_narrow(struct generator *g); /* MatMulNBits */
void make_idiom(struct generator *g); /* what exporters spell out */
void make_attention(struct generator *g); /* the operator, or spelled out */

#endif
