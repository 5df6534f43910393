/* Where the time goes: by target, in order, the costliest regions. */
#include <stdlib.h>

#include "emit/report/sections.h"
#include "emit/report/text.h"

/* What a target costs, with the conversions it causes. */
struct target_time {
	uint32_t target, nnodes;
	uint64_t work, moves, launches;
};

static uint64_t
time_all(const struct target_time *t)
{
	return t->work + t->moves + t->launches;
}

static int
costlier_target_first(const void *a, const void *b)
{
	const struct target_time *x = a, *y = b;

	if (time_all(x) != time_all(y))
		return time_all(x) > time_all(y) ? -1 : 1;
	return x->target < y->target ? -1 : x->target > y->target;
}

static struct target_time *
sum_targets(const struct page_view *v)
{
	struct target_time *t =
	    arena_new(v->arena, struct target_time, v->ntargets);

	for (uint32_t i = 0; i < v->ntargets; i++)
		t[i].target = i;
	for (uint32_t i = 0; i < v->ncomposites; i++) {
		t[v->composite[i].target].work += v->composite[i].work;
		t[v->composite[i].target].nnodes += composite_nodes(v, i);
	}
	for (uint32_t i = 0; i < v->nconversions; i++)
		t[v->conversion[i].payer].moves += v->conversion[i].ns;
	for (uint32_t i = 0; i < v->nregions; i++)
		t[v->region[i].target].launches += v->region[i].launch;
	return t;
}

/* A part of the bar, or of the legend below it. */
static void
put_part(FILE *f, bool legend, const char *name, const char *kind, uint64_t ns,
    uint64_t total)
{
	if (ns == 0)
		return;
	if (legend)
		html(f, "<span>%i%s %p</span>", kind, name, ns, total);
	else
		html(f,
		    "<i class=\"b k-%k\" style=\"width:%w\" title=\"%s %t\">"
		    "</i>",
		    kind, ns, total, name, ns);
}

static void
put_parts(FILE *f, bool legend, const struct page_view *v,
    const struct target_time *t)
{
	uint64_t moves = 0, launches = 0;

	for (uint32_t i = 0; i < v->ntargets; i++) {
		put_part(f, legend, v->target[i].text, v->target[i].kind,
		    t[i].work, v->total);
		moves += t[i].moves;
		launches += t[i].launches;
	}
	put_part(f, legend, "conversions", "conv", moves, v->total);
	put_part(f, legend, "launches", "launch", launches, v->total);
}

static void
put_time(FILE *f, uint64_t ns)
{
	if (ns)
		html(f, "<td>%t", ns);
	else
		html(f, "<td class=mut>none");
}

void
put_where(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct target_time *t = sum_targets(v);

	html(f,
	    "<h2 id=where>Where the time goes</h2><div class=bar "
	    "aria-hidden=true>");
	put_parts(f, false, v, t);
	html(f, "</div><p class=leg>");
	put_parts(f, true, v, t);
	html(f,
	    "</p><div class=scroll><table class=num><thead><tr><th "
	    "scope=col>target<th scope=col>work<th scope=col><abbr "
	    "title=\"conversions into and out of its formats\">moving data"
	    "</abbr><th scope=col>launches<th scope=col>all<th "
	    "scope=col>share</thead><tbody>");
	qsort(t, v->ntargets, sizeof *t, costlier_target_first);
	for (uint32_t i = 0; i < v->ntargets; i++) {
		const struct page_target *target = &v->target[t[i].target];

		html(f, "<tr><th scope=row>%i%s <small>%o</small>",
		    target->kind, target->text, t[i].nnodes, "node");
		put_time(f, t[i].work);
		if (t[i].moves > t[i].work && t[i].moves > v->total / 50)
			html(f, "<td class=hot>%t", t[i].moves);
		else
			put_time(f, t[i].moves);
		put_time(f, t[i].launches);
		html(f, "<td><b>%t</b><td>%p", time_all(&t[i]), time_all(&t[i]),
		    v->total);
	}
	html(f, "</tbody></table></div>");
}

/* Regions that hold the same, as one row. */
struct alike {
	uint32_t region, n;
	uint64_t work, moves, launch;
};

static uint64_t
alike_all(const struct alike *a)
{
	return a->work + a->moves + a->launch;
}

static int
costlier_alike_first(const void *a, const void *b)
{
	const struct alike *x = a, *y = b;

	if (alike_all(x) != alike_all(y))
		return alike_all(x) > alike_all(y) ? -1 : 1;
	return x->region < y->region ? -1 : x->region > y->region;
}

static uint32_t
sum_alike(struct alike *list, const struct page_view *v)
{
	uint32_t *row = arena_new(v->arena, uint32_t, v->nregions);
	uint32_t n = 0;

	for (uint32_t i = 0; i < v->nregions; i++) {
		const struct page_region *r = &v->region[i];
		struct alike *a;

		row[i] = r->like == i ? n++ : row[r->like];
		a = &list[row[i]];
		a->region = r->like;
		a->n++;
		a->work += r->work;
		a->moves += r->moves;
		a->launch += r->launch;
	}
	qsort(list, n, sizeof *list, costlier_alike_first);
	return n;
}

static void
put_region_ops(FILE *f, const struct page_view *v, uint32_t region)
{
	const struct page_region *r = &v->region[region];
	struct arena_mark mark = arena_mark(v->arena);
	uint32_t *node = arena_new(v->arena, uint32_t, r->n), n = 0, nops;
	struct cause_op *op;

	for (uint32_t c = r->first; c < r->first + r->n; c++)
		if (v->composite[c].anchor != PAGE_NONE)
			node[n++] = v->composite[c].anchor;
	op = count_ops(v, node, n, &nops);
	put_ops(f, op, nops, 2);
	arena_back(v->arena, mark);
}

void
put_costliest(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct alike *list = arena_new(v->arena, struct alike, v->nregions);
	uint32_t n = v->nregions ? sum_alike(list, v) : 0;

	html(f,
	    "<h2>Costliest regions <small>with the moves they wait for; <a "
	    "href=#regions>all %n</a></small></h2><table class=\"num top5\">"
	    "<tbody>",
	    v->nregions);
	for (uint32_t i = 0; i < n && i < 5; i++) {
		const struct page_region *r = &v->region[list[i].region];
		const char *kind = v->target[r->target].kind;
		uint64_t most = alike_all(&list[0]);

		html(f, "<tr><th scope=row><a href=\"#region-%n\">%i%s</a>",
		    list[i].region, kind, r->name);
		if (list[i].n > 1)
			html(f, " <small>and %n alike</small>", list[i].n - 1);
		html(f, "<td class=l>");
		put_region_ops(f, v, list[i].region);
		html(f,
		    "<td class=barcell><i class=\"b k-%k\" style=\"width:%w\">"
		    "</i><i class=\"b k-conv\" style=\"width:%w\"></i><td>%t"
		    "<td>%p",
		    kind, list[i].work, most, list[i].moves, most,
		    alike_all(&list[i]), alike_all(&list[i]), v->total);
	}
	html(f, "</tbody></table>");
}
