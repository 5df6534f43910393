/* What every writer needs, worked out once: labels, stable references, the
 * names of regions, and how costs and formats are put into words. */
#ifndef EMIT_WORK_H
#define EMIT_WORK_H

#include <stdbool.h>
#include <stdio.h>

#include "emit/input.h"
#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/base/file.h"

struct json;
struct json_tree; /* ir/base/json_tree.h */
struct qdq; /* emit/qdq.h */
struct known_layers; /* emit/layers.h */
struct lent; /* emit/lent.h */

struct emit_work {
	const struct emit_in *in;
	const struct plan *plan;
	const struct graph *graph;
	struct arena *arena; /* texts live there */
	const char *const *label; /* [nnodes] never empty; for people */
	const char *const *ref; /* [nnodes] the first output's name: unique in
				 * the model, survives renumbering */
	const char *const *region; /* [nregions] "dnnl_0": <kind>_<region id> */
	const uint32_t *number; /* [nregions] among the regions of its kind */
	struct known_layers *layers; /* [nregions] of those asked for */
	struct lent *lent; /* weights that annotated.onnx has: none before it is
			    * written */
	const struct outdir *out; /* what was written so far; NULL: nothing */
	struct json_tree
	    *tree; /* documents become this instead of text, without
				 * long lists that the page does not look at;
				 * NULL: text */
	const struct qdq *qdq; /* the graph with quantisers; NULL: no region
				* computes in 8 bits */
};

void emit_work_init(
    struct emit_work *w, const struct emit_in *in, struct arena *a);

const struct price *emit_price(const struct emit_work *w, uint32_t composite);
const struct target *emit_target(const struct emit_work *w, uint32_t region);
const struct rule *emit_rule(
    const struct emit_work *w, const struct candidate *c);

/* Does the region stay in the main graph of the partitioned model? */
bool emit_region_is_host(const struct emit_work *w, uint32_t region);

/* "dnnl_0, composite 3 (dnnl.conv, direct; 2 nodes, 12.3 µs)". */
const char *emit_placement(const struct emit_work *w, uint32_t composite);

/* The price of a conversion in the plan; NULL when it has none. */
const struct price *emit_conversion_price(
    const struct emit_work *w, const struct plan_conversion *c);

/* Bytes of a value in a format; 0 when its type is not static. */
size_t emit_value_bytes(const struct emit_work *w, value_id v, format_id f);

/* The sum of all prices' ranges. */
struct total {
	cost_ns low, high;
	cost_ns cpu; /* processor time of all threads, as far as it is known */
};
struct total emit_total(const struct emit_work *w);

/* (cost - lower bound) / cost; 0 when proven. */
double emit_gap(const struct plan *p);

/* A file could not be written: one that no file of its kind could hold is left
 * out, which a note says and true; else *err stands, with the name. */
bool emit_leave_out(const struct emit_work *w, const struct outdir *o, FILE *f,
    const char *name, struct err *err);

/* "4.812 ms"; "never" for COST_NEVER. */
const char *cost_text(cost_ns ns, struct arena *a);
/* "host/nhwc" of a format of the mix. */
const char *emit_format(const struct emit_work *w, format_id f);

/* Begin a document: a file, or the tree that is wanted instead. */
void emit_json(struct json *j, FILE *f, const struct emit_work *w);

/* A cost as a JSON number, null for COST_NEVER. */
void json_cost(struct json *j, const char *key, cost_ns ns);
/* {"ns", "low_ns", "high_ns", "source", "samples", "rests_on"} */
void json_price(struct json *j, const char *key, const struct price *p);

#endif
