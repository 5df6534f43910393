#include "search/check.h"

#include <inttypes.h>
#include <string.h>

/* Local formats a value is in, for one run only. */
struct local {
	uint32_t run, formats;
};

struct judge {
	const struct problem *p;
	const struct cover *cover;
	uint32_t *step_of; /* [nnodes] */
	uint32_t *available; /* [nvalues] mask of formats, as steps are taken;
			      * local ones: made in them */
	struct local *local; /* [nvalues] */
	uint64_t *used; /* [ntargets] resource */
	uint32_t *runs; /* [ntargets] */
	uint32_t next; /* conversion */
	uint32_t run_nodes; /* in the current run */
	cost_ns cost;
};

#define PROBLEM(...) err_set(err, ERR_INTERNAL, __VA_ARGS__)

static bool
cover_nodes(struct judge *j, uint32_t i, struct err *err)
{
	uint32_t id = j->cover->step[i].candidate;
	const struct problem_candidate *c;
	uint32_t owner;

	if (id >= j->p->ncandidates)
		return PROBLEM("candidate %" PRIu32 " does not exist", id);
	c = &j->p->candidate[id];
	if (!candidate_allowed(c))
		return PROBLEM("candidate %" PRIu32 " is banned", id);
	if (c->cost == COST_NEVER)
		return PROBLEM("candidate %" PRIu32 " has no cost", id);
	for (uint32_t k = 0; k < c->nnodes; k++) {
		if (j->step_of[c->node[k]] != UINT32_MAX)
			return PROBLEM("node %" PRIu32
			               " is covered by step %" PRIu32 " too",
			    c->node[k], j->step_of[c->node[k]]);
		j->step_of[c->node[k]] = i;
	}
	j->cost = cost_add(j->cost, c->cost);
	owner = target_owner(j->p, c->target);
	j->used[owner] += c->resource;
	if (j->used[owner] < c->resource
	    || j->used[owner] > j->p->target[owner].capacity)
		return PROBLEM(
		    "target %" PRIu32 " is over its capacity", owner);
	return true;
}

static bool
enter_run(struct judge *j, uint32_t i, struct err *err)
{
	const struct cover_step *s = &j->cover->step[i];
	const struct problem_candidate *c = &j->p->candidate[s->candidate];
	const struct problem_target *t = &j->p->target[c->target];
	uint32_t before = i ? s[-1].run : UINT32_MAX;

	if (i && s->run == before) {
		if (c->target != j->p->candidate[s[-1].candidate].target)
			return PROBLEM(
			    "run %" PRIu32 " has two targets", s->run);
		j->run_nodes += c->nnodes;
	} else {
		if (s->run != before + 1)
			return PROBLEM("run %" PRIu32 " follows run %" PRIu32,
			    s->run, before);
		j->run_nodes = c->nnodes;
		j->cost = cost_add(j->cost, t->launch);
		j->runs[c->target]++;
	}
	if (j->run_nodes > t->max_run_nodes)
		return PROBLEM("run %" PRIu32 " has more than %" PRIu32
		               " nodes",
		    s->run, t->max_run_nodes);
	if (j->runs[c->target] > t->max_runs)
		return PROBLEM("target %" PRIu32 " has more than %" PRIu32
		               " runs",
		    c->target, t->max_runs);
	return true;
}

static bool
is_local(const struct judge *j, uint32_t format)
{
	return j->p->local >> format & 1;
}

/* Is the value in the format when this step runs? nsteps: the caller. */
static bool
is_there(const struct judge *j, uint32_t value, uint32_t format, uint32_t step)
{
	const struct local *l = &j->local[value];

	if (!is_local(j, format))
		return j->available[value] >> format & 1;
	return step < j->cover->nsteps && l->run == j->cover->step[step].run
	    && l->formats >> format & 1;
}

/* From now on it is; a local format for the run of this step only. */
static void
make(struct judge *j, uint32_t value, uint32_t format, uint32_t step)
{
	struct local *l = &j->local[value];

	if (!is_local(j, format)) {
		j->available[value] |= UINT32_C(1) << format;
		return;
	}
	if (l->run != j->cover->step[step].run)
		*l = (struct local){j->cover->step[step].run, 0};
	l->formats |= UINT32_C(1) << format;
}

/* Local formats are entered from where that is cheapest, by a step. */
static bool
enters_rightly(
    const struct judge *j, const struct cover_conversion *c, struct err *err)
{
	if (!is_local(j, c->to))
		return true;
	if (c->before == j->cover->nsteps || is_local(j, c->from))
		return PROBLEM(
		    "conversion %" PRIu32
		    " brings a value into a local format for nobody, "
		    "or out of another",
		    j->next);
	for (uint32_t f = 0; f < j->p->nformats; f++)
		if (!is_local(j, f)
		    && conversion_cost(
		           j->p, j->p->value[c->value].class, f, c->to)
		        < c->cost)
			return PROBLEM("conversion %" PRIu32
			               " brings a value in from format %" PRIu32
			               ", and %" PRIu32 " is cheaper",
			    j->next, c->from, f);
	return true;
}

