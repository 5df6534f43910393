#include "ir/expand/writer.h"

#include <assert.h>
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Long enough for every statement; the statements are ours. */
#define STATEMENT 400u

bool
has_in(const struct writer *w, uint32_t i)
{
	return i < w->call->ninputs && w->call->input[i] != VALUE_NONE;
}

bool
wants(const struct writer *w, uint32_t i)
{
	return i < w->call->noutputs && w->call->output[i] != VALUE_NONE;
}

const struct type *
type_in(const struct writer *w, uint32_t i)
{
	const struct value *v =
	    has_in(w, i) ? graph_value(w->graph, w->call->input[i]) : NULL;

	return v && v->type.kind == TYPE_TENSOR ? &v->type : NULL;
}

uint32_t
rank_in(const struct writer *w, uint32_t i)
{
	const struct type *t = type_in(w, i);

	return t ? t->rank : RANK_UNKNOWN;
}

enum dtype
dtype_in(const struct writer *w, uint32_t i)
{
	const struct type *t = type_in(w, i);

	return t ? t->dtype : DT_UNDEFINED;
}

const Onnx__AttributeProto *
attr_of(const struct writer *w, const char *name)
{
	for (size_t i = 0; i < w->node->n_attribute; i++)
		if (w->node->attribute[i]->name
		    && strcmp(w->node->attribute[i]->name, name) == 0)
			return w->node->attribute[i];
	return NULL;
}

int64_t
int_of(const struct writer *w, const char *name, int64_t otherwise)
{
	const Onnx__AttributeProto *a = attr_of(w, name);

	return a && a->has_i ? a->i : otherwise;
}

double
real_of(const struct writer *w, const char *name, double otherwise)
{
	const Onnx__AttributeProto *a = attr_of(w, name);

	return a && a->has_f ? (double)a->f : otherwise;
}

bool
text_is(const struct writer *w, const char *name, const char *text)
{
	const Onnx__AttributeProto *a = attr_of(w, name);
	size_t n = strlen(text);

	return a && a->has_s && a->s.len == n
	    && memcmp(a->s.data, text, n) == 0;
}

void
refuse_form(struct writer *w, const char *why)
{
	if (!w->refused)
		w->refused = why;
}

/* ---- reading a statement ---- */

struct body_reader {
	struct writer *w;
	const char *at;
};

static void
skip(struct body_reader *r)
{
	while (*r->at == ' ')
		r->at++;
}

static bool
take(struct body_reader *r, char c)
{
	skip(r);
	if (*r->at != c)
		return false;
	r->at++;
	return true;
}

static char *
word(struct body_reader *r)
{
	const char *from;
	char *text;
	size_t n;

	skip(r);
	from = r->at;
	while (isalnum((unsigned char)*r->at) || *r->at == '_')
		r->at++;
	n = (size_t)(r->at - from);
	text = arena_alloc(r->w->arena, n + 1);
	memcpy(text, from, n);
	text[n] = '\0';
	return text;
}

static Onnx__NodeProto *
new_node(struct writer *w, char *type)
{
	Onnx__NodeProto *p = arena_new(w->arena, Onnx__NodeProto, 1);

	onnx__node_proto__init(p);
	p->op_type = type;
	return p;
}

static void
add_node(struct writer *w, Onnx__NodeProto *p)
{
	w->made = arena_grow(
	    w->arena, w->made, &w->cap, w->nmade + 1, sizeof *w->made);
	w->made[w->nmade++] = p;
}

static void
add_word(struct writer *w, char ***list, size_t *n, char *text)
{
	char **grown = arena_new(w->arena, char *, *n + 1);

	if (*n)
		memcpy(grown, *list, *n * sizeof *grown);
	grown[(*n)++] = text;
	*list = grown;
}

