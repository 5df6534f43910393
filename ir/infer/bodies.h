/* Bodies of control flow: what crosses between a graph and the graphs inside
 * its nodes. Internal to ir/infer and ir/normalize. */
#ifndef IR_INFER_BODIES_H
#define IR_INFER_BODIES_H

#include <stdbool.h>

#include "ir/graph.h"
#include "ir/infer/num.h"
#include "ir/infer/rule.h"

/* A type of graph `from` in the symbols of another graph. */
struct type type_carried(
    struct symbols *to, const struct graph *from, const struct type *t);

/* Start a pass over a body of the node: captured values get their outer types
 * and content. Faults when bodies nest too deep. */
bool body_enter(
    struct site *s, const char *attr, struct graph *body, struct pass *inner);

/* Infer the body. */
bool body_infer(struct site *s, struct pass *inner);

/* What a body's values were before a trial run, bodies within included. */
struct body_snapshot;
struct body_snapshot *body_save(struct graph *body, struct arena *a);
void body_restore(const struct body_snapshot *saved);

/* Merge a type into what a body input states; the incoming one wins. */
void body_set_input(struct pass *inner, const struct graph *from, uint32_t i,
    const struct type *t);

/* The type of a body's output, in the symbols of the site's graph. */
struct type body_output(struct site *s, const struct pass *inner, uint32_t i);

/* The body an attribute holds; faults when there is none. */
bool body_of(struct site *s, const char *attr, struct graph **body);

/* What two runs or branches agree on: dims that differ are unknown, ranks that
 * differ too; *same = nothing was lost of a. False when the kinds or dtypes
 * differ (no value can be both). */
bool type_join(struct arena *a, const struct type *x, const struct type *y,
    struct type *out, bool *same);

#endif
