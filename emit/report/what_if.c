/* What would change the plan: figures that simulators assume, by their regret. */
#include <math.h>

#include "emit/report/sections.h"
#include "emit/report/text.h"

/* Nobody varied these. */
static void
put_unvaried(FILE *f, const struct assumptions *s)
{
	if (s->left)
		html(f,
		    "; <abbr title=\"for lack of time; marq search "
		    "--sensitivity varies all\">%n not varied</abbr>",
		    s->left);
}

/* What decides: on the first screen, at most three. */
void
put_decides(FILE *f, const struct page_facts *p)
{
	const struct assumptions *s = &p->assumed;
	const struct assumed *w;
	uint64_t low, high;
	uint32_t shown = 0;

	if (s->n == 0) {
		html(f, "<h2>What decides</h2><p class=mut>%r</p>",
		    s->looked && !s->left
		        ? "No price here rests on an assumed figure."
		        : "Not looked into: "
		          "<code>marq search --sensitivity</code> does.");
		return;
	}
	html(f, "<h2>What decides <small><a href=#assumptions>all %o</a>", s->n,
	    "assumption");
	put_unvaried(f, s);
	html(f, "</small></h2>");
	for (uint32_t i = 0; i < s->n && i < 3 && matters(&s->item[i], p->v);
	     i++) {
		const struct assumed *a = &s->item[i];
		const struct assumed_end *e = &a->end[a->worse];

		if (shown++ == 0)
			html(f,
			    "<table class=\"num dec\"><thead><tr><th "
			    "scope=col>assumed<th scope=col class=l>where "
			    "the plan tips<th scope=col><abbr title=\"what "
			    "keeping this plan would lose at that end of the "
			    "range\">at stake</abbr></thead><tbody>");
		html(f,
		    "<tr><th scope=row><a href=\"#assume-%s\">%s</a> "
		    "<small>%g %s</small><td class=l><b>%r %g</b>, %o "
		    "would move<td>%t",
		    a->parameter, a->parameter, a->value, a->unit,
		    !e->has_break  ? "at"
		        : a->worse ? "above"
		                   : "below",
		    e->has_break ? e->breaks_at : e->value, e->moved, "node",
		    a->regret == NS_NEVER ? e->best : a->regret);
	}
	if (shown) {
		html(f, "</tbody></table>");
		return;
	}
	html(f,
	    "<p>The choice stands: no assumed figure%r, taken alone over its "
	    "range, changes it by more than 0.1%r.",
	    s->left ? " that was varied" : "", "&nbsp;%");
	w = widest(s);
	if (w) {
		ends_of(w, &low, &high);
		if (high > low + low / 20)
			html(f,
			    " But the total hangs on them: <b>%s</b> alone "
			    "(%g to %g %s) moves it from %t to %t.",
			    w->parameter, w->end[0].value, w->end[1].value,
			    w->unit, low, high);
	}
	html(f, "</p>");
}

/* Where x lies between the ends, in per cent; logarithmic where it can be. */
static double
place(const struct assumed *a, double x)
{
	double l = a->end[0].value, h = a->end[1].value, at;

	if (l > 0 && x > 0 && h > l)
		at = log(x / l) / log(h / l);
	else
		at = h > l ? (x - l) / (h - l) : 0;
	return 100 * (at < 0 ? 0 : at > 1 ? 1 : at);
}

/* The band where the plan stays, the points where it tips, what is assumed. */
static void
put_track(FILE *f, const struct assumed *a)
{
	double from = 0, to = 100;

	if (a->end[0].has_break)
		from = place(a, a->end[0].breaks_at);
	if (a->end[1].has_break)
		to = place(a, a->end[1].breaks_at);
	html(f,
	    "<td class=\"track l\"><div role=img aria-label=\"assumed %g, "
	    "range %g to %g\">",
	    a->value, a->end[0].value, a->end[1].value);
	fprintf(f, "<i class=zone style=\"left:%.1f%%;width:%.1f%%\"></i>",
	    from, to > from ? to - from : 0);
	for (int e = 0; e < 2; e++)
		if (a->end[e].has_break)
			fprintf(f, "<i class=brk style=\"left:%.1f%%\"></i>",
			    e ? to : from);
	fprintf(f, "<i class=pin style=\"left:%.1f%%\"></i></div>",
	    place(a, a->value));
	html(f, "<small class=mut>assumed %g", a->value);
	for (int e = 0; e < 2; e++)
		if (a->end[e].has_break)
			html(f, "; tips %r %g", e ? "above" : "below",
			    a->end[e].breaks_at);
	html(f, "</small>");
}

static void
put_end(FILE *f, const struct assumed_end *e)
{
	html(f, "<td>%g<br><small>%t", e->value, e->best);
	if (e->flips && e->moved)
		html(f, "<br>%o move%r", e->moved, "node",
		    e->moved == 1 ? "s" : "");
	if (regret_of(e) == NS_NEVER)
		html(f, "<br>this plan is not legal there");
	else if (regret_of(e))
		html(f, ", would save %t", regret_of(e));
	html(f, "</small>");
}

static void
put_assumed(FILE *f, const struct assumed *a, const struct page_view *v)
{
	bool flips = a->end[0].flips || a->end[1].flips;

	html(f, "<tr id=\"assume-%s\"><th scope=row>%s <small>%s%r%s</small>",
	    a->parameter, a->parameter,
	    a->target == PAGE_NONE ? "" : v->target[a->target].text,
	    a->target == PAGE_NONE ? "" : ", ", a->unit);
	put_end(f, &a->end[0]);
	put_track(f, a);
	put_end(f, &a->end[1]);
	html(f, "<td class=l>%r",
	    !flips              ? "plan stays"
	        : matters(a, v) ? "<b>changes the plan</b>"
	                        : "changes, by less than 0.1&nbsp;%");
}

void
put_assumptions(FILE *f, const struct page_facts *p)
{
	const struct assumptions *s = &p->assumed;

	if (s->n == 0)
		return;
	html(f,
	    "<section id=assumptions><h2>What if: assumptions</h2><p>Each "
	    "assumed figure alone, over its range; the plan was searched "
	    "again at both ends. Confirm those that change it first.</p><div "
	    "class=scroll tabindex=0 role=region aria-label=Assumptions>"
	    "<table class=\"num sens\"><thead><tr><th scope=col>figure<th "
	    "scope=col>lowest<th scope=col class=l>range (log)<th scope=col>"
	    "highest<th scope=col class=l>plan</thead><tbody>");
	for (uint32_t i = 0; i < s->n; i++)
		put_assumed(f, &s->item[i], p->v);
	html(f, "</tbody></table></div>");
	put_command(f,
	    arena_printf(
	        p->v->arena, "marq explain %s --what-if list", p->v->folder));
	html(f, "</section>");
}
