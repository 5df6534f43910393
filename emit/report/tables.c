/* Operators, regions, causes, and what the plan is compared with: tables. */
#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "emit/report/sections.h"
#include "emit/report/text.h"

/* TUNING: rows of a table that somebody reads; search and graph have all */
#define MOST_REGIONS 400u
#define MOST_CAUSES 40u

struct operator_cost {
	const char *op;
	uint64_t work, moves;
	uint32_t *on; /* [ntargets] composites it names */
	uint32_t fused; /* nodes that another operator names */
};

struct operators {
	const struct page_view *v;
	struct operator_cost *item;
	uint32_t n, cap;
	struct map seen;
};

static struct operator_cost *
operator_of(struct operators *s, const char *op)
{
	uint32_t at = map_add(&s->seen, op, strlen(op), s->n);

	if (at == s->n) {
		s->item = arena_grow(
		    s->v->arena, s->item, &s->cap, s->n + 1, sizeof *s->item);
		s->item[s->n++] = (struct operator_cost){.op = op,
		    .on = arena_new(s->v->arena, uint32_t, s->v->ntargets)};
	}
	return &s->item[at];
}

static void
sum_operators(struct operators *s)
{
	const struct page_view *v = s->v;

	map_init(&s->seen, v->arena);
	for (uint32_t i = 0; i < v->ncomposites; i++) {
		const struct page_composite *c = &v->composite[i];
		struct operator_cost *o;

		if (c->anchor == PAGE_NONE)
			continue;
		o = operator_of(s, v->node[c->anchor].op);
		o->work += c->work;
		o->moves += c->moves;
		o->on[c->target]++;
	}
	for (uint32_t i = 0; i < v->nnodes; i++) {
		uint32_t c = v->node[i].composite;

		if (c != PAGE_NONE && v->composite[c].anchor != i)
			operator_of(s, v->node[i].op)->fused++;
	}
}

static int
costlier_operator_first(const void *a, const void *b)
{
	const struct operator_cost *x = a, *y = b;

	if (x->work + x->moves != y->work + y->moves)
		return x->work + x->moves > y->work + y->moves ? -1 : 1;
	return strcmp(x->op, y->op);
}

static void
put_number_cell(FILE *f, uint32_t n)
{
	if (n)
		html(f, "<td>%n", n);
	else
		html(f, "<td class=mut>·");
}

static void
put_time_cell(FILE *f, uint64_t ns)
{
	if (ns)
		html(f, "<td>%t", ns);
	else
		html(f, "<td class=mut>–");
}

static void
put_operator(FILE *f, const struct page_view *v, const struct operator_cost *o,
    uint64_t most)
{
	uint64_t all = o->work + o->moves;

	html(f, "<tr id=\"op-%s\"><th scope=row>%s", o->op, o->op);
	for (uint32_t t = 0; t < v->ntargets; t++)
		put_number_cell(f, o->on[t]);
	put_number_cell(f, o->fused);
	html(f,
	    "<td class=barcell><i class=\"b k-work\" style=\"width:%w\"></i>"
	    "<i class=\"b k-conv\" style=\"width:%w\"></i>",
	    o->work, most, o->moves, most);
	put_time_cell(f, o->work);
	put_time_cell(f, o->moves);
	html(f, "<td>%p", all, v->total);
}

/* A table that scrolls by itself on a narrow screen. */
static void
begin_table(FILE *f, const char *label)
{
	html(f,
	    "<div class=scroll tabindex=0 role=region aria-label=\"%s\"><table "
	    "class=num><thead><tr>",
	    label);
}

static void
end_table(FILE *f)
{
	html(f, "</tbody></table></div>");
}

void
put_operators(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct operators s = {.v = v};

	sum_operators(&s);
	if (s.n)
		qsort(s.item, s.n, sizeof *s.item, costlier_operator_first);
	html(f,
	    "<section id=operators><h2>Operators <small>composites by the "
	    "operator that names them; fused: counted with a neighbour"
	    "</small></h2>");
	begin_table(f, "Operators");
	html(f, "<th scope=col>operator");
	for (uint32_t t = 0; t < v->ntargets; t++)
		html(f, "<th scope=col>%i%s", v->target[t].kind,
		    v->target[t].text);
	html(f,
	    "<th scope=col>fused<th scope=col class=l>cost<th scope=col>work"
	    "<th scope=col>moves<th scope=col>share</thead><tbody>");
	for (uint32_t i = 0; i < s.n; i++)
		put_operator(
		    f, v, &s.item[i], s.item[0].work + s.item[0].moves);
	end_table(f);
	html(f, "</section>");
}

/* The module all nodes of a region are in, or 0. */
static uint32_t
common_scope(const struct page_view *v, const struct page_region *r)
{
	uint32_t found = PAGE_NONE;

	for (uint32_t c = r->first; c < r->first + r->n; c++) {
		uint32_t node = v->composite[c].anchor, s;

		if (node == PAGE_NONE)
			continue;
		s = v->node[node].scope;
		if (found == PAGE_NONE)
			found = s;
		while (found != s)
			if (found > s)
				found = v->scope[found].parent;
			else
				s = v->scope[s].parent;
	}
	return found == PAGE_NONE ? 0 : found;
}

static uint32_t
noisy_of(const struct page_view *v, const struct page_region *r)
{
	uint32_t n = 0;

	for (uint32_t c = r->first; c < r->first + r->n; c++)
		n += strcmp(v->composite[c].rests_on, "noisy") == 0;
	return n;
}

