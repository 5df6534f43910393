/* Constraints on plans: pins, bans, stop-fusion marks and limits, from flags
 * and from a file. */
#ifndef PLAN_CONSTRAINTS_H
#define PLAN_CONSTRAINTS_H

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "search/problem.h"
#include "targets/candidates.h"

enum constraint_kind {
	CONSTRAIN_PIN, /* nodes run on a target */
	CONSTRAIN_FORBID, /* nodes do not run on a target */
	CONSTRAIN_STOP, /* nothing crosses from nodes to their users */
	CONSTRAIN_REGIONS, /* at most `amount` regions of a target */
	CONSTRAIN_REGION_NODES, /* at most `amount` nodes in each */
	CONSTRAIN_INPUTS, /* regions read nothing but model inputs */
	CONSTRAIN_CAPACITY, /* resources of a target's candidates: `amount` */
	CONSTRAIN_PARTITION, /* nodes are one region of a target, alone in it */
};

struct constraint {
	enum constraint_kind kind;
	uint32_t nnodes;
	const node_id *node; /* ascending */
	uint64_t targets; /* mask over the mix */
	uint64_t amount;
	const char *text; /* as a user would write it */
};

/* What was asked for, resolved against a graph and a mix, in order. */
struct constraints {
	struct constraint *item;
	uint32_t n, cap;
};

/* Flags. A NODE is a name (of a node or of an ONNX node it stems from), #ID, or
 * op:TYPE; a TARGET a kind or a target as written in the mix. ERR_USAGE when
 * nothing in the model or the mix is meant. */
bool constraints_pin(struct constraints *s, const char *text,
    const struct graph *g, const struct mix *m, struct arena *a,
    struct err *err); /* NODE=TARGET */
bool constraints_forbid(struct constraints *s, const char *text,
    const struct graph *g, const struct mix *m, struct arena *a,
    struct err *err); /* TARGET:NODE */
bool constraints_stop(struct constraints *s, const char *text,
    const struct graph *g, struct arena *a, struct err *err); /* NODE */

/* TARGET or TARGET:NODE,NODE...: the target gets one region that reads nothing but
 * model inputs, a prefix of the model, without these nodes (and so without what
 * comes after them). */
bool constraints_prefix(struct constraints *s, const char *text,
    const struct graph *g, const struct mix *m, struct arena *a,
    struct err *err);

/* A file (README.md has its schema). ERR_INPUT naming the entry. */
bool constraints_read(struct constraints *s, const char *path,
    const struct graph *g, const struct mix *m, struct arena *a,
    struct err *err);

/* The same from a text. */
bool constraints_parse(struct constraints *s, const char *text,
    const struct graph *g, const struct mix *m, struct arena *a,
    struct err *err);

/* The pieces the above are made of. ERR_USAGE when nothing is meant. */
/* The targets a leading "TARGET:" means (a mask), and what follows it; 0 and
 * the whole text when there is none. */
uint64_t constraint_prefix(
    const char *text, const struct mix *m, const char **rest, struct arena *a);
bool constraint_nodes(struct constraint *c, const char *text,
    const struct graph *g, struct arena *a, struct err *err);
bool constraint_targets(struct constraint *c, const char *text,
    const struct mix *m, struct arena *a, struct err *err);
void constraints_add(
    struct constraints *s, struct constraint c, struct arena *a);

/* Put them, but for partitions, onto a problem that problem_build() filled, but for
 * skip[i] (NULL: none). The caller indexes the problem afterwards. */
void constraints_apply(const struct constraints *s, const bool *skip,
    const struct graph *g, struct problem *p);

#endif
