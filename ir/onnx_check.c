#include "ir/onnx_check.h"

#include <string.h>

#include "ir/schema.h"

/* May an input within the least number be left out by an empty name? Only the
 * trip count and condition of a Loop, and a Scan's sequence lengths. */
static bool
may_be_empty(const struct node *n, uint32_t i)
{
	return (n->op == OP_LOOP && i < 2) || (n->op == OP_SCAN && i == 0);
}

static bool
check_arity(struct importer *imp, const struct node *n)
{
	struct arity a = schema_arity(n->op, n->opset);
	const char *type = n->op_type;
	uint32_t needed;

	if (n->ninputs > a.max_inputs)
		return err_set(imp->err, ERR_INPUT,
		    "%u inputs, %s of opset %u takes at most %u", n->ninputs,
		    type, n->opset, a.max_inputs);
	if (n->noutputs > a.max_outputs)
		return err_set(imp->err, ERR_INPUT,
		    "%u outputs, %s of opset %u has at most %u", n->noutputs,
		    type, n->opset, a.max_outputs);
	needed = arity_needed(a.min_inputs, a.max_inputs, n->ninputs);
	for (uint32_t i = 0; i < needed; i++)
		if (i >= n->ninputs
		    || (n->input[i] == VALUE_NONE && !may_be_empty(n, i)))
			return err_set(imp->err, ERR_INPUT,
			    "input %u is missing, %s of opset %u needs %u", i,
			    type, n->opset, needed);
	for (uint32_t i = 0; i < a.min_outputs; i++)
		if (i >= n->noutputs || n->output[i] == VALUE_NONE)
			return err_set(imp->err, ERR_INPUT,
			    "output %u is missing, %s of opset %u has %u", i,
			    type, n->opset, a.min_outputs);
	return true;
}

/* Attributes that say nothing about what is computed.
 * SOURCE: the checker of ONNX takes names with two underscores as its own. */
static bool
is_leftover(const char *name)
{
	static const char *const stray[] = {
#define STRAY(type)
#define STRAY_ATTR(word) word,
#include "ir/stray.def"
#undef STRAY_ATTR
#undef STRAY
	};

	for (size_t i = 0; i < sizeof stray / sizeof stray[0]; i++)
		if (strcmp(name, stray[i]) == 0)
			return true;
	return strncmp(name, "__", 2) == 0;
}

static const char *
kind_name(enum attr_kind kind)
{
	static const char *const name[] = {"?", "FLOAT", "INT", "STRING",
	    "TENSOR", "GRAPH", "FLOATS", "INTS", "STRINGS", "TENSORS", "GRAPHS",
	    "SPARSE_TENSOR", "SPARSE_TENSORS", "TYPE_PROTO", "TYPE_PROTOS"};

	return name[kind];
}

static bool
check_attr(struct importer *imp, const struct node *n, const struct attr *a)
{
	enum attr_kind kind = ATTR_NONE;
	enum attr_fit fit = schema_attr(n->op, n->opset, a, &kind);

	if (fit == ATTR_FITS)
		return true;
	if (fit == ATTR_MISTYPED)
		return err_set(imp->err, ERR_INPUT,
		    "attribute '%s' is %s, it must be %s", a->name,
		    kind_name(a->kind), kind_name(kind));
	if (fit == ATTR_LATER || is_leftover(a->name)) {
		note_once(imp,
		    fit == ATTR_LATER ? LENIENT_LATER_ATTR : LENIENT_LEFTOVER,
		    "%s of opset %u has no attribute '%s'%s", n->op_type,
		    n->opset, a->name,
		    fit == ATTR_LATER ? ", later ones do; taken as meant" : "");
		return true;
	}
	return err_set(imp->err, ERR_INPUT,
	    "%s of opset %u has no attribute '%s'%s", n->op_type, n->opset,
	    a->name, fit == ATTR_GONE ? " any more" : "");
}

