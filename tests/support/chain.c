#include "tests/support/chain.h"

static void
add_node(struct problem *p, uint32_t i, struct arena *a)
{
	const uint32_t in = i, out = i + 1;

	p->node[i] = (struct problem_node){.ninputs = 1,
	    .noutputs = 1,
	    .input = arena_copy(a, &in, sizeof in),
	    .output = arena_copy(a, &out, sizeof out)};
}

struct problem *
chain_empty(uint32_t n, const char *const *name, uint32_t ntargets,
    uint32_t ncandidates, struct arena *a)
{
	struct problem *p = arena_new(a, struct problem, 1);

	*p = (struct problem){.nnodes = n,
	    .nvalues = n + 1,
	    .ntargets = ntargets,
	    .nformats = 1,
	    .nclasses = 1};
	p->node = arena_new(a, struct problem_node, n);
	p->value = arena_new(a, struct problem_value, n + 1);
	p->target = arena_new(a, struct problem_target, ntargets);
	p->conversion = arena_new(a, cost_ns, 1);
	p->candidate = arena_new(a, struct problem_candidate, ncandidates);
	for (uint32_t t = 0; t < ntargets; t++)
		p->target[t] = (struct problem_target){.name = name[t],
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
	for (uint32_t v = 0; v <= n; v++)
		p->value[v] =
		    (struct problem_value){.producer = v ? v - 1 : NO_NODE,
		        .initial = v == 0,
		        .required = v == n};
	for (uint32_t i = 0; i < n; i++)
		add_node(p, i, a);
	return p;
}

void
chain_add(struct problem *p, uint32_t target, uint32_t from, uint32_t to,
    cost_ns cost, struct arena *a)
{
	const struct problem_port in = {from, 0}, out = {to, 0};
	uint32_t *node = arena_new(a, uint32_t, to - from);

	for (uint32_t i = from; i < to; i++)
		node[i - from] = i;
	p->candidate[p->ncandidates] =
	    (struct problem_candidate){.target = target,
	        .cost = cost,
	        .class = p->ncandidates,
	        .nnodes = to - from,
	        .ninputs = 1,
	        .noutputs = 1,
	        .node = node,
	        .input = arena_copy(a, &in, sizeof in),
	        .output = arena_copy(a, &out, sizeof out)};
	p->ncandidates++;
}

cost_ns
chain_cost(const struct plan *plan, const struct problem *truth)
{
	cost_ns sum = 0;

	for (uint32_t i = 0; i < plan->ncomposites; i++)
		sum += truth->candidate[plan->composite[i].candidate].cost;
	return sum;
}

double
noise(struct rng *r)
{
	double x = -6;

	for (int i = 0; i < 12; i++)
		x += rng_below(r, 1000000) / 1e6;
	return x;
}

cost_ns
noisy(cost_ns ns, double percent, struct rng *r)
{
	return (cost_ns)((double)ns * (1 + percent / 100 * noise(r)));
}

void
dress_noisy(struct dressed *d, struct rng *r)
{
	dress_known(d);
	for (uint32_t c = 0; c < d->candidates.n; c++) {
		struct price *x = prices_candidate(&d->prices, c);

		x->ns = x->bound = noisy(x->ns, PRICE_NOISE, r);
	}
}
