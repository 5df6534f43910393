/* The first words of the page: what came out, and whether to trust it. */
#include <cJSON.h>
#include <string.h>

#include "emit/report/sections.h"
#include "emit/report/text.h"
#include "ir/base/jsonin.h"
#include "ir/base/plural.h"

static uint32_t
unpriced(const struct page_view *v)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->ncomposites; i++)
		n += !v->composite[i].known;
	return n;
}

static const char *
basis_of_total(const struct page_view *v)
{
	return doc_text(doc_field(v->result, "total"), "basis");
}

/* Results before version 3 say no basis: a bound stood for what had no price. */
static bool
rests_on_bounds(const struct page_view *v)
{
	const char *basis = basis_of_total(v);

	return strcmp(basis, "bound") == 0 || (!*basis && unpriced(v));
}

/* Composites whose price leaves out what only a run tells. */
static uint32_t
unsized(const struct page_view *v)
{
	uint32_t n = doc_index(
	    doc_field(v->result, "total"), "unsized", v->ncomposites + 1);

	return n == PAGE_NONE ? 0 : n;
}

static bool
rests_on_estimates(const struct page_view *v)
{
	return strcmp(basis_of_total(v), "estimated") == 0;
}

static void
put_open(FILE *f, const struct page_view *v)
{
	uint32_t open = unpriced(v);

	if (open)
		html(f, " %n of %o have no price yet: %r stand in for them.",
		    open, v->ncomposites, "composite",
		    rests_on_bounds(v) ? "lower bounds" : "estimates");
	if (unsized(v))
		html(f,
		    " %n of its prices %r out sizes, branches or steps that "
		    "only a run tells.",
		    unsized(v), unsized(v) == 1 ? "leaves" : "leave");
}

static void
put_proof(FILE *f, const struct page_view *v)
{
	const cJSON *proof = doc_field(v->result, "proof");
	uint64_t bound = doc_ns(proof, "lower_bound_ns");
	const cJSON *among = doc_field(proof, "among_regions");
	uint64_t n;
	const uint32_t nregions =
	    jsonin_is_u62(among, &n) && n <= UINT32_MAX ? (uint32_t)n : 0;

	html(f, "<b class=big>%r%t</b> a run%r, ",
	    rests_on_bounds(v) || unsized(v) ? "at least " : "", v->total,
	    rests_on_estimates(v) ? ", estimated" : "");
	if (doc_is_true(proof, "proven"))
		html(f,
		    among ? "<b>proven cheapest among %n region%r</b> at these "
		            "prices."
		          : "<b>proven cheapest</b> at these prices.",
		    nregions, plural(nregions));
	else if (bound != NS_NEVER && bound > v->total)
		html(f,
		    "<b>not proven</b> (the bound lies above the plan: a "
		    "fault of marq, please report it).");
	else if (bound == 0 || bound == NS_NEVER)
		html(f, "<b>not proven</b>: no lower bound is known.");
	else
		html(f, "<b>not proven</b>: at most %p above the cheapest%r.",
		    v->total - bound, v->total,
		    among ? " of the regions offered" : "");
}

/* "dnnl + host": what a plan with all targets is called. */
static const char *
mix_name(const struct page_view *v)
{
	const char *name = "";

	for (uint32_t t = 0; t < v->ntargets; t++)
		name = arena_printf(v->arena, "%s%s%s", name, t ? " + " : "",
		    v->target[t].text);
	return name;
}

/* The cheapest plan with fewer targets; NULL: none is known. */
static const cJSON *
best_baseline(const struct page_view *v)
{
	const cJSON *b, *best = NULL;
	const char *own = mix_name(v);

	cJSON_ArrayForEach(b, doc_field(v->result, "baselines"))
	{
		const char *name = doc_text(b, "name");

		if (strcmp(name, "eager") == 0 || strcmp(name, own) == 0
		    || doc_ns(b, "cost_ns") == NS_NEVER)
			continue;
		if (!best || doc_ns(b, "cost_ns") < doc_ns(best, "cost_ns"))
			best = b;
	}
	return best;
}

static void
put_speed(FILE *f, const struct page_view *v)
{
	const cJSON *b = best_baseline(v);
	bool least = doc_is_true(b, "bound");
	uint64_t ns = doc_ns(b, "cost_ns");
	double ratio = v->total ? (double)ns / (double)v->total : 0;
	const char *name = doc_text(b, "name");

	if (!b || ratio <= 0)
		return;
	if (ratio < 1.005 && !least)
		html(f,
		    " No faster than %s alone: the other targets bring "
		    "nothing here.",
		    name);
	else if (ratio >= 1)
		html(f, " %r%g× as fast as %s (%r%t), the best %r.",
		    least ? "At least " : "", ratio, name,
		    least ? "at least " : "", ns,
		    strstr(name, "+") ? "single target" : "without them");
}