static bool
convert(struct judge *j, uint32_t before, struct err *err)
{
	for (; j->next < j->cover->nconversions; j->next++) {
		const struct cover_conversion *c =
		    &j->cover->conversion[j->next];
		cost_ns cost;

		if (c->before > before)
			return true;
		if (c->before < before || c->value >= j->p->nvalues
		    || c->from >= j->p->nformats || c->to >= j->p->nformats)
			return PROBLEM("conversion %" PRIu32
			               " is out of order or range",
			    j->next);
		if (!(j->available[c->value] >> c->from & 1))
			return PROBLEM("conversion %" PRIu32
			               ": its source is not available",
			    j->next);
		if (is_there(j, c->value, c->to, before))
			return PROBLEM(
			    "conversion %" PRIu32 " is paid twice", j->next);
		if (!enters_rightly(j, c, err))
			return false;
		cost = conversion_cost(
		    j->p, j->p->value[c->value].class, c->from, c->to);
		if (cost == COST_NEVER || cost != c->cost)
			return PROBLEM("conversion %" PRIu32 " costs %" PRIu64
			               ", not %" PRIu64,
			    j->next, cost, c->cost);
		j->cost = cost_add(j->cost, cost);
		make(j, c->value, c->to, before);
	}
	return true;
}

/* Inputs are there, in their formats, and no rule on runs is broken. */
static bool
read_inputs(struct judge *j, uint32_t i, struct err *err)
{
	const struct cover_step *s = &j->cover->step[i];
	const struct problem_candidate *c = &j->p->candidate[s->candidate];

	for (uint32_t k = 0; k < c->ninputs; k++) {
		const struct problem_value *v = &j->p->value[c->input[k].value];
		uint32_t maker, run;

		if (!is_there(j, c->input[k].value, c->input[k].format, i))
			return PROBLEM("value %" PRIu32
			               " is not available in format %" PRIu32,
			    c->input[k].value, c->input[k].format);
		if (v->producer == NO_NODE)
			continue;
		maker = j->step_of[v->producer];
		if (maker >= i)
			return PROBLEM("value %" PRIu32 " is made later",
			    c->input[k].value);
		run = j->cover->step[maker].run;
		if (v->mark && run == s->run)
			return PROBLEM("the mark on value %" PRIu32
			               " is crossed by run %" PRIu32,
			    c->input[k].value, run);
		if (j->p->target[c->target].fed_only && run != s->run)
			return PROBLEM("run %" PRIu32 " reads value %" PRIu32
			               ", which the caller does not feed",
			    s->run, c->input[k].value);
	}
	return true;
}

static bool
take_step(struct judge *j, uint32_t i, struct err *err)
{
	const struct problem_candidate *c;

	if (!cover_nodes(j, i, err) || !enter_run(j, i, err)
	    || !convert(j, i, err) || !read_inputs(j, i, err))
		return false;
	c = &j->p->candidate[j->cover->step[i].candidate];
	for (uint32_t k = 0; k < c->nnodes; k++)
		for (uint32_t m = 0; m < j->p->node[c->node[k]].ninputs; m++) {
			const struct problem_value *v =
			    &j->p->value[j->p->node[c->node[k]].input[m]];

			if (v->mark && v->producer != NO_NODE
			    && j->step_of[v->producer] == i)
				return PROBLEM("a mark is inside");
		}
	for (uint32_t k = 0; k < c->noutputs; k++) {
		make(j, c->output[k].value, c->output[k].format, i);
		j->available[c->output[k].value] |= UINT32_C(1)
		    << c->output[k].format;
	}
	return true;
}

static bool
finish(struct judge *j, struct err *err)
{
	if (!convert(j, j->cover->nsteps, err))
		return false;
	if (j->next != j->cover->nconversions)
		return PROBLEM(
		    "conversion %" PRIu32 " comes too late", j->next);
	for (uint32_t n = 0; n < j->p->nnodes; n++)
		if (j->step_of[n] == UINT32_MAX)
			return PROBLEM("node %" PRIu32 " is not covered", n);
	for (uint32_t v = 0; v < j->p->nvalues; v++)
		if (j->p->value[v].required & ~j->available[v])
			return PROBLEM("value %" PRIu32
			               " is not given back as asked for",
			    v);
	if (j->cost != j->cover->cost)
		return PROBLEM(
		    "costs %" PRIu64 ", not %" PRIu64, j->cost, j->cover->cost);
	return true;
}

bool
cover_check(const struct cover *c, const struct problem *p,
    struct arena *scratch, struct err *err)
{
	struct arena_mark mark = arena_mark(scratch);
	struct judge j = {.p = p, .cover = c};
	bool ok = true;

	j.step_of = arena_new(scratch, uint32_t, p->nnodes);
	memset(j.step_of, 0xff, p->nnodes * sizeof *j.step_of);
	j.available = arena_new(scratch, uint32_t, p->nvalues);
	j.local = arena_new(scratch, struct local, p->nvalues);
	j.used = arena_new(scratch, uint64_t, p->ntargets);
	j.runs = arena_new(scratch, uint32_t, p->ntargets);
	for (uint32_t v = 0; v < p->nvalues; v++)
		j.available[v] = p->value[v].initial;
	for (uint32_t i = 0; ok && i < c->nsteps; i++)
		ok = take_step(&j, i, err) || err_in(err, "step %" PRIu32, i);
	ok = ok && finish(&j, err);
	arena_back(scratch, mark);
	return ok || err_in(err, "cover check");
}
