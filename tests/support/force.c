#include "tests/support/force.h"

#include "plan/solve.h"

/* Does its library build the candidate? */
static bool
builds(const struct force *f, const struct candidate *c)
{
	const struct target *t = &f->mix.target[c->target];
	struct err err = {.kind = ERR_NONE};
	struct kernel k = {.run = NULL};
	struct arena scratch;
	bool ok = true;

	arena_init(&scratch);
	if (t->kind->compile)
		ok = t->kind->compile(t, f->graph, c, &scratch, &k, &err);
	if (ok && k.release)
		k.release(&k);
	arena_release(&scratch);
	return ok;
}

static void
make_tables(struct force *f)
{
	const uint32_t n = MAX_FORMATS;

	f->prices =
	    (struct prices){.nkeys = f->found.n, .nclasses = 1, .nformats = n};
	f->prices.candidate = arena_new(f->arena, struct price, f->found.n);
	f->prices.conversion =
	    arena_new(f->arena, struct conversion_price, (size_t)n * n);
	f->prices.launch = arena_new(f->arena, struct price, f->mix.n);
	f->prices.value_class =
	    arena_new(f->arena, uint32_t, f->graph->nvalues);
}

bool
force_open(struct force *f, const struct graph *g, const char *const *target,
    uint32_t ntargets, struct arena *a, struct err *err)
{
	*f = (struct force){.arena = a, .graph = g};
	if (!mix_open(&f->mix, target, ntargets, a, err)
	    || !candidates_find(&f->found, g, &f->mix, NULL, a, err))
		return false;
	f->refused = arena_new(a, bool, f->found.n);
	for (uint32_t i = 0; i < f->found.n; i++) {
		f->refused[i] = !builds(f, &f->found.candidate[i]);
		f->nrefused += f->refused[i];
	}
	make_tables(f);
	return true;
}

static struct price
price_of(cost_ns ns)
{
	return (struct price){.state = PRICE_KNOWN,
	    .ns = ns,
	    .bound = ns,
	    .low = ns,
	    .high = ns,
	    .when = "",
	    .detail = ""};
}

/* One candidate for next to nothing. */
static void
set_prices(struct force *f, uint32_t wanted, struct rng *r)
{
	const struct prices *p = &f->prices;
	const uint32_t n = p->nformats;
	struct price *launch = (struct price *)(uintptr_t)p->launch;

	for (uint32_t i = 0; i < f->found.n; i++) {
		const uint32_t nodes = f->found.candidate[i].nnodes;
		cost_ns ns = 1000000 + rng_below(r, 1000000 * nodes);

		p->candidate[i] = price_of(i == wanted ? 1 : ns);
		p->candidate[i].key = i;
		if (f->refused[i])
			p->candidate[i].state = PRICE_FAILED;
	}
	for (uint32_t i = 0; i < n * n; i++) {
		p->conversion[i].price = price_of(
		    1 + rng_below(r, wanted == FORCE_NONE ? 300000 : 9));
		p->conversion[i].via = (format_id)(i % n);
	}
	for (uint32_t i = 0; i < f->mix.n; i++)
		launch[i] = price_of(0);
}

bool
force_plan(struct plan *out, struct force *f, uint32_t wanted, struct rng *r,
    bool *placed, struct arena *a, struct err *err)
{
	struct plan_request request = {.graph = f->graph,
	    .mix = &f->mix,
	    .candidates = &f->found,
	    .prices = &f->prices,
	    .no_baselines = true};

	set_prices(f, wanted, r);
	if (!plan_search(out, &request, a, err))
		return false;
	*placed = wanted == FORCE_NONE;
	for (uint32_t i = 0; i < out->ncomposites; i++)
		*placed |= out->composite[i].candidate == wanted;
	return true;
}

const char *
force_text(const struct force *f, uint32_t candidate, struct arena *a)
{
	const struct candidate *c = &f->found.candidate[candidate];
	const struct target_kind *k = f->mix.target[c->target].kind;
	const char *ops = "";

	for (uint32_t i = 0; i < c->nnodes; i++)
		ops = arena_printf(a, "%s%s%s", ops, i ? " " : "",
		    graph_node(f->graph, c->node[i])->op_type);
	return arena_printf(a, "%s %s (%s)",
	    k->nrules ? k->rule[c->rule].name : k->name,
	    c->implementation_name ? c->implementation_name : "", ops);
}
