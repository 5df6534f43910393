#include "ir/onnx_check.h"

#include <inttypes.h>
#include <string.h>

/* The arity of an operator, over all its versions. */
static bool
check_arity(struct importer *imp, const struct node *n)
{
	const struct op_info *op = op_get(n->op);

	if (n->ninputs > op->max_inputs)
		return err_set(imp->err, ERR_INPUT,
		    "%u inputs, %s takes at most %u", n->ninputs, op->type,
		    op->max_inputs);
	if (n->noutputs > op->max_outputs)
		return err_set(imp->err, ERR_INPUT,
		    "%u outputs, %s has at most %u", n->noutputs, op->type,
		    op->max_outputs);
	for (uint32_t i = 0; i < op->min_inputs; i++)
		if (i >= n->ninputs
		    || (n->input[i] == VALUE_NONE && n->op != OP_SCAN))
			return err_set(imp->err, ERR_INPUT,
			    "input %u is missing, %s needs %u", i, op->type,
			    op->min_inputs);
	for (uint32_t i = 0; i < op->min_outputs; i++)
		if (i >= n->noutputs || n->output[i] == VALUE_NONE)
			return err_set(imp->err, ERR_INPUT,
			    "output %u is missing, %s has %u", i, op->type,
			    op->min_outputs);
	return true;
}

static bool
is_stray(const char *type)
{
	static const char *const stray[] = {
#define STRAY(type) type,
#include "ir/stray.def"
#undef STRAY
	};

	for (size_t i = 0; i < sizeof stray / sizeof stray[0]; i++)
		if (strcmp(stray[i], type) == 0)
			return true;
	return false;
}

bool
check_operator(
    struct importer *imp, const struct opsets *opsets, struct node *n)
{
	n->opset = opsets_version(opsets, n->domain);
	if (n->domain[0]) {
		if (n->opset == 0) {
			notes_add(&imp->model->notes,
			    "domain '%s' of operator %s is not imported; "
			    "version 1 taken",
			    n->domain, n->op_type);
			n->opset = 1;
		}
		n->op = OP_CUSTOM;
		return true;
	}
	if (n->opset == 0)
		return err_set(imp->err, ERR_INPUT,
		    "operator %s is of the default domain, which is not "
		    "imported",
		    n->op_type);
	n->op = op_find(n->op_type, strlen(n->op_type));
	if (n->op != OP_CUSTOM)
		return true;
	if (!is_stray(n->op_type))
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "no operator %s in domain ai.onnx, version %u", n->op_type,
		    n->opset);
	notes_add(&imp->model->notes,
	    "operator %s is in no version of domain ai.onnx; carried along "
	    "unknown",
	    n->op_type);
	return true;
}

bool
check_node(struct importer *imp, const struct graph *g, const struct node *n)
{
	(void)g;
	if (n->op == OP_CUSTOM)
		return true;
	return check_arity(imp, n);
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