static bool
check_attrs(struct importer *imp, const struct node *n)
{
	const char *missing;

	for (uint32_t i = 0; i < n->nattrs; i++)
		if (!check_attr(imp, n, &n->attr[i]))
			return false;
	missing = schema_missing(n);
	if (missing)
		return err_set(imp->err, ERR_INPUT,
		    "attribute '%s' is missing, %s of opset %u needs it",
		    missing, n->op_type, n->opset);
	return true;
}

static bool
is_stray(const char *type)
{
	static const char *const stray[] = {
#define STRAY(type) type,
#define STRAY_ATTR(word)
#include "ir/stray.def"
#undef STRAY_ATTR
#undef STRAY
	};

	for (size_t i = 0; i < sizeof stray / sizeof stray[0]; i++)
		if (strcmp(stray[i], type) == 0)
			return true;
	return false;
}

/* An operator used outside the versions that have it is taken as meant. */
static bool
note_version(struct importer *imp, const struct node *n)
{
	if (n->opset < schema_since(n->op))
		note_once(imp, LENIENT_VERSION,
		    "operator %s came with opset %u, but %u is imported",
		    n->op_type, schema_since(n->op), n->opset);
	if (n->opset >= schema_deprecated(n->op))
		note_once(imp, LENIENT_VERSION,
		    "operator %s was given up in opset %u, but %u is imported",
		    n->op_type, schema_deprecated(n->op), n->opset);
	return true;
}

bool
check_operator(
    struct importer *imp, const struct opsets *opsets, struct node *n)
{
	n->opset = opsets_version(opsets, n->domain);
	if (n->domain[0]) {
		if (n->opset == 0) {
			note_once(imp, LENIENT_DOMAIN,
			    "domain '%s' of operator %s is not imported; "
			    "version 1 taken",
			    n->domain, n->op_type);
			n->opset = 1;
		}
		n->op = op_find_in(n->domain, n->op_type);
		return true;
	}
	if (n->opset == 0)
		return err_set(imp->err, ERR_INPUT,
		    "operator %s is of the default domain, which is not "
		    "imported",
		    n->op_type);
	n->op = op_find(n->op_type, strlen(n->op_type));
	if (n->op != OP_CUSTOM)
		return note_version(imp, n);
	if (!is_stray(n->op_type) && !imp->options->opaque)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "no operator %s in domain ai.onnx, version %u", n->op_type,
		    n->opset);
	note_once(imp, LENIENT_STRAY,
	    "operator %s is in no version of domain ai.onnx; carried along "
	    "unknown",
	    n->op_type);
	return true;
}

/* Of an operator of another domain; all its attributes may be there. */
static bool
check_count(struct importer *imp, const struct node *n)
{
	const struct op_info *o = op_get(n->op);

	if (n->ninputs >= o->min_inputs && n->ninputs <= o->max_inputs
	    && n->noutputs >= o->min_outputs && n->noutputs <= o->max_outputs)
		return true;
	return err_set(imp->err, ERR_INPUT,
	    "%u inputs and %u outputs are not those of %s", n->ninputs,
	    n->noutputs, n->op_type);
}

bool
check_node(struct importer *imp, const struct node *n)
{
	if (n->op == OP_CUSTOM)
		return true;
	if (n->domain[0]) /* the versions are the default domain's */
		return check_count(imp, n);
	return check_arity(imp, n) && check_attrs(imp, n);
}

bool
check_initializer(
    struct importer *imp, const struct value *input, const struct tensor *t)
{
	const struct type *type = &input->type;

	if (type->kind == TYPE_TENSOR && type->dtype != DT_UNDEFINED
	    && type->dtype != t->dtype)
		return err_set(imp->err, ERR_INPUT,
		    "input '%s' is %s, its initializer is %s", input->name,
		    dtype_name(type->dtype), dtype_name(t->dtype));
	return true;
}
