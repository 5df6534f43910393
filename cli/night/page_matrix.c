/* Models by mixes: what each costs, how that moved, and by what figure the best
 * baseline is beaten. */
#include <string.h>

#include "cli/diff.h"
#include "cli/night/assets.h"
#include "cli/night/html.h"
#include "cli/night/page.h"
#include "cli/night/store.h"
#include "cli/night/words.h"
#include "ir/base/file.h"

/* TUNING: nights in a sparkline; and its height is never less than so much of
 * the cost, or 0.1 % looks like a cliff. */
#define SPARK_NIGHTS 30u
#define SPARK_RANGE 0.06
#define SPARK_WIDTH 84
#define SPARK_HEIGHT 20

/* ---- shapes and colours of targets (assets/kinds.svg) ---- */

static const char *
symbol_of(const char *kind, struct arena *a)
{
	const char *all =
	    arena_strn(a, (const char *)asset_kinds_svg, asset_kinds_svg_size);

	return strstr(all, arena_printf(a, "\"k-%s\"", kind)) ? kind : "other";
}

static void
put_icon(FILE *f, const char *kind, struct arena *a)
{
	const char *symbol = symbol_of(kind, a);
	const char *name = escaped(kind, a);

	fprintf(f,
	    "<svg class=\"ic k-%s\" role=img aria-label=\"%s\"><title>%s"
	    "</title><use href=\"#k-%s\"/></svg>",
	    symbol, name, name, symbol);
}

/* ---- rows and columns, as the manifest has them ---- */

static bool
is_first_row(const struct night *n, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (strcmp(n->unit[k].model, n->unit[i].model) == 0
		    && strcmp(n->unit[k].shape, n->unit[i].shape) == 0)
			return false;
	return true;
}

static bool
is_first_mix(const struct night *n, uint32_t i)
{
	for (uint32_t k = 0; k < i; k++)
		if (strcmp(n->unit[k].mix, n->unit[i].mix) == 0)
			return false;
	return true;
}

/* MAX: there is none. */
static uint32_t
unit_at(const struct night *n, uint32_t row, uint32_t mix)
{
	for (uint32_t i = 0; i < n->nunits; i++)
		if (strcmp(n->unit[i].model, n->unit[row].model) == 0
		    && strcmp(n->unit[i].shape, n->unit[row].shape) == 0
		    && strcmp(n->unit[i].mix, n->unit[mix].mix) == 0)
			return i;
	return UINT32_MAX;
}

static const char *
kinds_of_mix(const struct night *n, uint32_t mix)
{
	for (uint32_t i = 0; i < n->nunits; i++)
		if (strcmp(n->unit[i].mix, n->unit[mix].mix) == 0
		    && n->unit[i].kinds[0])
			return n->unit[i].kinds;
	return "";
}

static void
put_heads(const struct night_page *p)
{
	const struct night *n = p->s->night;

	fputs("<thead><tr><th scope=col>model</th>", p->f);
	for (uint32_t i = 0; i < n->nunits; i++) {
		if (!is_first_mix(n, i))
			continue;
		fprintf(p->f, "<th scope=col class=l>%s ",
		    escaped(n->unit[i].mix, p->s->a));
		for (const char *k = kinds_of_mix(n, i); *k;
		     k += strcspn(k, " "), k += *k == ' ')
			put_icon(p->f, arena_strn(p->s->a, k, strcspn(k, " ")),
			    p->s->a);
		fputs("</th>", p->f);
	}
	fputs("</tr></thead>\n", p->f);
}

/* ---- a line through the nights ---- */

struct spark {
	const struct night_unit *unit[SPARK_NIGHTS]; /* NULL: not there */
	uint32_t n;
	uint64_t low, high;
};

static void
spark_make(struct spark *k, const struct summary *s, const char *name)
{
	const uint32_t last = s->at + 1;
	const uint32_t from = last > SPARK_NIGHTS ? last - SPARK_NIGHTS : 0;

	*k = (struct spark){.low = UINT64_MAX};
	for (uint32_t i = from; i < last; i++) {
		const struct night_unit *u =
		    night_unit_find(&s->history->night[i], name);

		k->unit[k->n++] = u;
		if (!u || !unit_succeeded(u))
			continue;
		if (u->status.cost_ns < k->low)
			k->low = u->status.cost_ns;
		if (u->status.cost_ns > k->high)
			k->high = u->status.cost_ns;
	}
}

