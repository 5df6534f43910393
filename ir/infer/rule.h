/* What every inference rule sees: one node, the types and small values of its
 * inputs, and where its outputs' types go. Internal to ir/infer. */
#ifndef IR_INFER_RULE_H
#define IR_INFER_RULE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/graph.h"
#include "ir/infer/num.h"
#include "ir/infer/options.h"

/* The integers a value is known to hold, some of them perhaps symbolic; in C
 * order of its shape. e == NULL: nothing is known. */
struct small {
	uint32_t n;
	const struct num *e;
};

/* TUNING: a shape vector is at most RANK_MAX long; pads of it twice that, and
 * some exporters concatenate a few. Longer ones are followed only when wholly
 * constant. */
#define SMALL_MAX 256u

/* One pass over one graph. */
struct pass {
	struct graph *g;
	const struct infer_options *o;
	struct arena *scratch; /* lives as long as the whole inference */
	struct symbols symbols;
	struct small *small; /* [nvalues] */
	const struct tensor **content; /* [nvalues]: known content, or NULL */
	uint64_t *budget; /* elements still to be folded; shared by bodies */
	uint64_t *moves; /* elements still to be moved; shared by bodies */
	bool *failed; /* some fault went into the notes */
	const char *path; /* "" or "If_3/then_branch/", for messages */
	uint32_t depth;
};

/* One node under inference. */
struct site {
	struct pass *pass;
	struct graph *g;
	const struct node *n;
	node_id id;
	struct type *out; /* [noutputs], TYPE_UNKNOWN until set */
	struct small *out_small; /* [noutputs] */
	const struct tensor **out_content; /* [noutputs] */
	struct err *err;
};

/* Sets what is known of the outputs; false with err set when the node breaks
 * a rule of its operator. What cannot be known is left unset. */
typedef bool (*rule_fn)(struct site *s);

/* A list of numbers given by an attribute or an input. */
struct nums {
	bool given; /* there is such an attribute or input */
	bool known; /* and its length is known */
	uint32_t n;
	const struct num *e; /* [n] when known */
};

/* A fault of this node: the rule and the value, without the node's name. */
#define fault(s, ...) err_set((s)->err, ERR_INPUT, __VA_ARGS__)

/* Input i, or NULL when left out (or beyond the last). */
const struct type *in_type(const struct site *s, uint32_t i);
/* Is input i there, a tensor, and of known rank? */
bool in_ranked(const struct site *s, uint32_t i);
/* dtype of input i; DT_UNDEFINED when not known. */
enum dtype in_dtype(const struct site *s, uint32_t i);
/* Content of input i when it is constant, else NULL. */
const struct tensor *in_content(const struct site *s, uint32_t i);
/* The same, made-up content too: to fold with, not to conclude from. */
const struct tensor *in_constant(const struct site *s, uint32_t i);
/* The integers of input i (e == NULL when not known at all). */
struct small in_small(const struct site *s, uint32_t i);

/* Refuse an input that is there with a known rank below `min` (or not
 * exactly `want`, for need_rank). `what` names it in the message. */
bool need_min_rank(struct site *s, uint32_t i, uint32_t min, const char *what);
bool need_rank(struct site *s, uint32_t i, uint32_t want, const char *what);

/* The list of attribute `attr`, or of input `input` where the opset (or its
 * absence as an attribute) puts it there. UINT32_MAX: no such input. */
bool list_of(
    struct site *s, const char *attr, uint32_t input, struct nums *out);
/* Every element is a known integer? */
bool nums_all_known(const struct nums *l);

/* -rank <= axis < rank, made non-negative; fault otherwise. */
bool site_axis(struct site *s, const char *what, int64_t axis, uint32_t rank,
    uint32_t *out);
/* An axis attribute, checked likewise. */
bool attr_axis(struct site *s, const char *attr, int64_t otherwise,
    uint32_t rank, uint32_t *out);

/* Zeroed dims in the graph's arena. */
int64_t *dims_new(struct site *s, uint32_t rank);
int64_t *dims_copy(struct site *s, const int64_t *dim, uint32_t rank);

/* x.shape[:axis] + at.shape + x.shape[axis + 1:], of types with a rank. */
int64_t *dims_gathered(
    struct site *s, const struct type *x, uint32_t axis, const struct type *at);

/* Set output i; ignored when it is left out. */
void out_tensor(struct site *s, uint32_t i, enum dtype dtype, uint32_t rank,
    const int64_t *dim);
void out_unranked(struct site *s, uint32_t i, enum dtype dtype);
/* Output i has the type of `t`, or that shape with another dtype. */
void out_type(struct site *s, uint32_t i, const struct type *t);
void out_shaped(
    struct site *s, uint32_t i, enum dtype dtype, const struct type *t);
/* Output i has rank `rank` and unknown dims. */
void out_rank(struct site *s, uint32_t i, enum dtype dtype, uint32_t rank);
/* Is output i asked for? */
bool has_out(const struct site *s, uint32_t i);

/* *out = what both are; fault when both are known and differ. */
bool dim_meet(
    struct site *s, const char *what, int64_t a, int64_t b, int64_t *out);
/* Multidirectional broadcasting of one dimension / of shapes. */
bool dim_broadcast(struct site *s, int64_t a, int64_t b, int64_t *out);
bool type_broadcast(struct site *s, const struct type *a, const struct type *b,
    struct type *out);
/* Inputs first .. first+n-1 have one dtype (where known); *out is it. */
bool same_dtypes(struct site *s, uint32_t first, uint32_t n, enum dtype *out);

/* Arithmetic that faults on overflow. */
bool site_add(struct site *s, struct num a, struct num b, struct num *out);
bool site_mul(struct site *s, struct num a, struct num b, struct num *out);

/* Room for a small value of n numbers in the scratch arena. */
struct num *small_new(struct site *s, uint32_t n);
void out_small(struct site *s, uint32_t i, const struct num *e, uint32_t n);

/* What the table says of an operator. */
struct op_rule {
	rule_fn type; /* shape and dtype of the outputs */
	rule_fn value; /* symbolic content of small integer outputs, or NULL */
	enum fold {
		FOLD_NO, /* never: random, stateful, control flow, heavy */
		FOLD_EVAL, /* by the evaluator, when all inputs are constant */
		FOLD_EACH, /* likewise; each element depends on the elements
			    * in the same place only: repeated elements stay
			    * so */
		FOLD_MOVE, /* likewise; moves elements of input 0 about */
		FOLD_OPEN, /* likewise; the size of the output depends on
			    * content, and is bounded by the inputs' */
	} fold;
};

const struct op_rule *rule_get(enum op op);

#endif
