/* TypeProto -> struct type, and what the user binds. */
#include <inttypes.h>
#include <string.h>

#include "ir/onnx_import.h"

/* Names exporters give to dimensions they know nothing about, used for
 * unrelated ones. SOURCE: found in real models; see README. */
static bool
is_placeholder(const char *symbol)
{
	static const char *const word[] = {"", "None", "?", "unk", "-1", "*"};

	for (size_t i = 0; i < sizeof word / sizeof word[0]; i++)
		if (strcmp(symbol, word[i]) == 0)
			return true;
	return strncmp(symbol, "unk__", 5) == 0;
}

/* graph_symbol(), but not linear in the number of symbols. */
static uint32_t
symbol_index(struct importer *imp, struct graph *g, const char *symbol)
{
	uint32_t i;

	if (imp->symbols_of != g) {
		map_init(&imp->symbols, imp->passing);
		imp->symbols_of = g;
		for (i = 0; i < g->nsymbols; i++)
			map_add(&imp->symbols, g->symbol[i],
			    strlen(g->symbol[i]), i);
	}
	i = map_find(&imp->symbols, symbol, strlen(symbol));
	if (i != MAP_NONE)
		return i;
	g->symbol = arena_grow(g->arena, g->symbol, &g->symbol_cap,
	    g->nsymbols + 1, sizeof *g->symbol);
	g->symbol[g->nsymbols] = import_word(imp, symbol);
	map_add(
	    &imp->symbols, g->symbol[g->nsymbols], strlen(symbol), g->nsymbols);
	return g->nsymbols++;
}

static int64_t
symbol_dim(struct importer *imp, struct graph *g, const char *symbol)
{
	for (uint32_t i = 0; i < imp->options->ndims; i++)
		if (strcmp(symbol, imp->options->dim[i].name) == 0) {
			imp->dim_used[i] = true;
			return imp->options->dim[i].size;
		}
	if (is_placeholder(symbol))
		return DIM_UNKNOWN;
	return DIM_SYMBOL((int64_t)symbol_index(imp, g, symbol));
}

static int64_t
import_dim(struct importer *imp, struct graph *g,
    const Onnx__TensorShapeProto__Dimension *d)
{
	if (d->dim_param)
		return symbol_dim(imp, g, d->dim_param);
	if (!d->has_dim_value)
		return DIM_UNKNOWN;
	if (d->dim_value >= 0)
		return d->dim_value;
	note_once(imp, LENIENT_DIMENSION,
	    "a dimension %" PRId64 " is taken as unknown", d->dim_value);
	return DIM_UNKNOWN;
}

static bool
import_tensor_type(struct importer *imp, struct graph *g,
    const Onnx__TypeProto__Tensor *p, struct type *t)
{
	int64_t *dim;

	t->kind = TYPE_TENSOR;
	t->rank = RANK_UNKNOWN;
	if (p->elem_type < 0 || p->elem_type >= NDTYPE)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "element type %" PRId32 " is not known", p->elem_type);
	t->dtype = (enum dtype)p->elem_type;
	if (!p->shape)
		return true;
	if (p->shape->n_dim > RANK_MAX)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "rank %zu is more than %u", p->shape->n_dim, RANK_MAX);
	t->rank = (uint32_t)p->shape->n_dim;
	t->dim = dim = arena_new(imp->a, int64_t, t->rank);
	for (uint32_t i = 0; i < t->rank; i++)
		dim[i] = import_dim(imp, g, p->shape->dim[i]);
	return true;
}

/* What is never looked into goes out as it came in. */
static struct type
opaque_type(struct importer *imp, const Onnx__TypeProto *p)
{
	size_t n = onnx__type_proto__get_packed_size(p);
	char *bytes = arena_new(imp->a, char, n);
	const struct string_view packed = {bytes, n};

	onnx__type_proto__pack(p, (uint8_t *)bytes);
	return (struct type){.kind = TYPE_OPAQUE,
	    .rank = RANK_UNKNOWN,
	    .proto = arena_copy(imp->a, &packed, sizeof packed)};
}

bool
import_type(struct importer *imp, struct graph *g, const Onnx__TypeProto *p,
    struct type *t)
{
	const Onnx__TypeProto *elem = NULL;
	struct type *inner;

	/* sequences and optionals nest; as deep as the pre-pass lets them */
	for (;; p = elem, t = inner) {
		*t = (struct type){.kind = TYPE_UNKNOWN, .rank = RANK_UNKNOWN};
		if (!p)
			return true;
		if (p->tensor_type)
			return import_tensor_type(imp, g, p->tensor_type, t);
		if (!p->sequence_type && !p->optional_type) {
			if (p->sparse_tensor_type || p->map_type
			    || p->opaque_type)
				*t = opaque_type(imp, p);
			return true;
		}
		t->kind = p->sequence_type ? TYPE_SEQUENCE : TYPE_OPTIONAL;
		elem = p->sequence_type ? p->sequence_type->elem_type
		                        : p->optional_type->elem_type;
		t->elem = inner = arena_new(imp->a, struct type, 1);
	}
}

static bool
bind_dtype(struct importer *imp, const char *what, const struct bind_shape *b,
    struct type *t)
{
	if (b->dtype == DT_UNDEFINED)
		return true;
	if (t->kind == TYPE_TENSOR && t->dtype != DT_UNDEFINED
	    && t->dtype != b->dtype)
		return err_set(imp->err, ERR_USAGE,
		    "%s '%s' is %s in the model, %s is given", what, b->value,
		    dtype_name(t->dtype), dtype_name(b->dtype));
	t->dtype = b->dtype;
	return true;
}

static bool
bind_dims(struct importer *imp, const char *what, const struct bind_shape *b,
    struct type *t)
{
	if (t->kind == TYPE_TENSOR && t->rank != RANK_UNKNOWN
	    && t->rank != b->rank)
		return err_set(imp->err, ERR_USAGE,
		    "%s '%s' has %u dimensions, %u are given", what, b->value,
		    t->rank, b->rank);
	for (uint32_t i = 0; t->rank != RANK_UNKNOWN && i < t->rank; i++)
		if (t->dim[i] > 0 && t->dim[i] != b->dim[i])
			return err_set(imp->err, ERR_USAGE,
			    "dimension %u of %s '%s' is %" PRId64
			    " in the model, %" PRId64 " is given",
			    i, what, b->value, t->dim[i], b->dim[i]);
	t->kind = TYPE_TENSOR;
	t->rank = b->rank;
	t->dim = arena_copy(imp->a, b->dim, b->rank * sizeof *b->dim);
	return true;
}

bool
bind_type(
    struct importer *imp, const char *what, const char *name, struct type *t)
{
	const struct bind_shape *b = NULL;

	for (uint32_t i = 0; i < imp->options->nshapes; i++)
		if (strcmp(imp->options->shape[i].value, name) == 0
		    && (!b || b->weak))
			b = &imp->options->shape[i];
	if (!b)
		return true;
	imp->shape_used[b - imp->options->shape] = true;
	if (b->weak && t->kind != TYPE_UNKNOWN && type_is_static(t))
		return true;
	if (t->kind != TYPE_TENSOR && t->kind != TYPE_UNKNOWN)
		return err_set(imp->err, ERR_USAGE,
		    "%s '%s' is no tensor: it cannot be given a shape", what,
		    name);
	return bind_dtype(imp, what, b, t) && bind_dims(imp, what, b, t);
}
