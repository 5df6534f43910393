/* Printing the text form. */
#include "ir/text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "ir/base/hash.h"
#include "ir/text_read.h"

/* TUNING: content up to this many bytes is written out, else its hash is. */
#define MAX_INLINE 1024u

struct printer {
	FILE *f;
	const struct graph *g;
	unsigned depth; /* of nested bodies, for indentation */
};

static void print_graph(struct printer *p);

static void
print_string(FILE *f, const char *s, size_t n)
{
	fputc('"', f);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c < 0x20 || c >= 0x7f)
			fprintf(f, "\\x%02x", c);
		else
			fputc(c, f);
	}
	fputc('"', f);
}

static void
print_dim(struct printer *p, int64_t dim)
{
	const char *name;

	if (dim >= 0) {
		fprintf(p->f, "%" PRId64, dim);
	} else if (dim == DIM_UNKNOWN) {
		fputc('?', p->f);
	} else {
		name = p->g->symbol[DIM_SYMBOL(0) - dim];
		print_string(p->f, name, strlen(name));
	}
}

static void
print_dims(struct printer *p, uint32_t rank, const int64_t *dim)
{
	fputc('[', p->f);
	for (uint32_t i = 0; i < rank; i++) {
		fputs(i ? "," : "", p->f);
		print_dim(p, dim[i]);
	}
	fputc(']', p->f);
}

/* float32[1,"N",?], float32[...], sequence(T), optional(T), opaque, unknown */
static void
print_type(struct printer *p, const struct type *t)
{
	uint32_t open = 0;

	for (; t && (t->kind == TYPE_SEQUENCE || t->kind == TYPE_OPTIONAL);
	     t = t->elem, open++)
		fputs(
		    t->kind == TYPE_SEQUENCE ? "sequence(" : "optional(", p->f);
	if (t && t->kind == TYPE_TENSOR) {
		fputs(dtype_name(t->dtype), p->f);
		if (t->rank == RANK_UNKNOWN)
			fputs("[...]", p->f);
		else
			print_dims(p, t->rank, t->dim);
	} else {
		fputs(t && t->kind == TYPE_OPAQUE ? "opaque" : "unknown", p->f);
	}
	while (open-- > 0)
		fputc(')', p->f);
}

static void
print_hex(FILE *f, const void *bytes, size_t n)
{
	const unsigned char *b = bytes;

	for (size_t i = 0; i < n; i++)
		fprintf(f, "%02x", b[i]);
}

static void
print_hash(FILE *f, const struct tensor *t)
{
	struct hash128 h = hash128(t->data, t->bytes);
	char text[33];

	hash128_print(h, text);
	fprintf(f, "hash %s", text);
}

/* float32[2] hex 0000..., fill 00000000, hash ..., strings "a" "b" */
static void
print_tensor(struct printer *p, const struct tensor *t)
{
	fputs(dtype_name(t->dtype), p->f);
	print_dims(p, t->rank, t->dim);
	fputc(' ', p->f);
	if (t->kind == TENSOR_FILL) {
		fputs("fill ", p->f);
		print_hex(p->f, t->fill, dtype_bits(t->dtype) / 8);
	} else if (t->kind == TENSOR_STRINGS) {
		fputs("strings", p->f);
		for (size_t i = 0; i < t->count; i++) {
			fputc(' ', p->f);
			print_string(p->f, t->string[i].s, t->string[i].n);
		}
	} else if (t->bytes <= MAX_INLINE || dtype_bits(t->dtype) < 8) {
		fputs("hex ", p->f);
		print_hex(p->f, t->data, t->bytes);
	} else {
		print_hash(p->f, t);
	}
}

/* Nine digits say a float exactly; what is no number is its bits. */
static void
print_float(FILE *f, float x)
{
	uint32_t bits;

	memcpy(&bits, &x, sizeof bits);
	if (isfinite(x))
		fprintf(f, "%.9g", (double)x);
	else
		fprintf(f, "#%08" PRIx32, bits);
}

static void
print_body(struct printer *p, const struct graph *g)
{
	struct printer inner = {p->f, g, p->depth + 1};

	print_graph(&inner);
}

static void
print_entry(struct printer *p, const struct attr *a, uint32_t i)
{
	switch (a->kind) {
	case ATTR_FLOAT:
	case ATTR_FLOATS:
		print_float(p->f, a->floats[i]);
		break;
	case ATTR_INT:
	case ATTR_INTS:
		fprintf(p->f, "%" PRId64, a->ints[i]);
		break;
	case ATTR_STRING:
	case ATTR_STRINGS:
		print_string(p->f, a->strings[i].s, a->strings[i].n);
		break;
	case ATTR_GRAPH:
	case ATTR_GRAPHS:
		print_body(p, a->graphs[i]);
		break;
	case ATTR_TYPE:
	case ATTR_TYPES:
		print_type(p, &a->types[i]);
		break;
	case ATTR_NONE:
		break;
	default:
		print_tensor(p, &a->tensors[i]);
	}
}

