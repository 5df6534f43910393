#include "costmodel/trial.h"

#include <math.h>
#include <string.h>

#include "costmodel/operands.h"
#include "costmodel/reference.h"
#include "costmodel/seed.h"
#include "costmodel/tolerance.h"
#include "ir/compare.h"
#include "targets/convert.h"
#include "targets/widened.h"

/* ---- comparing ---- */

/* Whole numbers must be equal, but for those that were rounded to steps. */
static double
difference(const struct trial *t, uint32_t o, const struct tensor *got,
    const struct tensor *want, double allowed)
{
	const struct tolerance exact = {.absolute = 0};
	struct comparison c;

	tensors_compare(&c, got, want, &exact);
	if (dtype_is_float(want->dtype)
	    || tolerance_is_in_steps(t->graph, t->candidate, want->dtype))
		return tolerance_difference(t->graph, t->candidate,
		    t->candidate->output[o].value, &c, allowed);
	return c.matches ? 0 : (double)INFINITY;
}

/* Output o of the trial as the caller would see it. */
static bool
plain_output(struct trial *t, uint32_t o, struct tensor *out, struct arena *a,
    struct err *err)
{
	const struct port *p = &t->candidate->output[o];
	const struct type *type = &graph_value(t->graph, p->value)->type;
	const struct format *f = t->mix->formats.format;
	const struct format_change change = {f[p->format], f[FORMAT_PLAIN],
	    type, format_quant(&t->mix->formats, p->value)};
	struct converter c;
	void *data;

	if (!type_has_size(type)) {
		*out = *(const struct tensor *)t->out[o];
		return true;
	}
	if (p->format == FORMAT_PLAIN) {
		*out =
		    tensor_view(type->dtype, type->rank, type->dim, t->out[o]);
		return true;
	}
	data = seed_buffer(a, format_bytes(f[FORMAT_PLAIN], type));
	if (!converter_new(&c, &change, a, err))
		return false;
	c.run(&c, t->out[o], data);
	if (c.release)
		c.release(&c);
	*out = tensor_view(type->dtype, type->rank, type->dim, data);
	return true;
}

bool
trial_check(struct trial *t, struct reference *r, double *error,
    double *allowed, struct arena *a, struct err *err)
{
	const struct candidate *c = t->candidate;
	const struct tensor **want = reference_outputs(r, c, a, err);

	*error = 0;
	*allowed = tolerance_of(t->graph, t->mix, c);
	if (!want)
		return false;
	for (uint32_t o = 0; o < c->noutputs; o++) {
		struct tensor got;
		double d;

		if (!plain_output(t, o, &got, a, err))
			return false;
		d = difference(t, o, &got, want[o], *allowed);
		*error = d > *error ? d : *error;
	}
	return true;
}

/* ---- the candidate ---- */

static bool
need_static(const struct graph *g, const struct port *p, struct err *err)
{
	const struct value *v = graph_value(g, p->value);
	size_t n, bytes;

	if (v->type.kind == TYPE_TENSOR && type_is_static(&v->type)
	    && tensor_size(
	        v->type.dtype, v->type.dim, v->type.rank, &n, &bytes))
		return true;
	return err_set(err, ERR_UNSUPPORTED,
	    "value '%s' has no static shape, so nothing can be run", v->name);
}

/* kept: NULL where inputs are the trial's own. */
static bool
open_input(struct trial *t, uint32_t i, struct kept_operands *kept,
    struct arena *a, struct err *err)
{
	const struct port *p = &t->candidate->input[i];
	const struct type *type = &graph_value(t->graph, p->value)->type;
	const struct format *f = t->mix->formats.format;

	if (!need_static(t->graph, p, err))
		return false;
	t->in_bytes[i] = format_place_bytes(f[p->format], type);
	if (!type_has_size(type)) {
		struct tensor *texts = arena_new(a, struct tensor, 1);

		t->in[i] = texts;
		return seed_tensor(texts, t->graph, p->value, 0, a);
	}
	t->in[i] = kept ? operands_get(kept, t->graph, p, err)
	                : operand_new(t->graph, t->mix, p, a, err);
	return t->in[i] != NULL;
}