/* Was what prices promise seen when it was run? */
static void
put_confirmation(FILE *f, const struct page_view *v)
{
	const cJSON *c = doc_field(v->result, "confirmation");
	const char *word = doc_text(c, "word"),
	           *against = doc_text(c, "against");

	if (strcmp(word, "confirmed") == 0)
		html(f, " <b>Confirmed</b>: run in turn, %g of %s.",
		    doc_real(c, "ratio"), against);
	else if (strcmp(word, "likely") == 0)
		html(f,
		    " <b>Likely</b>: run in turn, %g of %s, which may be noise.",
		    doc_real(c, "ratio"), against);
	else if (strcmp(word, "level") == 0)
		html(f, " <b>Level</b>: run in turn, %g of %s.",
		    doc_real(c, "ratio"), against);
	else if (strcmp(word, "not confirmed") == 0 && *doc_text(c, "why"))
		html(f,
		    " A plan that prices say is cheaper was not run in turn with %s (%s): "
		    "<b>not confirmed</b>, so it is not the plan.",
		    against, doc_text(c, "why"));
	else if (strcmp(word, "not confirmed") == 0)
		html(f,
		    " A plan that prices say is cheaper took %g of %s when it "
		    "was run in turn: <b>not confirmed</b>, so it is not the "
		    "plan.",
		    doc_real(c, "ratio"), against);
	else if (strcmp(word, "predicted") == 0)
		html(f, " <b>Predicted</b>: not run in turn with %s (%s).",
		    against, doc_text(c, "why"));
}

struct op_tally {
	const char *op;
	uint32_t all, there;
};

/* The operator most of the network's work is named by. */
static struct op_tally
main_operator(const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct op_tally best = {"", 0, 0};
	uint32_t *node = arena_new(v->arena, uint32_t, v->ncomposites);
	uint32_t n = 0, nops;
	const struct cause_op *op;

	for (uint32_t i = 0; i < v->ncomposites; i++)
		if (is_heavy(composite_op(v, i)))
			node[n++] = v->composite[i].anchor;
	op = count_ops(v, node, n, &nops);
	if (nops == 0)
		return best;
	best.op = op[0].op;
	best.all = op[0].n;
	for (uint32_t i = 0; i < v->ncomposites; i++)
		best.there += v->composite[i].target == p->accelerator
		    && strcmp(composite_op(v, i), best.op) == 0;
	return best;
}

/* Composites named by `op` that are elsewhere because of a cause. */
static uint32_t
held_back(const struct page_facts *p, uint32_t cause, const char *op)
{
	const struct causes *c = &p->causes[p->accelerator];
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->v->ncomposites; i++) {
		uint32_t node = p->v->composite[i].anchor;

		n += node != PAGE_NONE && c->of[node] == cause
		    && strcmp(p->v->node[node].op, op) == 0;
	}
	return n;
}

/* Where the main operator runs, and why not all on the accelerator. */
static void
put_placement(FILE *f, const struct page_facts *p)
{
	const struct causes *c;
	struct op_tally t;
	uint32_t said = 0;

	if (p->accelerator == PAGE_NONE)
		return;
	t = main_operator(p);
	if (t.all == 0)
		return;
	html(f, " %s takes %n of %n %s", p->v->target[p->accelerator].text,
	    t.there, t.all, t.op);
	c = &p->causes[p->accelerator];
	for (uint32_t i = 0; i < c->n && said < 2; i++) {
		uint32_t n = held_back(p, i, t.op);

		if (n == 0)
			continue;
		html(f, "%r%n ", said++ ? "; " : " (", n);
		if (c->item[i].kind == CAUSE_DEARER)
			html(f, "legal there, but costlier with conversions");
		else if (c->item[i].kind == CAUSE_NO_RULE)
			html(f, "match no rule of it");
		else {
			html(f, "refused: ");
			put_cause(f, &c->item[i]);
		}
	}
	html(f, "%r.", said ? ")" : "");
}

void
put_verdict(FILE *f, const struct page_facts *p)
{
	html(f, "<p class=verdict>");
	put_proof(f, p->v);
	put_open(f, p->v);
	put_speed(f, p->v);
	put_confirmation(f, p->v);
	put_placement(f, p);
	html(f, "</p>");
}

/* Warnings of the search itself, word for word. */
void
put_notes(FILE *f, const struct page_facts *p)
{
	const cJSON *note, *list = doc_field(p->v->result, "notes");
	uint32_t n = 0, all = (uint32_t)cJSON_GetArraySize(list);

	if (all == 0)
		return;
	html(f, "<ul class=notes>");
	cJSON_ArrayForEach(note, list)
	{
		const char *s = cJSON_GetStringValue(note);

		if (!s || n++ >= 3)
			continue;
		html(f, "<li>%s.", s);
	}
	if (n > 3)
		html(f, "<li><a href=#environment>%n more</a>.", n - 3);
	html(f, "</ul>");
}

static void
begin_chip(FILE *f, bool warn, const char *name, const char *link)
{
	html(f,
	    "<li class=%r><a href=\"#%r\"><svg viewBox=\"0 0 12 12\" role=img "
	    "aria-label=\"%r\"><path d=\"%r\"/></svg><b>%r</b> <span>",
	    warn ? "warn" : "ok", link, warn ? "look at" : "sound",
	    warn ? "M6 1V8M6 10.2V11" : "M2 7 5 10 11 3", name);
}

