#include "tests/support/force.h"

#include <string.h>

#include "plan/search.h"
#include "targets/widened.h"

/* Why its library does not build the candidate, or its target has no price of
 * it; NULL. */
static const char *
refusal(const struct force *f, const struct candidate *c)
{
	const struct target *t = &f->mix.target[c->target];
	const struct region alone = region_of(t, f->graph, &c, 1);
	struct err err = {.kind = ERR_NONE};
	struct kernel k = {.run = NULL};
	struct estimate e;
	struct arena scratch;

	arena_init(&scratch);
	if (t->kind->compile
	    && !target_compile(t, f->graph, c, &scratch, &k, &err)
	    && err.kind == ERR_NONE)
		err_set(&err, ERR_TARGET, "without a word");
	if (err.kind == ERR_NONE && k.release)
		k.release(&k);
	if (err.kind == ERR_NONE && t->kind->simulate
	    && !t->kind->simulate(&alone, &e))
		err_set(&err, ERR_TARGET, "it has no price");
	arena_release(&scratch);
	return err.kind == ERR_NONE ? NULL : arena_str(f->arena, err.text);
}

enum { CLASS_IMAGE, CLASS_OTHER, NCLASSES };

/* Layouts are of values of rank 4. */
static void
make_tables(struct force *f)
{
	const uint32_t n = MAX_FORMATS;
	uint32_t *class = arena_new(f->arena, uint32_t, f->graph->nvalues);

	prices_init(&f->prices, f->arena);
	prices_of_each(&f->prices, f->found.n, f->mix.n);
	f->prices.nclasses = NCLASSES;
	f->prices.nformats = n;
	f->prices.conversion = arena_new(
	    f->arena, struct conversion_price, (size_t)NCLASSES * n * n);
	for (value_id v = 0; v < f->graph->nvalues; v++) {
		const struct type *t = &f->graph->value[v].type;
		bool image = t->kind == TYPE_TENSOR && t->rank == 4;

		class[v] = image ? CLASS_IMAGE : CLASS_OTHER;
	}
	f->prices.value_class = class;
}

bool
force_open(struct force *f, const struct graph *g, const char *const *target,
    bool keep_nan, struct arena *a, struct err *err)
{
	const struct candidate_options o = {.keep_nan = keep_nan};
	uint32_t n = 0;

	while (target[n])
		n++;
	*f = (struct force){.arena = a, .graph = g};
	if (!mix_open(&f->mix, target, n, a, err)
	    || !candidates_find(&f->found, g, &f->mix, &o, a, err))
		return false;
	f->refused = arena_new(a, const char *, f->found.n);
	for (uint32_t i = 0; i < f->found.n; i++) {
		f->refused[i] = refusal(f, &f->found.candidate[i]);
		f->nrefused += f->refused[i] != NULL;
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

static bool
is_plain(const struct force *f, format_id id)
{
	return id < f->mix.formats.n
	    && f->mix.formats.format[id].layout == LAYOUT_PLAIN;
}

static void
set_conversions(struct force *f, bool forced, struct rng *r)
{
	const struct prices *p = &f->prices;
	const uint32_t n = p->nformats;

	for (uint32_t i = 0; i < NCLASSES * n * n; i++) {
		const format_id to = (format_id)(i % n);
		const format_id from = (format_id)(i / n % n);
		struct conversion_price *c = &p->conversion[i];

		c->price = price_of(forced ? 9 : 1 + rng_below(r, 300000));
		c->via = to;
		if (i / n / n == CLASS_OTHER
		    && (!is_plain(f, from) || !is_plain(f, to)))
			c->price.state = PRICE_FAILED;
	}
}

static bool
is_host(const struct force *f, uint32_t candidate)
{
	const uint32_t t = f->found.candidate[candidate].target;

	return strcmp(f->mix.target[t].kind->name, "host") == 0;
}

/* One candidate for next to nothing, and then the host's. */
static void
set_prices(struct force *f, uint32_t wanted, struct rng *r)
{
	const bool forced = wanted != FORCE_NONE;

	for (uint32_t i = 0; i < f->found.n; i++) {
		const uint32_t nodes = f->found.candidate[i].nnodes;
		cost_ns ns = 1000000 + rng_below(r, 1000000 * nodes);

		if (forced && is_host(f, i))
			ns = 1000;
		*prices_candidate(&f->prices, i) =
		    price_of(i == wanted ? 1 : ns);
		if (f->refused[i])
			prices_candidate(&f->prices, i)->state = PRICE_FAILED;
	}
	set_conversions(f, forced, r);
	for (uint32_t i = 0; i < f->mix.n; i++)
		*prices_launch(&f->prices, i) = price_of(0);
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

static const char *
shape_text(const struct graph *g, value_id v, struct arena *a)
{
	const struct type *t = &graph_value(g, v)->type;
	const char *text = graph_value(g, v)->constant ? "const " : "";

	for (uint32_t i = 0; t->rank != RANK_UNKNOWN && i < t->rank; i++)
		text = arena_printf(
		    a, "%s%s%lld", text, i ? "x" : "", (long long)t->dim[i]);
	return text;
}

/* "Conv[1x3x9x9, const 8x3x3x3 > 1x8x7x7]" */
static const char *
node_text(const struct graph *g, node_id id, struct arena *a)
{
	const struct node *n = graph_node(g, id);
	const char *text = n->op_type;

	for (uint32_t i = 0; i < n->ninputs; i++)
		text = arena_printf(a, "%s%s%s", text, i ? ", " : "[",
		    n->input[i] == VALUE_NONE ? "none"
		                              : shape_text(g, n->input[i], a));
	return arena_printf(
	    a, "%s > %s]", text, shape_text(g, n->output[0], a));
}

const char *
force_text(const struct force *f, uint32_t candidate, struct arena *a)
{
	const struct candidate *c = &f->found.candidate[candidate];
	const struct target_kind *k = f->mix.target[c->target].kind;
	const char *ops = "";

	for (uint32_t i = 0; i < c->nnodes; i++)
		ops = arena_printf(a, "%s%s%s", ops, i ? " " : "",
		    node_text(f->graph, c->node[i], a));
	return arena_printf(a, "%s %s (%s)",
	    k->nrules ? k->rule[c->rule].name : k->name,
	    c->implementation_name ? c->implementation_name : "", ops);
}
