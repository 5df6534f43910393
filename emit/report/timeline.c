/* The plan in execution order: a lane a target, conversions and launches below;
 * an inline drawing that needs no script. */
#include <math.h>
#include <string.h>

#include "emit/report/sections.h"
#include "emit/report/text.h"

#define WIDTH 1000.0
#define LANE 20
/* TUNING: neighbours narrower than this are drawn as one */
#define CELL (WIDTH / 900)
/* TUNING: more links than this nobody tabs through */
#define LINKED 600u

struct slice {
	uint32_t lane, region; /* or PAGE_NONE */
	const char *kind;
	uint64_t at, ns;
	double from, to; /* as drawn */
};

struct page_timeline {
	const struct page_view *v;
	struct slice *slice;
	uint32_t n, nlanes;
	uint32_t *lane; /* of a target */
	uint64_t end;
};

static void
add_slice(struct page_timeline *t, uint32_t lane, uint32_t region,
    const char *kind, uint64_t ns)
{
	struct slice *last = t->n ? &t->slice[t->n - 1] : NULL;

	if (ns == 0)
		return;
	if (last && last->lane == lane && last->region == region
	    && last->kind == kind)
		last->ns += ns;
	else
		t->slice[t->n++] = (struct slice){.lane = lane,
		    .region = region,
		    .kind = kind,
		    .at = t->end,
		    .ns = ns};
	t->end += ns;
}

static void
add_moves(struct page_timeline *t, uint32_t before)
{
	const struct page_index *list = &t->v->read_by;

	for (uint32_t i = list->start[before]; i < list->start[before + 1]; i++)
		add_slice(t, t->nlanes, PAGE_NONE, "conv",
		    t->v->conversion[list->item[i]].ns);
}

static void
lay_out(struct page_timeline *t)
{
	const struct page_view *v = t->v;

	for (uint32_t i = 0; i < v->ntargets; i++)
		t->lane[i] = PAGE_NONE;
	for (uint32_t i = 0; i < v->ntargets; i++)
		for (uint32_t r = 0; r < v->nregions; r++)
			if (v->region[r].target == i && t->lane[i] == PAGE_NONE)
				t->lane[i] = t->nlanes++;
	for (uint32_t i = 0; i < v->ncomposites; i++) {
		const struct page_composite *c = &v->composite[i];

		add_moves(t, i);
		add_slice(t, t->nlanes, PAGE_NONE, "launch", c->launch);
		add_slice(t, t->lane[c->target], c->region,
		    v->target[c->target].kind, c->work);
	}
	add_moves(t, v->ncomposites);
}

/* What is too narrow joins the last one drawn in its lane. */
static uint32_t
join_narrow(struct page_timeline *t)
{
	uint32_t n = 0;
	uint32_t *last = arena_new(t->v->arena, uint32_t, t->nlanes + 1u);

	for (uint32_t i = 0; i < t->n; i++) {
		struct slice s = t->slice[i], *before;
		uint32_t have = last[s.lane];

		s.from = WIDTH * (double)s.at / (double)t->end;
		s.to = WIDTH * (double)(s.at + s.ns) / (double)t->end;
		before = have ? &t->slice[have - 1] : NULL;
		if (before && s.to - s.from < CELL && s.from - before->to < CELL
		    && before->kind == s.kind) {
			before->to = s.to > before->to ? s.to : before->to;
			before->ns += s.ns;
			continue;
		}
		t->slice[n++] = s;
		last[s.lane] = n;
	}
	return n;
}

static void
put_slice(FILE *f, const struct page_timeline *t, const struct slice *s)
{
	bool link = s->region != PAGE_NONE && t->v->nregions <= LINKED;

	if (link)
		fprintf(f, "<a href=\"#region-%u\">", s->region);
	html(f, "<rect class=\"b k-%k\" ", s->kind);
	fprintf(f, "x=\"%.1f\" y=\"%u\" width=\"%.1f\" height=\"%d\"><title>",
	    s->from, s->lane * LANE + 2,
	    s->to - s->from > 0.8 ? s->to - s->from : 0.8, LANE - 4);
	html(f, "%s %t</title></rect>%r",
	    s->region != PAGE_NONE             ? t->v->region[s->region].name
	        : strcmp(s->kind, "conv") == 0 ? "conversion"
	                                       : "launch",
	    s->ns, link ? "</a>" : "");
}

/* A round step that gives four to eight ticks. */
static double
tick_step(double end)
{
	double step = pow(10, floor(log10(end / 4)));

	while (end / step > 8)
		step *= end / step > 20 ? 5 : 2;
	return step;
}

/* A tick's time: a round number of the unit the whole is told in. */
static void
put_tick_text(FILE *f, double ns, double end)
{
	if (ns <= 0)
		fputs("0", f);
	else if (end < 1e6)
		fprintf(f, "%g&nbsp;µs", ns / 1e3);
	else if (end < 1e9)
		fprintf(f, "%g&nbsp;ms", ns / 1e6);
	else
		fprintf(f, "%g&nbsp;s", ns / 1e9);
}

static void
put_axis(FILE *f, const struct page_timeline *t)
{
	double end = (double)t->end, step = tick_step(end);

	html(f, "<div class=ax aria-hidden=true>");
	for (double x = 0; x < 0.92 * end; x += step) {
		fprintf(f, "<span style=\"left:%.2f%%\">", 100 * x / end);
		put_tick_text(f, x, end);
		html(f, "</span>");
	}
	html(f, "</div>");
}

static void
put_drawing(FILE *f, const struct page_timeline *t)
{
	double end = (double)t->end, step = tick_step(end);
	unsigned height = (t->nlanes + 1) * LANE;
	uint32_t n = t->n;

	fprintf(f,
	    "<svg viewBox=\"0 0 %.0f %u\" preserveAspectRatio=none "
	    "style=\"height:%upx\" role=group aria-label=\"Timeline\">",
	    WIDTH, height, height);
	for (double x = step; x < end; x += step)
		fprintf(f,
		    "<line x1=\"%.1f\" x2=\"%.1f\" y1=0 y2=%u class=tick />",
		    WIDTH * x / end, WIDTH * x / end, height);
	for (uint32_t i = 0; i < n; i++)
		put_slice(f, t, &t->slice[i]);
	html(f, "</svg>");
}

void
put_timeline(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct page_timeline t = {.v = v};

	t.lane = arena_new(v->arena, uint32_t, v->ntargets);
	t.slice = arena_new(v->arena, struct slice,
	    2 * (size_t)v->ncomposites + v->nconversions);
	lay_out(&t);
	if (t.end == 0)
		return;
	t.n = join_narrow(&t);
	html(f,
	    "<h2 id=timeline>In order <small>predicted, one after the other; "
	    "a click opens the region</small></h2><div class=tl><div "
	    "class=lanes aria-hidden=true>");
	for (uint32_t i = 0; i < v->ntargets; i++)
		if (t.lane[i] != PAGE_NONE)
			html(f, "<span title=\"%s\">%i%s</span>",
			    v->target[i].text, v->target[i].kind,
			    v->target[i].kind);
	html(f, "<span>%imoves</span></div><div class=tlb>", "conv");
	put_drawing(f, &t);
	put_axis(f, &t);
	html(f, "</div></div>");
}