/* name:kind=entry or name:kind=[entry,...]; kinds are text_kind[]. */
static void
print_attr(struct printer *p, const struct attr *a)
{
	bool list = a->kind > ATTR_GRAPH && a->kind != ATTR_SPARSE
	    && a->kind != ATTR_TYPE;

	fputc(' ', p->f);
	print_string(p->f, a->name, strlen(a->name));
	fprintf(p->f, ":%s=%s", text_kind[a->kind], list ? "[" : "");
	for (uint32_t i = 0; i < a->n; i++) {
		fputs(i ? "," : "", p->f);
		print_entry(p, a, i);
	}
	fputs(list ? "]" : "", p->f);
}

static void
indent(struct printer *p)
{
	for (unsigned i = 0; i < p->depth; i++)
		fputc('\t', p->f);
}

/* %3 "name" float32[2] */
static void
print_value(struct printer *p, value_id v)
{
	const struct value *x = graph_value(p->g, v);

	fprintf(p->f, "%%%" PRIu32 " ", v);
	print_string(p->f, x->name, strlen(x->name));
	fputc(' ', p->f);
	print_type(p, &x->type);
}

static void
print_ids(struct printer *p, const value_id *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		fputs(i ? ", " : "", p->f);
		if (v[i] == VALUE_NONE)
			fputc('_', p->f);
		else
			fprintf(p->f, "%%%" PRIu32, v[i]);
	}
}

/* outputs = Op.version "domain" "name" (inputs; captured) attributes */
static void
print_node(struct printer *p, const struct node *n)
{
	indent(p);
	fputs("node", p->f);
	for (uint32_t i = 0; i < n->noutputs; i++) {
		fputs(i ? ", " : " ", p->f);
		if (n->output[i] == VALUE_NONE)
			fputc('_', p->f);
		else
			print_value(p, n->output[i]);
	}
	fputs(" = ", p->f);
	print_string(p->f, n->op_type, strlen(n->op_type));
	fprintf(p->f, " %" PRIu32 " ", n->opset);
	print_string(p->f, n->domain, strlen(n->domain));
	fputc(' ', p->f);
	print_string(p->f, n->name, strlen(n->name));
	fputs(" (", p->f);
	print_ids(p, n->input, n->ninputs);
	fputs("; ", p->f);
	print_ids(p, n->input + n->ninputs, n->nimplicit);
	fputc(')', p->f);
	for (uint32_t i = 0; i < n->nattrs; i++)
		print_attr(p, &n->attr[i]);
	fputc('\n', p->f);
}

/* Values no node makes: inputs, captures, constants, and what is left over. */
static void
print_free_value(struct printer *p, value_id v, uint32_t slot)
{
	const struct value *x = graph_value(p->g, v);

	indent(p);
	if (slot != UINT32_MAX)
		fprintf(p->f, "capture %" PRIu32 " ", slot);
	else
		fputs("value ", p->f);
	print_value(p, v);
	if (x->flags & VALUE_OVERRIDABLE)
		fputs(" overridable", p->f);
	if (x->constant) {
		fputs(" = ", p->f);
		print_tensor(p, x->constant);
	}
	fputc('\n', p->f);
}

static void
print_free_values(struct printer *p)
{
	const struct graph *g = p->g;
	struct arena scratch;
	uint32_t *slot;

	arena_init(&scratch);
	slot = arena_new(&scratch, uint32_t, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++)
		slot[v] = UINT32_MAX;
	for (uint32_t i = 0; i < g->ncaptures; i++)
		slot[g->capture[i].inner] = g->capture[i].slot;
	for (value_id v = 0; v < g->nvalues; v++)
		if (g->value[v].producer == NODE_NONE)
			print_free_value(p, v, slot[v]);
	arena_release(&scratch);
}

static void
print_graph(struct printer *p)
{
	const struct graph *g = p->g;
	const char *name = g->name ? g->name : "";

	fputs("graph ", p->f);
	print_string(p->f, name, strlen(name));
	fputs(" {\n", p->f);
	print_free_values(p);
	indent(p);
	fputs("in ", p->f);
	print_ids(p, g->input, g->ninputs);
	fputc('\n', p->f);
	for (node_id id = 0; id < g->nnodes; id++)
		print_node(p, graph_node(g, id));
	indent(p);
	fputs("out ", p->f);
	print_ids(p, g->output, g->noutputs);
	fputc('\n', p->f);
	for (unsigned i = 1; i < p->depth; i++)
		fputc('\t', p->f);
	fputc('}', p->f);
}

void
graph_print(FILE *f, const struct graph *g)
{
	struct printer p = {f, g, 1};

	print_graph(&p);
	fputc('\n', f);
}