static void
put_search_chip(FILE *f, const struct page_view *v)
{
	const cJSON *proof = doc_field(v->result, "proof");
	uint64_t bound = doc_ns(proof, "lower_bound_ns");
	const cJSON *turns = doc_field(v->result, "confirmation");
	bool proven = doc_is_true(proof, "proven");

	begin_chip(f, !proven, "Search", "compared");
	if (proven)
		html(f, "complete, gap 0");
	else if (strcmp(doc_text(turns, "word"), "not confirmed") == 0)
		html(f,
		    *doc_text(turns, "why")
		        ? "complete; a plan hardly cheaper gave way"
		        : "complete; a cheaper plan was no faster when run");
	else if (bound < v->total && bound > 0)
		html(f, "ended early; a plan up to %p cheaper may exist",
		    v->total - bound, v->total);
	else
		html(f, "ended without a bound that holds");
	html(f, "</span></a>");
}

#define NSOURCES 8u

/* How much of the time each kind of price tells. */
struct source_sum {
	const char *source;
	uint64_t ns;
};

static void
add_source(struct source_sum *sum, const char *source, uint64_t ns)
{
	uint32_t i = 0;

	if (ns == 0)
		return;
	while (i + 1 < NSOURCES && sum[i].source
	    && strcmp(sum[i].source, source) != 0)
		i++;
	sum[i].source = *source ? source : "assumed";
	sum[i].ns += ns;
}

static void
sum_sources(struct source_sum sum[NSOURCES], const struct page_view *v)
{
	memset(sum, 0, NSOURCES * sizeof *sum);
	for (uint32_t i = 0; i < v->ncomposites; i++)
		add_source(sum, v->composite[i].source, v->composite[i].work);
	for (uint32_t i = 0; i < v->nconversions; i++)
		add_source(sum, v->conversion[i].source, v->conversion[i].ns);
	for (uint32_t i = 0; i < v->nregions; i++) {
		const char *source =
		    v->target[v->region[i].target].launch_source;

		add_source(
		    sum, source ? source : "assumed", v->region[i].launch);
	}
}

static uint64_t
sum_of(const struct source_sum sum[NSOURCES], const char *source)
{
	for (uint32_t i = 0; i < NSOURCES && sum[i].source; i++)
		if (strcmp(sum[i].source, source) == 0)
			return sum[i].ns;
	return 0;
}

/* Of all threads, where that is another time. */
static void
put_processor_time(FILE *f, const struct page_view *v)
{
	uint64_t cpu = 0;

	for (uint32_t i = 0; i < v->ncomposites; i++)
		cpu += v->composite[i].cpu;
	if (cpu > v->total + v->total / 10)
		html(f, "; processor time %t", cpu);
}

static void
put_price_chip(FILE *f, const struct page_view *v)
{
	struct source_sum sum[NSOURCES];
	uint32_t open = unpriced(v), said = 0;

	sum_sources(sum, v);
	begin_chip(f,
	    open || sum_of(sum, "estimated")
	        || sum_of(sum, "measured") < v->total / 2,
	    "Prices", "environment");
	if (open && ++said)
		html(f, "%o without one yet", open, "composite");
	for (uint32_t i = 0; i < NSOURCES && sum[i].source; i++)
		html(f, "%r%p %s", said++ ? ", " : "", sum[i].ns, v->total,
		    sum[i].source);
	put_processor_time(f, v);
	html(f, "</span></a>");
}

static void
put_noise_chip(FILE *f, const struct page_view *v)
{
	uint64_t noisy = 0;

	for (uint32_t i = 0; i < v->ncomposites; i++)
		if (strcmp(v->composite[i].rests_on, "noisy") == 0)
			noisy += v->composite[i].work;
	begin_chip(f, noisy > v->total / 10, "Noise", "regions");
	if (noisy)
		html(f, "%p of the time rests on noisy figures", noisy,
		    v->total);
	else
		html(f, "%r",
		    unpriced(v) ? "none of what is known is noisy"
		                : "all figures steady");
	html(f, "</span></a>");
}

static void
put_assumed_chip(FILE *f, const struct page_facts *p)
{
	const cJSON *total = doc_field(p->v->result, "total");
	uint64_t low = doc_ns(total, "low_ns");
	uint64_t high = doc_ns(total, "high_ns");
	bool wide = high > low + low / 4;
	uint32_t n = 0;

	while (
	    n < p->assumed.n && p->assumed.item[n].regret > p->v->total / 100)
		n++;
	begin_chip(f, n > 0 || wide, "Assumptions",
	    p->assumed.n ? "assumptions" : "environment");
	if (n)
		html(f, "%n of %n can change the plan; ", n, p->assumed.n);
	html(f, "%t to %t over all ranges</span></a>", low, high);
}

void
put_trust(FILE *f, const struct page_facts *p)
{
	html(f, "<ul class=trust aria-label=\"Can it be trusted\">");
	put_search_chip(f, p->v);
	put_price_chip(f, p->v);
	put_noise_chip(f, p->v);
	put_assumed_chip(f, p);
	html(f, "</ul>");
}
