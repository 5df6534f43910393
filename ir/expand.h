/* Operators of other domains that are written out in operators of the default
 * one when a model is read: com.microsoft as ONNX Runtime's quantiser,
 * optimiser and LLM builder use it, and ai.onnx.ml. Nothing behind the importer
 * knows them; what became of a call is in its source map (role split). */
#ifndef IR_EXPAND_H
#define IR_EXPAND_H

#include <stdbool.h>

#include "ir/graph.h"
#include "ir/onnx.pb-c.h"

/* The opset of what expand_call() writes. */
#define EXPAND_OPSET 24

/* Is anything known of the operator (expand/expand.def)? */
bool expand_knows(const char *domain, const char *type);

/* A function (in `a`) that computes what the call does: inputs i0, i1, ... and
 * outputs o0, o1, .... NULL: not of this form; *why says what (static). */
const Onnx__FunctionProto *expand_call(const Onnx__NodeProto *p,
    const struct graph *g, const struct node *call, struct arena *a,
    const char **why);

#endif
