#include "costmodel/trial.h"

#include <math.h>

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

static bool
open_input(struct trial *t, uint32_t i, struct arena *a, struct err *err)
{
	const struct port *p = &t->candidate->input[i];
	const struct type *type = &graph_value(t->graph, p->value)->type;
	const struct format *f = t->mix->formats.format;
	void *plain, *data;
	struct converter c;

	if (!need_static(t->graph, p, err))
		return false;
	t->in_bytes[i] = format_place_bytes(f[p->format], type);
	if (!type_has_size(type)) {
		struct tensor *texts = arena_new(a, struct tensor, 1);

		t->in[i] = texts;
		return seed_tensor(texts, t->graph, p->value, 0, a);
	}
	plain = data = seed_buffer(a, format_bytes(f[FORMAT_PLAIN], type));
	seed_value(t->graph, p->value, plain);
	if (p->format != FORMAT_PLAIN) {
		data = seed_buffer(a, t->in_bytes[i]);
		if (!converter_new(&c,
		        &(struct format_change){f[FORMAT_PLAIN], f[p->format],
		            type, format_quant(&t->mix->formats, p->value)},
		        a, err))
			return false;
		c.run(&c, plain, data);
		if (c.release)
			c.release(&c);
	}
	t->in[i] = data;
	return true;
}

bool
trial_fill(struct trial *t, const struct graph *g, const struct mix *m,
    const struct candidate *c, struct arena *a, struct err *err)
{
	*t = (struct trial){.graph = g, .mix = m, .candidate = c};
	t->in = arena_new(a, const void *, c->ninputs);
	t->in_bytes = arena_new(a, size_t, c->ninputs);
	t->out = arena_new(a, void *, c->noutputs);
	t->out_bytes = arena_new(a, size_t, c->noutputs);
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!open_input(t, i, a, err))
			return false;
	for (uint32_t i = 0; i < c->noutputs; i++) {
		const struct port *p = &c->output[i];

		if (!need_static(g, p, err))
			return false;
		t->out_bytes[i] =
		    format_place_bytes(m->formats.format[p->format],
		        &graph_value(g, p->value)->type);
		t->out[i] = seed_buffer(a, t->out_bytes[i]);
	}
	return true;
}

bool
trial_open(struct trial *t, const struct graph *g, const struct mix *m,
    const struct candidate *c, struct arena *a, struct err *err)
{
	const struct target *target = &m->target[c->target];

	if (!trial_fill(t, g, m, c, a, err))
		return false;
	if (!target->kind->compile)
		return err_set(err, ERR_UNSUPPORTED,
		    "target '%s' has prices and no kernels", target->text);
	return target_compile(target, g, c, a, &t->kernel, err);
}

void
trial_run(struct trial *t)
{
	t->kernel.run(&t->kernel, t->in, t->out);
}

void
trial_share(struct trial *t)
{
	const struct kernel *k = &t->kernel;

	if (k->in_place)
		t->in[k->in_place - 1] = t->out[0];
	for (uint32_t i = 0; i < k->noverlays; i++) {
		const struct overlay *o = &k->overlay[i];
		union {
			const void *in;
			uint8_t *out;
		} at = {.in = t->in[o->in]};

		if (t->in_bytes[o->in] > t->out_bytes[o->out])
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
