/* What is looked at in each run so that guards need not look. */
#include <assert.h>

#include "exec/executor_parts.h"
#include "targets/known.h"
#include "targets/look.h"

static const struct candidate *
composite_of(const struct executor *x, const struct exec_step *s)
{
	return s->kind == STEP_COMPOSITE ? plan_candidate(x->plan, s->index)
	                                 : NULL;
}

static const struct candidate *
known_composite(const struct executor *x, const struct exec_step *s)
{
	const struct candidate *c = composite_of(x, s);

	return c && c->known ? c : NULL;
}

/* Values whose smallness known composites rest on. */
static struct bitset
needed_values(const struct executor *x)
{
	const struct graph *g = x->plan->graph;
	struct bitset needed = bitset_new(x->arena, g->nvalues);

	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct candidate *c = known_composite(x, &x->step[i]);

		for (uint32_t k = 0; c && k < c->ninputs; k++)
			bitset_add(needed, c->input[k].value);
	}
	known_needs(g, needed);
	return needed;
}

static bool
are_floats(const struct executor *x, format_id f)
{
	const enum dtype d = x->plan->mix->formats.format[f].dtype;

	return d == DT_UNDEFINED || d == DT_FLOAT;
}

static struct look
look_at(const struct executor *x, value_id v, format_id f, const void *at)
{
	const struct type *t = &graph_value(x->plan->graph, v)->type;

	return (struct look){at,
	    format_bytes(x->plan->mix->formats.format[f], t) / sizeof(float),
	    KNOWN_POWER};
}

/* A step looks at an output of its own, once. */
static struct look *
look_behind(struct executor *x, struct exec_step *s, uint32_t output)
{
	if (!s->look)
		s->look = arena_new(x->arena, struct look, s->noutputs);
	for (uint32_t i = 0; i < s->nlooks; i++)
		if (s->look[i].at == s->out[output])
			return &s->look[i];
	assert(s->nlooks < s->noutputs);
	s->look[s->nlooks] = look_at(x, s->output[output].value,
	    s->output[output].format, s->out[output]);
	return &s->look[s->nlooks++];
}

/* The step that makes a value looks; false: it is never there as a whole, in floats. */
static bool
look_where_made(struct executor *x, value_id v)
{
	for (uint32_t i = 0; i < x->nsteps; i++) {
		struct exec_step *s = &x->step[i];
		const uint32_t k = ports_find(s->output, s->noutputs, v);

		if (s->kind == STEP_CONVERSION || k == UINT32_MAX
		    || !are_floats(x, s->output[k].format))
			continue;
		look_behind(x, s, k);
		return true;
	}
	return false;
}

/* All outputs of a step of which something is known: each has to be below that. */
static bool
look_at_outputs(struct executor *x, struct exec_step *s)
{
	for (uint32_t k = 0; k < s->noutputs; k++) {
		const struct value *v =
		    graph_value(x->plan->graph, s->output[k].value);
		struct look *look;

		if (v->below == 0)
			continue;
		if (!are_floats(x, s->output[k].format))
			return false;
		look = look_behind(x, s, k);
		if (v->below < KNOWN_POWER)
			look->power = (int)v->below;
	}
	return true;
}

/* What rests on a value inside of composites rests on what these make of it. */
static bool
look_beyond(struct executor *x, value_id v)
{
	const node_id producer = graph_value(x->plan->graph, v)->producer;
	bool found = false;

	for (uint32_t i = 0; i < x->nsteps; i++) {
		const struct candidate *c = composite_of(x, &x->step[i]);

		if (!c || !c->match || !match_has(c->match, producer))
			continue;
		if (!look_at_outputs(x, &x->step[i]))
			return false;
		found = true;
	}
	return found;
}

static bool
find_looks(struct executor *x, struct bitset needed)
{
	const struct graph *g = x->plan->graph;
	bool ok = true;

	x->look = arena_new(x->arena, struct look, g->ninputs);
	for (value_id v = 0; v < g->nvalues; v++) {
		if (!bitset_has(needed, v) || !graph_value(g, v)->looked_at)
			continue;
		if (is_fed(g, v))
			x->look[x->nlooks++] = look_at(x, v, FORMAT_PLAIN,
			    buffer_address(x, v, FORMAT_PLAIN));
		else
			ok = (look_where_made(x, v) || look_beyond(x, v)) && ok;
	}
	return ok;
}

void
looks_find(struct executor *x)
{
	const bool all = find_looks(x, needed_values(x));

	for (uint32_t i = 0; all && i < x->nsteps; i++)
		if (known_composite(x, &x->step[i]))
			x->step[i].kernel.small = &x->small;
}

bool
looks_small(const struct look *look, uint32_t n)
{
	bool small = true;

	for (uint32_t i = 0; small && i < n; i++)
		small =
		    look_at_all(look[i].power, DT_FLOAT, look[i].at, look[i].n);
	return small;
}
