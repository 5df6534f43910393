/* Marks: what the model's own metadata says about where its nodes run. Keys are
 * those annotated.onnx and partitioned.onnx are written with, so that either can
 * be edited and searched again. README.md lists them. */
#ifndef PLAN_MARKS_H
#define PLAN_MARKS_H

#include "ir/onnx_read.h"
#include "plan/constraints.h"

/* Of nodes. */
#define MARK_TARGET "marq.target" /* it runs on one of these */
#define MARK_FORBID "marq.forbid" /* ... on none of these */
#define MARK_STOP "marq.stop_fusion" /* "true": nothing crosses to its users */
#define MARK_PARTITION "marq.partition" /* nodes of one name stay one region */
/* MARK_PLACEMENT: for people; not read */

/* Of models. */
#define MARK_SCHEMA "marq.schema"
#define MARK_TARGETS "marq.targets" /* what the mix was; not read */
#define MARK_COST "marq.cost_ns" /* not read */
#define MARK_PADDING "marq.padding" /* moves weights to a place; not read */
/* MARK_WEIGHTS: read with the model (ir/graph.h) */
#define MARK_CONSTRAINTS "marq.constraints" /* a constraints document */
#define MARK_REGION "marq.region." /* NAME: the target of that function */
#define SCHEMA_ANNOTATED "marq.annotated/1"
#define SCHEMA_PARTITIONED "marq.partitioned/1"

/* Domain of the functions of a partitioned model; each is a locked partition. */
#define REGION_DOMAIN "marq.region"

/* Add what the marks ask for. Notes name marks without effect (their node became
 * a constant, or was dropped). ERR_INPUT naming node, key and value for what is
 * unknown or contradicts itself. */
bool marks_read(struct constraints *s, const struct model *model,
    const struct mix *m, struct notes *notes, struct arena *a, struct err *err);

#endif
