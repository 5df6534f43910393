/* What the documents of a result say, as arrays that the sections of the page
 * read: checked once, every index in range, positions as ids. */
#ifndef EMIT_REPORT_VIEW_H
#define EMIT_REPORT_VIEW_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/map.h"

struct cJSON;

#define PAGE_NONE UINT32_MAX

enum page_doc {
	PAGE_RESULT,
	PAGE_MAP,
	PAGE_PROVENANCE,
	PAGE_ALTERNATIVES,
	NPAGE_DOCS
};

/* Where a node of the graph is: of the first ONNX node it comes from. */
struct page_place {
	uint32_t scope, line; /* UINT32_MAX: nowhere */
};

/* Documents, without the lists that grow with the model and are not looked at
 * (of map.json: not again). All zero: none. */
struct page_docs {
	struct cJSON *doc[NPAGE_DOCS]; /* NULL: there is none */
	bool is_lent[NPAGE_DOCS]; /* not ours to close */
	struct page_place *place; /* [nplaces] of the nodes, by map.json */
	uint32_t nplaces;
	struct arena a;
};

/* Items by key: item[start[key]] .. item[start[key + 1] - 1], ascending. */
struct page_index {
	const uint32_t *start, *item;
};

struct page_target {
	const char *text, *kind, *prices; /* "npu:tiles=4", "npu" */
	const char *launch_source; /* NULL: nothing is launched */
	const struct cJSON *environment;
	bool is_host;
};

struct page_node {
	const char *label, *op;
	uint32_t composite;
	uint32_t scope; /* the author's module; 0: the whole model */
	uint32_t line; /* of Python, or PAGE_NONE */
};

struct page_composite {
	uint32_t region, target;
	uint32_t anchor; /* the node that names it, or PAGE_NONE */
	uint64_t work, moves, launch; /* moves: conversions it waits for */
	uint64_t cpu; /* processor time, 0 where nobody told */
	const char *rule, *source, *rests_on;
	bool known; /* its price is no bound */
};

struct page_region {
	const char *name;
	uint32_t target, first, n; /* composites */
	uint32_t nnodes;
	uint64_t work, moves, launch;
	uint32_t like; /* the first region that holds the same */
};

struct page_conversion {
	const char *value, *to, *source;
	uint32_t maker; /* composite, or PAGE_NONE: the caller's */
	uint32_t before; /* composite, or the number of them: the caller */
	uint32_t payer; /* target */
	uint64_t ns;
};

enum page_state { PAGE_KNOWN, PAGE_BOUND, PAGE_FAILED };

/* The best another target could do for a composite. */
struct page_other {
	uint32_t composite, target;
	enum page_state state;
	uint64_t ns;
	bool same; /* exactly its nodes */
};

struct page_refusal {
	uint32_t node, target, nfailed;
	const char *rule, *condition, *actual, *required;
};

struct page_scope {
	uint32_t parent; /* below its own id; of 0: 0 */
	const char *name, *path, *class;
};

struct page_line {
	const char *file, *text;
	uint32_t line;
};

struct page_view {
	const struct cJSON *result, *map, *provenance;
	struct arena *arena;
	const char *title, *folder; /* what the result's folder is called */
	uint64_t total;
	uint32_t ntargets, nnodes, ncomposites, nregions, nconversions;
	uint32_t nothers, nrefusals, nscopes, nlines;
	struct page_target *target;
	struct page_node *node;
	struct page_composite *composite;
	struct page_region *region;
	struct page_conversion *conversion;
	struct page_other *other;
	struct page_refusal *refusal;
	struct page_scope *scope;
	struct page_line *line;
	struct page_index nodes_of; /* composite -> nodes */
	struct page_index others_of; /* composite -> others */
	struct page_index refusals_of; /* node -> refusals */
	struct page_index read_by; /* composite -> conversions before it */
	struct page_index made_by; /* composite -> conversions of its values */
	struct map maker; /* value -> composite */
	bool has_others; /* alternatives.json is there: causes are known */
	bool has_scopes, has_lines;
};

/* Read the documents (map, provenance, alternatives may be missing) after
 * page_docs_check(). They must outlive the view. */
bool page_view_init(struct page_view *v, const struct page_docs *d,
    struct arena *a, struct err *err);

/* The region's share of the plan's time: work, what it waits for, launch. */
uint64_t region_all(const struct page_region *r);
uint64_t composite_all(const struct page_composite *c);

const char *composite_op(const struct page_view *v, uint32_t composite);
const char *composite_label(const struct page_view *v, uint32_t composite);
/* Nodes of a composite. */
uint32_t composite_nodes(const struct page_view *v, uint32_t composite);

/* The refusal of a node by a target that fewest conditions failed; NULL: none. */
const struct page_refusal *node_refusal(
    const struct page_view *v, uint32_t node, uint32_t target);

/* Are these what a network's time is spent in? */
bool is_heavy(const char *op);

/* Group n items by key[i] < nkeys; others are left out. */
struct page_index page_index_new(
    struct arena *a, const uint32_t *key, uint32_t n, uint32_t nkeys);

/* Members of documents, with defaults. */
const struct cJSON *doc_field(const struct cJSON *object, const char *key);
const char *doc_text(const struct cJSON *object, const char *key);
uint64_t doc_ns(const struct cJSON *object, const char *key);
double doc_real(const struct cJSON *object, const char *key);
bool doc_is_true(const struct cJSON *object, const char *key);
/* An index below n, or PAGE_NONE. */
uint32_t doc_index(const struct cJSON *object, const char *key, uint32_t n);

#endif