static void
put_region(FILE *f, const struct page_view *v, uint32_t id, uint64_t most)
{
	const struct page_region *r = &v->region[id];
	const char *kind = v->target[r->target].kind;
	const char *first = composite_label(v, r->first);
	const char *last = composite_label(v, r->first + r->n - 1);
	uint32_t scope = common_scope(v, r);

	fprintf(f, "<tr id=\"region-%u\">", id);
	html(f, "<th scope=row>%i%s<td class=l>%s", kind, r->name, first);
	if (r->n > 1)
		html(f, " … %s", last);
	if (scope)
		html(f, "<small class=\"mut path\">%s</small>",
		    v->scope[scope].path);
	html(f,
	    "<td>%n<td class=barcell><i class=\"b k-%k\" style=\"width:%w\">"
	    "</i><i class=\"b k-conv\" style=\"width:%w\"></i>",
	    r->nnodes, kind, r->work, most, r->moves, most);
	put_time_cell(f, r->work);
	put_time_cell(f, r->moves);
	put_time_cell(f, r->launch);
	html(f, "<td>%p", region_all(r), v->total);
	put_number_cell(f, noisy_of(v, r));
}

struct region_rank {
	uint32_t region;
	uint64_t ns;
};

static int
costlier_region_first(const void *a, const void *b)
{
	const struct region_rank *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns > y->ns ? -1 : 1;
	return x->region < y->region ? -1 : x->region > y->region;
}

/* In execution order; of many the costliest, costliest first. */
static uint32_t
rank_regions(
    struct region_rank *rank, uint64_t *most, const struct page_view *v)
{
	*most = 0;
	for (uint32_t i = 0; i < v->nregions; i++) {
		rank[i] = (struct region_rank){i, region_all(&v->region[i])};
		if (rank[i].ns > *most)
			*most = rank[i].ns;
	}
	if (v->nregions <= MOST_REGIONS)
		return v->nregions;
	qsort(rank, v->nregions, sizeof *rank, costlier_region_first);
	return MOST_REGIONS;
}

void
put_regions(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct region_rank *rank =
	    arena_new(v->arena, struct region_rank, v->nregions);
	uint64_t most;
	uint32_t n = rank_regions(rank, &most, v);

	html(f, "<section id=regions><h2>Regions <small>%r</small></h2>",
	    n < v->nregions ? "costliest first" : "in execution order");
	if (n < v->nregions)
		html(f, "<p class=mut>The %n costliest of %n.</p>", n,
		    v->nregions);
	begin_table(f, "Regions");
	html(f,
	    "<th scope=col>region<th scope=col class=l>from … to<th scope=col>"
	    "nodes<th scope=col class=l>cost<th scope=col>work<th scope=col>"
	    "moves in<th scope=col>launch<th scope=col>share<th scope=col>"
	    "<abbr title=\"composites whose price is noisy\">noisy</abbr>"
	    "</thead><tbody>");
	for (uint32_t i = 0; i < n; i++)
		put_region(f, v, rank[i].region, most);
	end_table(f);
	html(f, "</section>");
}

static void
put_cause_row(FILE *f, const struct page_view *v, const struct cause *c)
{
	const char *example = v->node[c->first].label;

	html(f, "<tr><td class=l>");
	if (c->kind == CAUSE_REFUSED && !c->varies)
		html(f, "%s: ", c->condition);
	put_cause(f, c);
	html(f, "<td>%n<td class=l>", c->nnodes);
	put_ops(f, c->op, c->nops, 3);
	html(f, "<td class=l><a href=\"#node=%s\">%s</a>", example, example);
	put_time_cell(f, c->work);
	put_time_cell(f, c->moves);
}

static void
put_causes_of(FILE *f, const struct page_view *v, const struct causes *c)
{
	const struct page_target *t = &v->target[c->target];
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		n += c->item[i].nnodes;
	html(f, "<h3>%iNot on %s: %o</h3>", t->kind, t->text, n, "node");
	begin_table(f, arena_printf(v->arena, "Not on %s", t->text));
	html(f,
	    "<th scope=col class=l>cause<th scope=col>nodes<th scope=col "
	    "class=l>operators<th scope=col class=l>example<th scope=col>work "
	    "today<th scope=col>moves around</thead><tbody>");
	for (uint32_t i = 0; i < c->n && i < MOST_CAUSES; i++)
		put_cause_row(f, v, &c->item[i]);
	end_table(f);
	if (c->n > MOST_CAUSES)
		html(f, "<p class=mut>The %n that cost most of %n causes.</p>",
		    MOST_CAUSES, c->n);
}

void
put_refused(FILE *f, const struct page_facts *p)
{
	html(f,
	    "<section id=refused><h2>Why not elsewhere</h2><p>Each node once "
	    "a target, under the rule that came nearest. What these nodes cost "
	    "today is not what would be saved: <code>--what-if</code> searches "
	    "again and says.</p>");
	for (uint32_t t = 0; t < p->v->ntargets; t++)
		if (p->causes[t].n && !p->v->target[t].is_host)
			put_causes_of(f, p->v, &p->causes[t]);
	html(f, "</section>");
}

void
put_compared(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	const cJSON *b;

	html(f, "<section id=compared><h2>Compared with</h2>");
	begin_table(f, "Compared with");
	html(f,
	    "<th scope=col>plan<th scope=col>cost<th scope=col>times this"
	    "</thead><tbody><tr><th scope=row>this plan<td>%t<td>1",
	    v->total);
	cJSON_ArrayForEach(b, doc_field(v->result, "baselines"))
	{
		uint64_t ns = doc_ns(b, "cost_ns");

		html(f, "<tr><th scope=row>%s<td>%r%t<td>", doc_text(b, "name"),
		    doc_is_true(b, "bound") ? "at least " : "", ns);
		if (ns != NS_NEVER && v->total)
			html(f, "%g", (double)ns / (double)v->total);
	}
	end_table(f);
	html(f, "</section>");
}
