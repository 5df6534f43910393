/* Where values lie while a plan runs: lifetimes, one pool, addresses. */
#include <assert.h>
#include <string.h>

#include "exec/executor_parts.h"
#include "exec/share.h"

static uint32_t *
buffer_slot(const struct executor *x, value_id v, format_id f)
{
	return &x->of[(size_t)v * MAX_FORMATS + f];
}

static uint32_t
buffer_of(const struct executor *x, const struct port *p)
{
	return *buffer_slot(x, p->value, p->format);
}

/* The shapes of what is fed must be known, and what has a size must fit. */
static bool
can_lie(struct executor *x, value_id v, struct err *err)
{
	const struct graph *g = x->plan->graph;
	const struct value *value = graph_value(g, v);
	const struct type *t = &value->type;
	size_t n, bytes;

	if (value->producer == NODE_NONE && t->kind == TYPE_TENSOR
	    && !type_is_static(t))
		return err_set(err, ERR_UNSUPPORTED,
		    "cannot execute: input '%s' has a dynamic shape (bind it "
		    "with --dim or --shape)",
		    value->name);
	if (!type_has_size(t)
	    || tensor_size(t->dtype, t->dim, t->rank, &n, &bytes))
		return true;
	if (value->producer == NODE_NONE)
		return err_set(err, ERR_UNSUPPORTED,
		    "cannot execute: input '%s' is too large", value->name);
	return err_set(err, ERR_UNSUPPORTED,
	    "cannot execute node '%s' (#%u): its output '%s' is too large",
	    node_label(g, value->producer, x->arena), value->producer,
	    value->name);
}

/* A value appears in a format at a time. */
static bool
define(
    struct executor *x, value_id v, format_id f, uint32_t time, struct err *err)
{
	uint32_t *slot = buffer_slot(x, v, f);
	struct buffer *b;

	if (*slot != NO_BUFFER)
		return true;
	if (!can_lie(x, v, err))
		return false;
	x->buffer = arena_grow(x->arena, x->buffer, &x->buffer_cap,
	    x->nbuffers + 1, sizeof *x->buffer);
	*slot = x->nbuffers;
	b = &x->buffer[x->nbuffers++];
	*b = (struct buffer){v, f, {0, time, time, 0}, NULL};
	b->life.bytes = format_place_bytes(x->plan->mix->formats.format[f],
	    &graph_value(x->plan->graph, v)->type);
	return true;
}

/* Somebody reads it at a time. The plan is verified, so it is there. */
static void
use(struct executor *x, value_id v, format_id f, uint32_t time)
{
	uint32_t b = *buffer_slot(x, v, f);

	assert(b != NO_BUFFER);
	if (time > x->buffer[b].life.last)
		x->buffer[b].life.last = time;
}

static bool
note_step(struct executor *x, uint32_t time, const struct exec_step *s,
    struct err *err)
{
	for (uint32_t i = 0; i < s->ninputs; i++)
		use(x, s->input[i].value, s->input[i].format, time);
	for (uint32_t i = 0; i < s->noutputs; i++)
		if (!define(
		        x, s->output[i].value, s->output[i].format, time, err))
			return false;
	return true;
}

bool
is_fed(const struct graph *g, value_id v)
{
	return graph_value(g, v)->producer == NODE_NONE
	    && graph_value(g, v)->constant == NULL;
}

bool
buffers_find(struct executor *x, struct err *err)
{
	const struct graph *g = x->plan->graph;

	for (uint32_t i = 0; i < g->ninputs; i++)
		if (is_fed(g, g->input[i])
		    && !define(x, g->input[i], FORMAT_PLAIN, 0, err))
			return false;
	for (uint32_t i = 0; i < x->nsteps; i++)
		if (!note_step(x, i + 1, &x->step[i], err))
			return false;
	for (uint32_t i = 0; i < g->noutputs; i++)
		if (graph_value(g, g->output[i])->constant == NULL)
			use(x, g->output[i], FORMAT_PLAIN, x->nsteps + 1);
	return true;
}

