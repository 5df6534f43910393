#include "search/problem_index.h"
#include "tests/conformance/collage/trial.h"

#include <math.h>
#include <string.h>

#include "tests/conformance/collage/cost.h"
#include "tests/conformance/collage/rules.h"
#include "tests/conformance/collage/structure.h"

#define SCALE 1e6 /* the cases' cost unit in ours */

/* What a backend offers. whole: regions of any depth, priced as wholes. */
static void
backend_sets(
    const struct dag *d, const cJSON *backend, bool whole, struct sets *s)
{
	static const struct rules arbitrary = {
	    .pair = {{FUSABLE, FUSABLE}}, .npairs = 1};
	const char *style = text_of(backend, "fusion_style");
	uint32_t cap =
	    (uint32_t)cJSON_GetNumberValue(get(backend, "max_depth"));
	struct limits l = {whole ? 0 : cap, 1, false};
	struct rules r = {0};
	const cJSON *item;

	s->n = 0;
	if (strcmp(text_of(backend, "rule"), "fuse-by-kind") == 0) {
		seed_by_kind(d, s);
		r = rules_native_like;
	} else {
		cJSON_ArrayForEach(item, get(backend, "patterns"))
		    seed_by_pattern(d, item, s);
		if (strcmp(style, "arbitrary") == 0)
			r = arbitrary;
		if (strcmp(style, "native-like") == 0) {
			r = rules_native_like;
			r.tuple_arg = r.tuple_proj = false;
		}
	}
	r.max_depth = whole ? 0 : cap;
	rules_combine(d, s, &r, false);
	sets_filter(d, s, &l);
}

static void
build_graph(struct trial *t)
{
	const struct dag *d = t->d;
	struct problem *p = &t->problem;

	p->nnodes = d->n;
	p->nvalues = d->n + d->ninputs;
	p->node = arena_new(&t->arena, struct problem_node, d->n);
	p->value = arena_new(&t->arena, struct problem_value, p->nvalues);
	for (uint32_t i = 0; i < d->ninputs; i++)
		p->value[d->n + i] = (struct problem_value){
		    .producer = NO_NODE, .class = NO_CLASS, .initial = 1};
	for (uint32_t i = 0; i < d->n; i++) {
		uint32_t *in = arena_new(&t->arena, uint32_t, 2 * NODES_MAX);
		uint32_t *out = arena_new(&t->arena, uint32_t, 1), n = 0;

		for (uint32_t k = 0; k < d->n; k++)
			if (d->in[i] & bit(k))
				in[n++] = k;
		for (uint32_t k = 0; k < d->ninputs; k++)
			if (d->reads[i] & bit(k))
				in[n++] = d->n + k;
		out[0] = i;
		p->node[i] = (struct problem_node){n, 1, in, out, NULL};
		p->value[i] = (struct problem_value){.producer = i,
		    .class = NO_CLASS,
		    .required = d->asked >> i & 1};
	}
}

void
trial_add(struct trial *t, uint32_t target, set s, double cost)
{
	const struct dag *d = t->d;
	struct problem_candidate *c =
	    &t->problem.candidate[t->problem.ncandidates++];
	uint32_t *node = arena_new(&t->arena, uint32_t, NODES_MAX);
	struct problem_port *in =
	    arena_new(&t->arena, struct problem_port, 2 * NODES_MAX);
	struct problem_port *out =
	    arena_new(&t->arena, struct problem_port, NODES_MAX);
	set from = 0, fed = 0;

	*c = (struct problem_candidate){.target = target,
	    .cost =
	        isfinite(cost) ? (cost_ns)llround(cost * SCALE) : COST_NEVER,
	    .node = node,
	    .input = in,
	    .output = out};
	for (uint32_t i = 0; i < d->n; i++) {
		if (!(s & bit(i)))
			continue;
		node[c->nnodes++] = i;
		from |= d->in[i] & ~s;
		fed |= d->reads[i];
		if (set_exits(d, s) & bit(i))
			out[c->noutputs++] = (struct problem_port){i, 0};
	}
	for (uint32_t i = 0; i < d->n; i++)
		if (from & bit(i))
			in[c->ninputs++] = (struct problem_port){i, 0};
	for (uint32_t i = 0; i < d->ninputs; i++)
		if (fed & bit(i))
			in[c->ninputs++] = (struct problem_port){d->n + i, 0};
}

