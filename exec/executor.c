#include "exec/executor.h"

#include <assert.h>
#include <string.h>

#include "exec/executor_parts.h"
#include "ir/base/clock.h"
#include "ir/base/common_scratch.h"
#include "ir/base/float_mode.h"
#include "ir/base/huge_blocks.h"
#include "ir/base/huge_pages.h"
#include "ir/base/spare_pages.h"
#include "targets/team.h"
#include "targets/threads.h"

bool
executor_open(struct executor **out, const struct plan *p,
    const struct executor_options *o, struct arena *a, struct err *err)
{
	struct executor *x = arena_new(a, struct executor, 1);
	size_t nslots = (size_t)p->graph->nvalues * MAX_FORMATS;
	bool ok;

	*out = NULL;
	x->plan = p;
	x->arena = a;
	x->keep_all = o && o->keep_all;
	x->keep_inputs = o && o->keep_inputs;
	x->with = o ? o->with : NULL;
	x->of = arena_new(a, uint32_t, nslots);
	memset(x->of, 0xff, nslots * sizeof *x->of);
	x->composite_ns = arena_new(a, cost_ns, p->ncomposites);
	x->conversion_ns = arena_new(a, cost_ns, p->nconversions);
	target_threads_set(o ? o->threads : 1);
	spare_pages_return(); /* those of the search */
	huge_blocks_give(true);
	common_scratch_begin();
	ok = steps_order(x, err) && buffers_find(x, err)
	    && steps_compile(x, err);
	x->scratch = common_scratch_end();
	huge_blocks_give(false);
	if (!ok) {
		executor_close(x);
		return false;
	}
	spare_pages_return(); /* of compiling */
	buffers_lay_out(x);
	looks_find(x);
	huge_pages_take();
	team_denormals_off(); /* the caller's: in each run */
	*out = x;
	return true;
}

static void
copy_in(const struct tensor *in, uint8_t *to)
{
	uint32_t width = dtype_bits(in->dtype) / 8;

	if (in->kind == TENSOR_VIEW) {
		if (in->bytes && in->data != to)
			memcpy(to, in->data, in->bytes);
		return;
	}
	for (size_t i = 0; i < in->count; i++)
		memcpy(to + i * width, in->fill, width);
}

/* A tensor of the type and shape the plan was made for, or of that kind. */
static bool
is_as_planned(const struct tensor *in, const struct type *t)
{
	if (t->kind != TYPE_TENSOR)
		return t->kind == TYPE_OPTIONAL || in->kind == TENSOR_SEQUENCE;
	if (in->dtype != t->dtype || in->rank != t->rank
	    || in->kind > TENSOR_STRINGS)
		return false;
	for (uint32_t k = 0; k < in->rank; k++)
		if (in->dim[k] != t->dim[k])
			return false;
	return true;
}

static bool
load_input(
    struct executor *x, uint32_t i, const struct tensor *in, struct err *err)
{
	const struct graph *g = x->plan->graph;
	const struct value *v = graph_value(g, g->input[i]);

	if (!is_fed(g, g->input[i]))
		return true;
	if (!is_as_planned(in, &v->type))
		return err_set(err, ERR_INPUT,
		    "input '%s' is given another type or shape than the plan "
		    "was made for",
		    v->name);
	if (type_has_size(&v->type))
		copy_in(in, buffer_address(x, g->input[i], FORMAT_PLAIN));
	else
		*(struct tensor *)buffer_address(x, g->input[i], FORMAT_PLAIN) =
		    *in;
	return true;
}

static void
convert(struct exec_step *s)
{
	s->converter.run(
	    &s->converter, s->in[0], s->between ? s->between : s->out[0]);
	if (s->between)
		s->second.run(&s->second, s->between, s->out[0]);
}

/* What a region takes as a whole counts for its first composite. */
static void
run_step(struct executor *x, struct exec_step *s)
{
	cost_ns start = clock_ns();

	if (s->kind == STEP_CONVERSION) {
		convert(s);
		x->conversion_ns[s->index] = clock_ns() - start;
		return;
	}
	s->kernel.run(&s->kernel, s->in, s->out);
	x->composite_ns[s->kind == STEP_REGION ? x->plan->region[s->index].first
	                                       : s->index] = clock_ns() - start;
}

/* A value at an address of the pool. */
static struct tensor
view_at(const struct value *v, const void *at)
{
	if (!type_has_size(&v->type))
		return *(const struct tensor *)at;
	return tensor_view(v->type.dtype, v->type.rank, v->type.dim, at);
}

static void
view_outputs(struct executor *x, struct tensor *out)
{
	const struct graph *g = x->plan->graph;

	for (uint32_t i = 0; i < g->noutputs; i++) {
		const struct value *v = graph_value(g, g->output[i]);

		out[i] = v->constant
		    ? *v->constant
		    : view_at(v, buffer_address(x, g->output[i], FORMAT_PLAIN));
	}
}

bool
executor_run(struct executor *x, const struct tensor *in, struct tensor *out,
    struct err *err)
{
	uint32_t mode;

	for (uint32_t i = 0; i < x->plan->graph->ninputs; i++)
		if (!load_input(x, i, &in[i], err))
			return false;
	x->fault = (struct err){.kind = ERR_NONE};
	mode = float_denormals_off();
	x->small = looks_small(x->look, x->nlooks);
	for (uint32_t i = 0; i < x->nsteps && x->fault.kind == ERR_NONE; i++) {
		run_step(x, &x->step[i]);
		x->small =
		    x->small && looks_small(x->step[i].look, x->step[i].nlooks);
	}
	float_mode_set(mode);
	if (x->fault.kind != ERR_NONE) {
		*err = x->fault;
		return false;
	}
	view_outputs(x, out);
	return true;
}

bool
executor_hold(struct executor *x, struct tensor *in, struct err *err)
{
	const struct graph *g = x->plan->graph;

	assert(x->keep_inputs);
	for (uint32_t i = 0; i < g->ninputs; i++) {
		const struct value *v = graph_value(g, g->input[i]);

		if (!load_input(x, i, &in[i], err))
			return false;
		if (is_fed(g, g->input[i]) && type_has_size(&v->type))
			in[i] = view_at(
			    v, buffer_address(x, g->input[i], FORMAT_PLAIN));
	}
	return true;
}

bool
executor_value(const struct executor *x, value_id v, struct tensor *out)
{
	uint32_t b = x->of[(size_t)v * MAX_FORMATS + FORMAT_PLAIN];

	if (!x->keep_all || b == NO_BUFFER)
		return false;
	*out = view_at(graph_value(x->plan->graph, v), x->buffer[b].at);
	return true;
}

const cost_ns *
executor_composite_ns(const struct executor *x)
{
	return x->composite_ns;
}

const cost_ns *
executor_conversion_ns(const struct executor *x)
{
	return x->conversion_ns;
}

size_t
executor_pool_bytes(const struct executor *x)
{
	return x->pool_bytes;
}

void
executor_close(struct executor *x)
{
	steps_release(x);
	common_scratch_free(&x->scratch);
}