static double
spark_x(const struct spark *k, uint32_t i)
{
	return 3.0 + i * (SPARK_WIDTH - 6.0) / (k->n > 1 ? k->n - 1 : 1);
}

static double
spark_y(const struct spark *k, uint64_t ns)
{
	double range = (double)(k->high - k->low);

	if (range < SPARK_RANGE * (double)k->low)
		range = SPARK_RANGE * (double)k->low;
	return SPARK_HEIGHT - 3
	    - (double)(ns - k->low) / range * (SPARK_HEIGHT - 6);
}

static void
put_line(FILE *f, const struct spark *k)
{
	bool down = false;

	fputs("<path d=\"", f);
	for (uint32_t i = 0; i < k->n; i++) {
		const struct night_unit *u = k->unit[i];
		const bool good = u && unit_succeeded(u);

		if (good)
			fprintf(f, "%c%.0f %.1f", down ? 'L' : 'M',
			    spark_x(k, i), spark_y(k, u->status.cost_ns));
		down = good;
	}
	fputs("\"/>", f);
}

/* A cross where it failed, a tick where it was not run. */
static void
put_gaps(FILE *f, const struct spark *k)
{
	for (uint32_t i = 0; i < k->n; i++) {
		const struct night_unit *u = k->unit[i];
		const double x = spark_x(k, i);

		if (!u || unit_succeeded(u))
			continue;
		if (u->status.ended)
			fprintf(f,
			    "<path class=gap d=\"M%.0f %dl5 5m0 -5l-5 5\"/>",
			    x - 2.5, SPARK_HEIGHT - 6);
		else
			fprintf(f, "<path class=gap d=\"M%.0f %dv-4\"/>", x,
			    SPARK_HEIGHT - 1);
	}
}

static void
put_spark(const struct night_page *p, const char *name)
{
	const struct night_unit *last;
	struct spark k;

	spark_make(&k, p->s, name);
	if (k.high == 0)
		return;
	fprintf(p->f,
	    "<svg class=sp viewBox=\"0 0 %d %d\" width=%d height=%d role=img "
	    "aria-label=\"%u nights, %s to %s\">",
	    SPARK_WIDTH, SPARK_HEIGHT, SPARK_WIDTH, SPARK_HEIGHT, k.n,
	    brief(k.low, p->s->a), brief(k.high, p->s->a));
	put_line(p->f, &k);
	put_gaps(p->f, &k);
	last = k.unit[k.n - 1];
	if (last && unit_succeeded(last))
		fprintf(p->f, "<circle cx=\"%.0f\" cy=\"%.1f\" r=\"2.6\"/>",
		    spark_x(&k, k.n - 1), spark_y(&k, last->status.cost_ns));
	fputs("</svg>", p->f);
}

/* ---- cells ---- */

static const struct night_unit *
best_before(const struct summary *s, const char *name, uint32_t *night)
{
	const struct night_unit *best = NULL, *u;
	uint32_t at = s->at, when;

	while ((u = history_last_good(s->history, at, name, &when)) != NULL) {
		if (!best || u->status.cost_ns <= best->status.cost_ns) {
			best = u;
			*night = when;
		}
		at = when;
	}
	return best;
}

static void
put_change(const struct night_page *p, uint32_t i)
{
	const struct summary *s = p->s;
	const struct night_unit *u = &s->night->unit[i], *was, *best;
	uint32_t when;

	was = history_last_good(s->history, s->at, u->name, &when);
	if (!was) {
		fputs("<small class=mut>new</small>", p->f);
		return;
	}
	if (was->status.cost_ns == u->status.cost_ns)
		fputs("<small class=mut>as before</small>", p->f);
	else if (findings_has(&s->findings, EVENT_REGRESSED, i))
		fprintf(p->f, "<small class=up>▲ %s</small>",
		    change(was->status.cost_ns, u->status.cost_ns, s->a));
	else if (findings_has(&s->findings, EVENT_IMPROVED, i))
		fprintf(p->f, "<small class=down>▼ %s</small>",
		    change(was->status.cost_ns, u->status.cost_ns, s->a));
	else
		fprintf(p->f, "<small class=mut>%s</small>",
		    change(was->status.cost_ns, u->status.cost_ns, s->a));
	best = best_before(s, u->name, &when);
	if (best
	    && (double)u->status.cost_ns
	        > (1 + DIFF_THRESHOLD) * (double)best->status.cost_ns)
		fprintf(p->f,
		    "<small class=mut>; best %s in night %u, now %s</small>",
		    brief(best->status.cost_ns, s->a),
		    s->history->night[when].number,
		    change(best->status.cost_ns, u->status.cost_ns, s->a));
}

