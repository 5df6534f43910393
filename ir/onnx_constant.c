/* Constant nodes: eight ways to write a tensor. */
#include <string.h>

#include "ir/onnx_check.h"
#include "ir/onnx_import.h"

bool
check_is_constant(const Onnx__NodeProto *p)
{
	return p->op_type && strcmp(p->op_type, "Constant") == 0
	    && !domain_name(p->domain)[0];
}

/* A scalar or vector over an attribute's own array. */
static void
list_tensor(struct importer *imp, const struct attr *a, enum dtype dtype,
    struct tensor *t)
{
	bool is_list = a->kind == ATTR_FLOATS || a->kind == ATTR_INTS
	    || a->kind == ATTR_STRINGS;
	int64_t *dim = arena_new(imp->a, int64_t, 1);

	dim[0] = a->n;
	*t = tensor_view(dtype, is_list ? 1 : 0, dim,
	    dtype == DT_FLOAT ? (const void *)a->floats
	                      : (const void *)a->ints);
	if (dtype == DT_STRING) {
		t->kind = TENSOR_STRINGS;
		t->string = a->strings;
	}
}

static bool
from_attr(struct importer *imp, const struct attr *a, struct tensor *t)
{
	static const struct {
		const char *name;
		enum attr_kind kind;
		enum dtype dtype;
	} form[] = {
	    {"value", ATTR_TENSOR, DT_UNDEFINED},
	    {"sparse_value", ATTR_SPARSE, DT_UNDEFINED},
	    {"value_float", ATTR_FLOAT, DT_FLOAT},
	    {"value_floats", ATTR_FLOATS, DT_FLOAT},
	    {"value_int", ATTR_INT, DT_INT64},
	    {"value_ints", ATTR_INTS, DT_INT64},
	    {"value_string", ATTR_STRING, DT_STRING},
	    {"value_strings", ATTR_STRINGS, DT_STRING},
	};

	/* some files call a sparse value just "value" */
	if (strcmp(a->name, "value") == 0 && a->kind == ATTR_SPARSE) {
		*t = a->tensors[0];
		return true;
	}
	for (size_t i = 0; i < sizeof form / sizeof form[0]; i++) {
		if (strcmp(a->name, form[i].name) != 0)
			continue;
		if (a->kind != form[i].kind)
			return err_set(imp->err, ERR_INPUT,
			    "attribute '%s' has the wrong type", a->name);
		if (form[i].dtype == DT_UNDEFINED)
			*t = a->tensors[0];
		else
			list_tensor(imp, a, form[i].dtype, t);
		return true;
	}
	return err_set(
	    imp->err, ERR_INPUT, "a Constant has no attribute '%s'", a->name);
}

bool
import_constant(struct importer *imp, struct scope *s, const Onnx__NodeProto *p,
    const struct tensor **out)
{
	struct tensor *t = arena_new(imp->a, struct tensor, 1);
	struct node n = {.nattrs = 0};
	struct owner owner = {.n = 0};

	map_init(&owner.slot, imp->a); /* of graphs, before they are refused */
	if (p->n_input)
		return err_set(imp->err, ERR_INPUT, "a Constant has no inputs");
	if (!import_attrs(imp, s, p, &owner, &n))
		return false;
	if (n.nattrs != 1)
		return err_set(imp->err, ERR_INPUT,
		    "a Constant has one value, not %u", n.nattrs);
	*out = t;
	return from_attr(imp, &n.attr[0], t);
}