/* Where pieces may lie where they belong. The order decides between claims. */
static void
lay_overlays(struct executor *x, struct share *s)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct exec_step *step = &x->step[i];
		const struct kernel *k = &step->kernel;
		struct share_claim *claim =
		    arena_new(x->arena, struct share_claim, k->noverlays);

		for (uint32_t o = 0; o < k->noverlays; o++)
			claim[o] = (struct share_claim){
			    buffer_of(x, &step->input[k->overlay[o].in]),
			    buffer_of(x, &step->output[k->overlay[o].out]),
			    k->overlay[o].offset};
		share_lay(s, claim, k->noverlays);
	}
}

/* Is the memory of an input read through another input of the same step? */
static bool
is_read_elsewhere(const struct executor *x, const struct share *s,
    const struct exec_step *step)
{
	const uint32_t in = step->kernel.in_place - 1;
	const uint32_t group = s->member[buffer_of(x, &step->input[in])].group;

	for (uint32_t i = 0; i < step->ninputs; i++)
		if (i != in
		    && s->member[buffer_of(x, &step->input[i])].group == group)
			return true;
	return false;
}

/* A kernel may write its result over an input that nobody needs afterwards. */
static void
share_in_place(struct executor *x, struct share *s)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct exec_step *step = &x->step[i];

		if (step->kernel.in_place == 0 || is_read_elsewhere(x, s, step))
			continue;
		share_write_over(s,
		    buffer_of(x, &step->input[step->kernel.in_place - 1]),
		    buffer_of(x, &step->output[0]), i + 1);
	}
}

static uint32_t
last_use(const struct executor *x, const struct buffer *b)
{
	const bool kept =
	    x->keep_all || (x->keep_inputs && is_fed(x->plan->graph, b->value));

	return kept ? x->nsteps + 1 : b->life.last;
}

/* Which buffers lie in one piece of memory. */
static void
share_buffers(struct executor *x, struct share *s)
{
	share_init(s, x->nbuffers, x->arena);
	for (uint32_t i = 0; i < x->nbuffers; i++) {
		const struct lifetime *l = &x->buffer[i].life;

		s->member[i].bytes = l->bytes;
		s->member[i].first = l->first;
		s->member[i].last = last_use(x, &x->buffer[i]);
	}
	lay_overlays(x, s);
	if (!x->keep_all)
		share_in_place(x, s);
}

static void
lay_out_pool(struct executor *x)
{
	struct lifetime *l = arena_new(x->arena, struct lifetime, x->nbuffers);
	uint32_t *piece = arena_new(x->arena, uint32_t, x->nbuffers), n = 0;
	struct share s;

	share_buffers(x, &s);
	for (uint32_t i = 0; i < x->nbuffers; i++) {
		struct share_member all;

		if (s.member[i].group != i)
			continue;
		all = share_extent(&s, i);
		piece[i] = n;
		l[n++] = (struct lifetime){all.bytes, all.first, all.last, 0};
	}
	x->pool_bytes = memory_lay_out(l, n, x->arena);
	x->pool = arena_alloc(x->arena, x->pool_bytes + 256);
	memset(x->pool, 0, x->pool_bytes); /* touch every page */
	for (uint32_t i = 0; i < x->nbuffers; i++) {
		uint32_t group = s.member[i].group;
		ptrdiff_t at = s.member[i].at - share_extent(&s, group).at;

		x->buffer[i].at = x->pool + l[piece[group]].offset + at;
	}
}

void *
buffer_address(const struct executor *x, value_id v, format_id f)
{
	return x->buffer[*buffer_slot(x, v, f)].at;
}

static void
connect(struct executor *x)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct exec_step *s = &x->step[i];

		s->in = arena_new(x->arena, const void *, s->ninputs);
		s->out = arena_new(x->arena, void *, s->noutputs);
		for (uint32_t k = 0; k < s->ninputs; k++)
			s->in[k] = buffer_address(
			    x, s->input[k].value, s->input[k].format);
		for (uint32_t k = 0; k < s->noutputs; k++)
			s->out[k] = buffer_address(
			    x, s->output[k].value, s->output[k].format);
	}
}

void
buffers_lay_out(struct executor *x)
{
	lay_out_pool(x);
	connect(x);
}