static void
add_attr(struct writer *w, Onnx__NodeProto *p, Onnx__AttributeProto *a)
{
	Onnx__AttributeProto **grown =
	    arena_new(w->arena, Onnx__AttributeProto *, p->n_attribute + 1);

	if (p->n_attribute)
		memcpy(grown, p->attribute, p->n_attribute * sizeof *grown);
	grown[p->n_attribute++] = a;
	p->attribute = grown;
}

static Onnx__AttributeProto *
new_attr(struct writer *w, char *name, enum attr_kind kind)
{
	Onnx__AttributeProto *a = arena_new(w->arena, Onnx__AttributeProto, 1);

	onnx__attribute_proto__init(a);
	a->name = name;
	a->has_type = true;
	a->type = (int32_t)kind;
	return a;
}

/* A number or a list of them; the names are of a Constant's attributes. */
static Onnx__AttributeProto *
numbers(struct body_reader *r, char *name)
{
	bool is_list = take(r, '['), is_real = false;
	double x[64];
	uint32_t n = 0;
	Onnx__AttributeProto *a;

	do {
		char *end;

		assert(n < 64);
		x[n++] = strtod(r->at, &end);
		assert(end != r->at);
		for (; r->at < end; r->at++) /* n of inf and nan, too */
			is_real = is_real || strchr(".en", *r->at) != NULL;
	} while (is_list && take(r, ','));
	if (is_list)
		take(r, ']');
	a = new_attr(r->w, name,
	    is_list       ? is_real ? ATTR_FLOATS : ATTR_INTS
	        : is_real ? ATTR_FLOAT
	                  : ATTR_INT);
	a->f = (float)x[0];
	a->i = is_real ? 0 : (int64_t)x[0];
	a->has_f = !is_list && is_real;
	a->has_i = !is_list && !is_real;
	if (!is_list)
		return a;
	a->floats = arena_new(r->w->arena, float, n);
	a->ints = arena_new(r->w->arena, int64_t, n);
	for (uint32_t i = 0; i < n; i++) {
		a->floats[i] = (float)x[i];
		a->ints[i] = is_real ? 0 : (int64_t)x[i];
	}
	a->n_floats = is_real ? n : 0;
	a->n_ints = is_real ? 0 : n;
	return a;
}

static char *
fresh(struct writer *w)
{
	/* not const: what protobuf-c made has such strings, too */
	size_t n = 16;
	char *name = arena_alloc(w->arena, n);

	snprintf(name, n, "t%u", (unsigned)w->nmade);
	return name;
}

static char *
literal_name(const Onnx__AttributeProto *a)
{
	static char names[][16] = {"value_float", "value_int", "value_floats",
	    "value_ints", "value_string", "value_strings", "value"};

	switch ((enum attr_kind)a->type) {
	case ATTR_FLOAT:
		return names[0];
	case ATTR_INT:
		return names[1];
	case ATTR_FLOATS:
		return names[2];
	case ATTR_INTS:
		return names[3];
	case ATTR_STRING:
		return names[4];
	case ATTR_STRINGS:
		return names[5];
	default:
		return names[6];
	}
}

/* The call's attribute under another name; NULL when it has none. */
static Onnx__AttributeProto *
of_call(struct body_reader *r, char *name)
{
	const Onnx__AttributeProto *is;
	Onnx__AttributeProto *a;

	r->at++;
	is = attr_of(r->w, word(r));
	if (!is || is->ref_attr_name) {
		if (is)
			refuse_form(r->w, "an attribute refers to another");
		return NULL;
	}
	a = arena_new(r->w->arena, Onnx__AttributeProto, 1);
	*a = *is;
	if (name)
		a->name = name;
	return a;
}

static char *
constant_of(struct writer *w, Onnx__AttributeProto *a)
{
	static char type[] = "Constant";
	Onnx__NodeProto *p = new_node(w, type);
	char *name = fresh(w);

	a->name = literal_name(a);
	add_attr(w, p, a);
	add_word(w, &p->output, &p->n_output, name);
	add_node(w, p);
	return name;
}