/* Offers of all backends at prices of the model, and the host's for free. A
 * backend's depth holds for what it offers; regions are deeper only where their
 * price as wholes is on record. */
void
trial_build(struct trial *t, const cJSON *test, bool whole)
{
	struct problem *p = &t->problem;
	static struct sets s;
	const cJSON *item;

	whole = whole && cost_is_tabled(get(test, "cost_model"));
	build_graph(t);
	p->nformats = 1;
	p->target = arena_new(&t->arena, struct problem_target, 9);
	p->candidate = arena_new(&t->arena, struct problem_candidate, SETS_MAX);
	cJSON_ArrayForEach(item, get(test, "backends"))
	{
		const char *name = text_of(item, "id");

		if (t->nbackends == 8)
			break;
		backend_sets(t->d, item, whole, &s);
		for (uint32_t i = 0; i < s.n && t->noffers < SETS_MAX - 64;
		     i++) {
			t->offer[t->noffers++] =
			    (struct offer){t->nbackends, s.of[i]};
			trial_add(t, t->nbackends, s.of[i],
			    cost_on_backend(
			        t->d, get(test, "cost_model"), name, s.of[i]));
		}
		t->backend[t->nbackends++] = name;
	}
	for (uint32_t i = 0; i < t->d->n; i++)
		if ((t->d->structural | t->d->constants) & bit(i)) {
			t->offer[t->noffers++] =
			    (struct offer){t->nbackends, bit(i)};
			trial_add(t, t->nbackends, bit(i), 0);
		}
	p->ntargets = t->nbackends + 1;
	for (uint32_t i = 0; i < p->ntargets; i++)
		p->target[i] = (struct problem_target){
		    .name = i < t->nbackends ? t->backend[i] : "host",
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
}

/* Distinct kernels whose price had to be asked for: the model gives bounds for
 * all, so only what lies on a cheapest plan is asked, once per structure. */
static void
count_measured(struct trial *t)
{
	const struct cover *c = &t->result.cover;

	for (uint32_t i = 0; i < c->nsteps; i++) {
		const struct offer *x = &t->offer[c->step[i].candidate];
		bool again = x->backend == t->nbackends;

		for (uint32_t k = 0; k < i; k++) {
			const struct offer *y = &t->offer[c->step[k].candidate];

			again |= x->backend == y->backend
			    && sets_are_alike(t->d, x->nodes, y->nodes);
		}
		t->nmeasured += !again;
	}
}

bool
trial_solve(struct trial *t)
{
	struct search_options o = {0};
	struct search_result brute;
	struct err err = {0};

	if (!problem_index(&t->problem, &t->arena, &err)
	    || !search_exact(&t->result, &t->problem, &o, &t->arena, &err))
		return COMPLAIN("%s", err.text);
	if (!t->result.found || !t->result.proven)
		return COMPLAIN("no proven cover");
	if (t->problem.nnodes <= 5
	    && (!search_exhaustive(&brute, &t->problem, &o, &t->arena, &err)
	        || brute.cover.cost != t->result.cover.cost))
		return COMPLAIN("brute force finds another optimum");
	count_measured(t);
	return true;
}

bool
trial_check_total(const struct trial *t, const cJSON *want)
{
	double got = (double)t->result.cover.cost / SCALE;

	if (cJSON_IsNumber(want) && fabs(got - want->valuedouble) > 1e-5)
		return COMPLAIN("total %g, not %g", got, want->valuedouble);
	return true;
}
