/* One side of a comparison: a result directory as arrays, checked. */
#ifndef CLI_RESULT_VIEW_H
#define CLI_RESULT_VIEW_H

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/map.h"
#include "plan/objective.h"
#include "targets/target.h"

struct cJSON;

#define SOURCES_MAX 4u

struct view_node {
	const char *ref, *label, *op_type;
	uint32_t composite;
};

/* A price that can be matched with the other side's by its key. */
struct view_price {
	const char *key; /* what it is the price of */
	cost_ns cost;
	cost_ns noise; /* half its range */
	bool is_estimate; /* nobody measured it: the range is a guess */
	const char *source; /* "measured" */
};

struct view_composite {
	struct view_price price;
	uint32_t target;
	const char *rule, *implementation;
	const struct cJSON *nodes; /* refs */
};

struct result_view {
	const char *path; /* as the user wrote it */
	struct cJSON *result, *alternatives; /* the latter may be NULL */
	const char *model;
	cost_ns cost, term[NTERMS];
	bool proven;
	uint32_t among_regions; /* it is proven among; 0: all */
	char sources[64]; /* of its prices, in order of appearance */
	uint32_t nsources;
	uint32_t nnodes, ncomposites, nconversions, ntargets;
	struct view_node *node;
	struct view_composite *composite;
	struct view_price *conversion;
	const char **target, **kind; /* [ntargets] text, kind */
	struct map by_ref; /* ref -> node */
};

/* `path` is a result directory or a result.json. ERR_IO or ERR_INPUT. */
bool result_view_read(
    struct result_view *s, const char *path, struct arena *a, struct err *err);

/* Is it "MODEL.onnx@TARGET+TARGET" (or lacks only the targets)? */
bool result_view_is_search(const char *text);

/* Search it with the options of `like`. */
struct search_args;
bool result_view_search(struct result_view *s, const char *text,
    const struct search_args *like, struct err *err);

void result_view_close(struct result_view *s);

#endif