static char *
cast_like(struct writer *w, char *value, char *like)
{
	static char type[] = "CastLike";
	Onnx__NodeProto *p = new_node(w, type);
	char *name = fresh(w);

	add_word(w, &p->input, &p->n_input, value);
	add_word(w, &p->input, &p->n_input, like);
	add_word(w, &p->output, &p->n_output, name);
	add_node(w, p);
	return name;
}

/* Numbers of attributes may be infinite, or none. */
static bool
is_number(const char *at)
{
	return isdigit((unsigned char)*at) || *at == '-'
	    || strncmp(at, "inf", 3) == 0 || strncmp(at, "nan", 3) == 0;
}

static char *
argument(struct body_reader *r)
{
	static char nothing[] = "";
	Onnx__AttributeProto *a;
	char *name;

	skip(r);
	if (*r->at == '@') {
		a = of_call(r, NULL);
		if (!a) {
			refuse_form(r->w, "an attribute is missing");
			return nothing;
		}
		name = constant_of(r->w, a);
	} else if (is_number(r->at) || *r->at == '[') {
		name = constant_of(r->w, numbers(r, nothing));
	} else {
		name = word(r);
		if (strcmp(name, "_") == 0)
			name = nothing;
	}
	return take(r, '~') ? cast_like(r->w, name, word(r)) : name;
}

static void
attribute(struct body_reader *r, Onnx__NodeProto *p)
{
	char *name = word(r);
	Onnx__AttributeProto *a;

	take(r, '=');
	skip(r);
	if (*r->at == '@') {
		a = of_call(r, name);
	} else if (take(r, '"')) {
		a = new_attr(r->w, name, ATTR_STRING);
		a->has_s = true;
		a->s.data = (uint8_t *)word(r);
		a->s.len = strlen((char *)a->s.data);
		take(r, '"');
	} else {
		a = numbers(r, name);
	}
	if (a)
		add_attr(r->w, p, a);
}

static void
statement(struct writer *w, const char *text)
{
	struct body_reader r = {w, text};
	Onnx__NodeProto *p = new_node(w, NULL);

	do {
		char *name = word(&r);

		add_word(w, &p->output, &p->n_output,
		    strcmp(name, "_") == 0 ? name + 1 : name);
	} while (take(&r, ','));
	take(&r, '=');
	p->op_type = word(&r);
	assert(*r.at == '(');
	r.at++;
	while (!take(&r, ')')) {
		add_word(w, &p->input, &p->n_input, argument(&r));
		take(&r, ',');
	}
	if (take(&r, '{'))
		while (!take(&r, '}')) {
			attribute(&r, p);
			take(&r, ',');
		}
	assert(*r.at == '\0');
	add_node(w, p);
}

void
say(struct writer *w, const char *fmt, ...)
{
	char text[STATEMENT];
	va_list args;
	int n;

	if (w->refused)
		return;
	va_start(args, fmt);
	n = vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	assert(n > 0 && (size_t)n < sizeof text);
	statement(w, text);
}

/* ---- the function ---- */

static char **
numbered(struct writer *w, char prefix, size_t n)
{
	char **name = arena_new(w->arena, char *, n);

	for (size_t i = 0; i < n; i++) {
		name[i] = arena_alloc(w->arena, 16);
		snprintf(name[i], 16, "%c%u", prefix, (unsigned)i);
	}
	return name;
}

const Onnx__FunctionProto *
writer_function(struct writer *w)
{
	Onnx__FunctionProto *f = arena_new(w->arena, Onnx__FunctionProto, 1);

	onnx__function_proto__init(f);
	f->name = w->node->op_type;
	f->domain = w->node->domain;
	f->n_input = w->call->ninputs < 16 ? 16 : w->call->ninputs;
	f->input = numbered(w, 'i', f->n_input);
	f->n_output = w->call->noutputs;
	f->output = numbered(w, 'o', f->n_output);
	f->node = w->made;
	f->n_node = w->nmade;
	return f;
}