static void
put_baseline(const struct night_page *p, const struct unit_status *u)
{
	if (u->baseline_ns && !(u->baseline_bound && u->estimated))
		fprintf(p->f, "<small class=mut>; %s%.2f of %s</small>",
		    u->baseline_bound ? "at most " : "",
		    (double)u->cost_ns / (double)u->baseline_ns,
		    escaped(u->baseline, p->s->a));
	if (*u->confirmation)
		fprintf(p->f, "<small class=mut>%s</small>",
		    escaped(confirmation_of(u, p->s->a), p->s->a));
}

/* The page of the result, where it has one. */
static const char *
link_of(const struct night_page *p, const struct night_unit *u)
{
	struct arena *a = p->s->a;
	const char *out = p->s->history->out;
	const char *kept =
	    arena_printf(a, "%s/report.html", store_path(out, u->result, a));

	if (file_is_absent(kept))
		return NULL;
	return p->is_kept ? arena_printf(a, "results/%s/report.html", u->result)
	                  : arena_printf(a, "%s/report.html", u->name);
}

static void
put_cost(const struct night_page *p, uint32_t i)
{
	const struct night_unit *u = &p->s->night->unit[i];
	const char *cost = unit_cost(u, p->s->a), *to = link_of(p, u);
	const char *strong = p->s->wins[i] ? "b" : "span";

	if (to)
		fprintf(p->f, "<a href=\"%s\"><%s>%s</%s></a>",
		    escaped(to, p->s->a), strong, cost, strong);
	else
		fprintf(p->f, "<%s>%s</%s>", strong, cost, strong);
	if (!u->status.proven || u->status.among_regions)
		fprintf(p->f, "<small class=np>%s</small>",
		    proof_of(&u->status, p->s->a));
}

static void
put_cell(const struct night_page *p, uint32_t i)
{
	const struct night_unit *u = &p->s->night->unit[i];
	const char *name = escaped(u->name, p->s->a);
	const struct night_unit *was;
	uint32_t when;

	fprintf(p->f,
	    "<td class=\"l%s\" data-m=\"%s\" id=\"u-%s\"><span class=cell>",
	    u->status.ended && !unit_succeeded(u) ? " bad" : "",
	    escaped(u->mix, p->s->a), name);
	if (unit_succeeded(u)) {
		put_cost(p, i);
		put_spark(p, u->name);
		fputs("</span><span class=sub>", p->f);
		put_change(p, i);
		put_baseline(p, &u->status);
	} else {
		fprintf(
		    p->f, "<b>%s</b>", u->status.ended ? "failed" : "not run");
		put_spark(p, u->name);
		fputs("</span><span class=sub>", p->f);
		was =
		    history_last_good(p->s->history, p->s->at, u->name, &when);
		if (was)
			fprintf(p->f, "<small class=mut>last good %s</small>",
			    brief(was->status.cost_ns, p->s->a));
	}
	fputs("</span></td>", p->f);
}

static void
put_row(const struct night_page *p, uint32_t row)
{
	const struct night *n = p->s->night;

	fprintf(p->f, "<tr><th scope=row>%s</th>",
	    escaped(row_name(&n->unit[row], p->s->a), p->s->a));
	for (uint32_t mix = 0; mix < n->nunits; mix++) {
		uint32_t i;

		if (!is_first_mix(n, mix))
			continue;
		i = unit_at(n, row, mix);
		if (i == UINT32_MAX)
			fputs("<td class=\"l none mut\">–</td>", p->f);
		else
			put_cell(p, i);
	}
	fputs("</tr>\n", p->f);
}

void
page_matrix(const struct night_page *p)
{
	const struct night *n = p->s->night;

	fprintf(p->f,
	    "<section id=matrix><h2>Models × mixes <small>what a run costs; "
	    "marked: changes beyond noise and %.0f %%; bold: the cheapest mix "
	    "that is proven</small></h2><div class=scroll tabindex=0 "
	    "role=region aria-label=\"Models by mixes\"><table class=mx>",
	    100 * DIFF_THRESHOLD);
	put_heads(p);
	fputs("<tbody>\n", p->f);
	for (uint32_t i = 0; i < n->nunits; i++)
		if (is_first_row(n, i))
			put_row(p, i);
	fputs("</tbody></table></div></section>\n", p->f);
}
