/* Floats quantised by their own range, and NaN that becomes a number. */
#include <math.h>
#include <string.h>

#include "targets/host/quantize.h"
#include "targets/native/native.h"
#include "targets/need.h"

#define NEED why_need

uint32_t
ways_one(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m;
	(void)f;
	(void)max;
	out[0] = (struct implementation){.name = "plain"};
	return 1;
}

/* ---- DynamicQuantizeLinear ---- */

struct quantize_kernel {
	const struct native_version *version;
	size_t count;
	int32_t byte, scale, zero; /* outputs; < 0: nobody reads it */
};

bool
accept_quantize(const struct match_in *m, struct why *why)
{
	const value_id x = matched_root(m)->input[0];

	return need_tensor(m, why, x) && need_size(m, why, x);
}

static int32_t
output_of(const struct candidate *c, const struct node *n, uint32_t i)
{
	for (uint32_t k = 0; k < c->noutputs; k++)
		if (i < n->noutputs && c->output[k].value == n->output[i])
			return (int32_t)k;
	return -1;
}

static void
quantize(const struct quantize_kernel *k, const struct byte_steps *s,
    const float *x, uint8_t *to)
{
	const struct byte_code code = {s->step, (float)s->zero, true};

	if (isfinite(s->zero) && s->step > 0 && isfinite(s->step)) {
		k->version->quantize(to, x, k->count, &code);
		return;
	}
	for (size_t i = 0; i < k->count; i++)
		to[i] = (uint8_t)byte_code(*s, x[i]);
}

static void
run_quantize(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct quantize_kernel *k = kernel->state;
	float low = 0, high = 0;
	struct byte_steps s;
	uint8_t zero;

	k->version->range(in[0], k->count, &low, &high);
	s = byte_steps_between(low, high);
	if (k->byte >= 0)
		quantize(k, &s, in[0], out[k->byte]);
	if (k->scale >= 0)
		memcpy(out[k->scale], &s.step, sizeof s.step);
	zero = isfinite(s.zero) ? (uint8_t)s.zero : 0;
	if (k->zero >= 0)
		memcpy(out[k->zero], &zero, 1);
}

bool
compile_quantize(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct node *n = graph_node(g, c->match->root);
	struct quantize_kernel *k = arena_new(a, struct quantize_kernel, 1);

	(void)err;
	*k = (struct quantize_kernel){
	    .version = native_version_of(t),
	    .count = type_elements(&graph_value(g, n->input[0])->type, 0),
	    .byte = output_of(c, n, 0),
	    .scale = output_of(c, n, 1),
	    .zero = output_of(c, n, 2),
	};
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_quantize, .state = k};
	return true;
}

/* ---- a number where NaN is ---- */

struct number_kernel {
	floats_number_run *run;
	size_t count;
	float instead;
};

bool
accept_number(const struct match_in *m, struct why *why)
{
	const value_id x = match_value(m->match, "x");
	const value_id instead = match_value(m->match, "instead");
	const struct tensor *t = graph_value(m->graph, instead)->constant;

	return need_tensor(m, why, x) && need_size(m, why, x)
	    && NEED(why,
	        t && t->count == 1 && t->dtype == DT_FLOAT
	            && same_shape(matched_type(m, x),
	                matched_type(m, matched_root(m)->output[0])),
	        "number", "one constant float", "another tensor");
}

static void
run_number(struct kernel *kernel, const void *const *in, void *const *out)
{
	const struct number_kernel *k = kernel->state;

	k->run(out[0], in[0], k->count, k->instead);
}

bool
compile_number(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct number_kernel *k = arena_new(a, struct number_kernel, 1);
	const value_id instead = match_value(c->match, "instead");

	(void)err;
	k->run = native_version_of(t)->number;
	k->count =
	    type_elements(&graph_value(g, match_value(c->match, "x"))->type, 0);
	k->instead = (float)tensor_real(graph_value(g, instead)->constant, 0);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_number, .state = k};
	return true;
}