static bool
fill(struct trial *t, struct kept_operands *kept, struct arena *a,
    struct err *err)
{
	const struct candidate *c = t->candidate;

	t->in = arena_new(a, const void *, c->ninputs);
	t->in_bytes = arena_new(a, size_t, c->ninputs);
	t->out = arena_new(a, void *, c->noutputs);
	t->out_bytes = arena_new(a, size_t, c->noutputs);
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!open_input(t, i, kept, a, err))
			return false;
	for (uint32_t i = 0; i < c->noutputs; i++) {
		const struct port *p = &c->output[i];

		if (!need_static(t->graph, p, err))
			return false;
		t->out_bytes[i] =
		    format_place_bytes(t->mix->formats.format[p->format],
		        &graph_value(t->graph, p->value)->type);
		t->out[i] = kept ? operands_room(kept, t->out_bytes[i])
		                 : seed_buffer(a, t->out_bytes[i]);
	}
	return true;
}

bool
trial_fill(struct trial *t, const struct graph *g, const struct mix *m,
    const struct candidate *c, struct arena *a, struct err *err)
{
	*t = (struct trial){.graph = g, .mix = m, .candidate = c};
	return fill(t, NULL, a, err);
}

bool
trial_fill_kept(struct trial *t, const struct graph *g,
    struct kept_operands *kept, const struct candidate *c, struct arena *a,
    struct err *err)
{
	*t = (struct trial){.graph = g, .mix = kept->mix, .candidate = c};
	return fill(t, kept, a, err);
}

bool
trial_compile(struct trial *t, struct arena *a, struct err *err)
{
	const struct target *target = &t->mix->target[t->candidate->target];

	if (!target->kind->compile)
		return err_set(err, ERR_UNSUPPORTED,
		    "target '%s' has prices and no kernels", target->text);
	return target_compile(
	    target, t->graph, t->candidate, a, &t->kernel, err);
}

bool
trial_open(struct trial *t, const struct graph *g, const struct mix *m,
    const struct candidate *c, struct arena *a, struct err *err)
{
	return trial_fill(t, g, m, c, a, err) && trial_compile(t, a, err);
}

void
trial_run(struct trial *t)
{
	t->kernel.run(&t->kernel, t->in, t->out);
}

static bool
lies_around(const struct trial *t, const struct overlay *o)
{
	return t->in_bytes[o->in] > t->out_bytes[o->out];
}

/* What outputs will lie in is the trial's own. */
static void
own_input(struct trial *t, uint32_t i, struct arena *a)
{
	void *own;

	for (uint32_t k = 0; k < t->kernel.noverlays; k++) {
		const struct overlay *o = &t->kernel.overlay[k];

		if (o->in != i || !lies_around(t, o))
			continue;
		own = seed_buffer(a, t->in_bytes[i]);
		memcpy(own, t->in[i], t->in_bytes[i]);
		t->in[i] = own;
		return;
	}
}

void
trial_share(struct trial *t, struct arena *a)
{
	const struct kernel *k = &t->kernel;

	if (k->in_place)
		t->in[k->in_place - 1] = t->out[0];
	for (uint32_t i = 0; i < t->candidate->ninputs; i++)
		own_input(t, i, a);
	for (uint32_t i = 0; i < k->noverlays; i++) {
		const struct overlay *o = &k->overlay[i];
		union {
			const void *in;
			uint8_t *out;
		} at = {.in = t->in[o->in]};

		if (lies_around(t, o))
			t->out[o->out] = at.out - o->offset;
		else
			t->in[o->in] = (uint8_t *)t->out[o->out] + o->offset;
	}
}

void
trial_close(struct trial *t)
{
	if (t->kernel.release)
		t->kernel.release(&t->kernel);
	t->kernel = (struct kernel){0};
}
