/* Writing a call out: statements of text become nodes of a function.
 *
 *   o0, mean = LayerNormalization(x, i2, _){axis=-1, epsilon=@epsilon}
 *
 * An argument is a name; _ for one left out; a number or a list of numbers
 * (float when one has a point); @name for an attribute of the call as a
 * constant; each with ~name behind it cast to the type of that value. An
 * attribute's value is a number, a list, "text", or @name: the call's own, left
 * out where the call has none. */
#ifndef IR_EXPAND_WRITER_H
#define IR_EXPAND_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/graph.h"
#include "ir/onnx.pb-c.h"

struct writer {
	const Onnx__NodeProto *node;
	const struct graph *graph;
	const struct node *call;
	struct arena *arena;
	const char *refused; /* why this form is not written out, or NULL */
	Onnx__NodeProto **made; /* [nmade] */
	uint32_t nmade, cap;
};

/* Add a statement. */
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void
say(struct writer *w, const char *fmt, ...);

/* This form is not written out; the first reason counts. */
void refuse_form(struct writer *w, const char *why);

/* Is input i given / output i wanted? */
bool has_in(const struct writer *w, uint32_t i);
bool wants(const struct writer *w, uint32_t i);
/* What is known of input i, or NULL. */
const struct type *type_in(const struct writer *w, uint32_t i);
/* Its rank, or RANK_UNKNOWN. */
uint32_t rank_in(const struct writer *w, uint32_t i);
enum dtype dtype_in(const struct writer *w, uint32_t i);

const Onnx__AttributeProto *attr_of(const struct writer *w, const char *name);
int64_t int_of(const struct writer *w, const char *name, int64_t otherwise);
double real_of(const struct writer *w, const char *name, double otherwise);
bool text_is(const struct writer *w, const char *name, const char *text);

/* All statements as a function. */
const Onnx__FunctionProto *writer_function(struct writer *w);

#endif
