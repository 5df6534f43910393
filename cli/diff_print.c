#include "cli/diff_print.h"

#include <inttypes.h>
#include <string.h>

#include "emit/work.h"
#include "ir/base/plural.h"
#include "ir/base/utf8.h"

/* TUNING: what fits a screen, of each list */
#define LINES 20u
#define NAMES 6u

/* Names come from files nobody vouches for: nothing that moves a cursor. */
static void
put_plain(FILE *f, const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n;) {
		size_t len = utf8_length(s + i, n - i);
		unsigned char c = (unsigned char)s[i];

		if (len == 0 || c < ' ' || c == 0x7f
		    || (len == 2 && c == 0xc2
		        && (unsigned char)s[i + 1] < 0xa0))
			putc('?', f);
		else
			fwrite(s + i, 1, len, f);
		i += len ? len : 1;
	}
}

static void
put_markup(FILE *f, const char *s)
{
	size_t n = strlen(s);

	for (size_t i = 0; i < n;) {
		size_t len = utf8_length(s + i, n - i);
		unsigned char c = (unsigned char)s[i];

		if (strchr("<>&\"'", c) || len == 0 || c < ' ')
			fprintf(f, "&#%u;", len == 0 || c < ' ' ? 0xfffdu : c);
		else
			fwrite(s + i, 1, len, f);
		i += len ? len : 1;
	}
}

struct out {
	FILE *f;
	void (*put)(FILE *f, const char *s);
	struct arena arena;
};

static double
percent(const struct diff *d, double ns)
{
	return d->a->cost ? 100 * ns / (double)d->a->cost : 0;
}

static const char *
signed_cost(int64_t ns, struct arena *a)
{
	return arena_printf(a, "%c%s", ns < 0 ? '-' : '+',
	    cost_text((cost_ns)(ns < 0 ? -ns : ns), a));
}

/* "4.812 ms -> 5.090 ms (+5.8 %, outside the noise of 1.9 %): slower" */
static const char *
headline(const struct diff *d, struct arena *a)
{
	uint64_t size = (uint64_t)(d->delta < 0 ? -d->delta : d->delta);

	if (d->a->cost == 0 && d->b->cost == 0)
		return "nothing to pay for in either: same";
	if (d->a->cost == 0)
		return arena_printf(a, "nothing -> %s (from nothing): %s",
		    cost_text(d->b->cost, a), verdict_word(d->verdict));
	return arena_printf(a,
	    "%s -> %s (%+.1f %%, %s the noise of %.1f %%%s): %s",
	    cost_text(d->a->cost, a), cost_text(d->b->cost, a),
	    percent(d, (double)d->delta),
	    size > d->noise ? "outside" : "inside",
	    percent(d, (double)d->noise),
	    size > d->noise && d->verdict == DIFF_SAME ? ", below the threshold"
	                                               : "",
	    verdict_word(d->verdict));
}

static bool
same_move(const struct diff *d, const struct move *x, const struct move *y)
{
	return d->a->composite[d->a->node[x->before].composite].target
	    == d->a->composite[d->a->node[y->before].composite].target
	    && d->b->composite[d->b->node[x->after].composite].target
	    == d->b->composite[d->b->node[y->after].composite].target
	    && strcmp(x->text, y->text) == 0;
}

/* A line of neighbouring nodes that moved the same way for the same reason;
 * the position after them. */
static uint32_t
put_moves(struct out *o, const struct diff *d, uint32_t i)
{
	const struct move *m = &d->move[i];
	uint32_t end = i + 1, shown;

	while (end < d->nmoves && same_move(d, m, &d->move[end]))
		end++;
	for (shown = i; shown < end && shown < i + 4; shown++) {
		fputs(shown > i ? ", " : "", o->f);
		o->put(o->f, d->a->node[d->move[shown].before].label);
	}
	if (shown < end)
		fprintf(o->f, " and %" PRIu32 " more", end - shown);
	fputs(": ", o->f);
	o->put(o->f,
	    d->a->target[d->a->composite[d->a->node[m->before].composite]
	                     .target]);
	fputs(" -> ", o->f);
	o->put(o->f,
	    d->b->target[d->b->composite[d->b->node[m->after].composite]
	                     .target]);
	fprintf(o->f, ", %s: ", reason_word(m->reason));
	o->put(o->f, m->text);
	return end;
}

static void
put_repriced(struct out *o, const struct diff *d, const struct repriced *r)
{
	const struct view_composite *x = &d->a->composite[r->before];
	const struct view_composite *y = &d->b->composite[r->after];
	uint32_t node = UINT32_MAX;

	for (uint32_t i = 0; i < d->a->nnodes; i++)
		if (d->a->node[i].composite == r->before) {
			node = i;
			break;
		}
	o->put(o->f, node == UINT32_MAX ? "?" : d->a->node[node].label);
	fputs(" (", o->f);
	o->put(o->f, x->rule);
	fputs(", ", o->f);
	o->put(o->f, x->implementation);
	fprintf(o->f, "): %s -> %s (%s)%s", cost_text(x->price.cost, &o->arena),
	    cost_text(y->price.cost, &o->arena),
	    signed_cost(r->delta, &o->arena),
	    (uint64_t)(r->delta < 0 ? -r->delta : r->delta)
	            <= x->price.noise + y->price.noise
	        ? ", inside its noise"
	        : "");
}

static const char *
counts(const struct diff *d, struct arena *a)
{
	return arena_printf(a,
	    "%" PRIu32 " of %" PRIu32 " node%s moved, %" PRIu32
	    " changed their implementation, %" PRIu32 " new, %" PRIu32
	    " gone; %" PRIu32 " composite%s as before at another price",
	    d->nmoves, d->a->nnodes, plural(d->a->nnodes), d->nways,
	    d->match.nadded, d->match.nremoved, d->nrepriced,
	    plural(d->nrepriced));
}

static const char *
parts(const struct diff *d, struct arena *a)
{
	const char *text = "";

	for (uint32_t t = 0; t < NTERMS; t++)
		text = arena_printf(a, "%s%s%s %s", text, t ? ", " : "",
		    term_words(t),
		    signed_cost(
		        (int64_t)d->b->term[t] - (int64_t)d->a->term[t], a));
	return text;
}

/* "new: Conv_3 (Conv) on dnnl, ..." */
static void
put_unmatched(struct out *o, const char *word, const struct result_view *s,
    const uint32_t *match, uint32_t n)
{
	uint32_t shown = 0;

	fprintf(o->f, "%s: ", word);
	for (uint32_t i = 0; i < s->nnodes && shown < NAMES; i++) {
		const struct view_node *node = &s->node[i];

		if (match[i] != NO_MATCH)
			continue;
		fputs(shown++ ? ", " : "", o->f);
		o->put(o->f, node->label);
		fputs(" (", o->f);
		o->put(o->f, node->op_type);
		fputs(") on ", o->f);
		o->put(o->f, s->target[s->composite[node->composite].target]);
	}
	if (n > shown)
		fprintf(o->f, " and %" PRIu32 " more", n - shown);
}

/* Nodes only one of them has, and those that were matched without a name. */
static void
put_versions(
    struct out *o, const struct diff *d, const char *open, const char *close)
{
	const struct nodes_match *m = &d->match;

	if (m->nadded) {
		fputs(open, o->f);
		put_unmatched(o, "new", d->b, m->of_b, m->nadded);
		fputs(close, o->f);
	}
	if (m->nremoved) {
		fputs(open, o->f);
		put_unmatched(o, "gone", d->a, m->of_a, m->nremoved);
		fputs(close, o->f);
	}
	if (m->renamed)
		fprintf(o->f,
		    "%srenamed, and matched by where they lie: %" PRIu32
		    " node%s%s",
		    open, m->renamed, plural(m->renamed), close);
}

/* The lists, each line between `open` and `close`. */
static void
put_lists(struct out *o, const struct diff *d, uint32_t limit, const char *open,
    const char *close)
{
	uint32_t lines = 0;

	put_versions(o, d, open, close);
	for (uint32_t i = 0; i < d->nmoves;) {
		if (lines++ == limit) {
			fprintf(o->f, "%s... and %" PRIu32 " more node%s%s",
			    open, d->nmoves - i, plural(d->nmoves - i), close);
			break;
		}
		fputs(open, o->f);
		i = put_moves(o, d, i);
		fputs(close, o->f);
	}
	for (uint32_t i = 0; i < d->nrepriced && i < limit; i++) {
		fputs(open, o->f);
		put_repriced(o, d, &d->repriced[i]);
		fputs(close, o->f);
	}
	for (uint32_t i = 0; i < d->nfacts; i++) {
		fputs(open, o->f);
		o->put(o->f, d->fact[i]);
		fputs(close, o->f);
	}
}

/* Of what both are proven among, where that is not all there could be. */
static void
put_among(struct out *o, const struct result_view *r, const char *which)
{
	if (r->proven && r->among_regions)
		fprintf(o->f, "; %s is proven among %" PRIu32 " region%s",
		    which, r->among_regions, plural(r->among_regions));
}

/* Of what the two are: other models, which kinds of prices, what is not proven. */
static void
put_kinds(struct out *o, const struct diff *d)
{
	const struct result_view *a = d->a, *b = d->b;

	if (strcmp(a->model, b->model) != 0) {
		fputs("different models: ", o->f);
		o->put(o->f, a->model);
		fputs(" and ", o->f);
		o->put(o->f, b->model);
		fputs("; ", o->f);
	}
	fputs("prices: ", o->f);
	o->put(o->f, a->nsources ? a->sources : "none");
	if (strcmp(a->sources, b->sources) != 0) {
		fputs(" against ", o->f);
		o->put(o->f, b->nsources ? b->sources : "none");
	}
	if (!a->proven || !b->proven)
		fprintf(o->f, "; not proven optimal: %s",
		    a->proven       ? "the second"
		        : b->proven ? "the first"
		                    : "both");
	put_among(o, a, "the first");
	put_among(o, b, "the second");
}

void
diff_text(FILE *f, const struct diff *d, bool all)
{
	struct out o = {.f = f, .put = put_plain};

	arena_init(&o.arena);
	put_plain(f, d->a->path);
	fputs(" -> ", f);
	put_plain(f, d->b->path);
	fputs(" (", f);
	put_kinds(&o, d);
	fprintf(f, ")\ntotal %s\n  %s\n  %s\n", headline(d, &o.arena),
	    parts(d, &o.arena), counts(d, &o.arena));
	put_lists(&o, d, all ? UINT32_MAX : LINES, "  ", "\n");
	arena_release(&o.arena);
}

void
diffs_table(FILE *f, const struct diff *d, uint32_t n)
{
	struct arena a;

	arena_init(&a);
	fprintf(f, "%12s  %9s  %9s  %7s  %6s  %s\n", "total", "change", "noise",
	    "", "moved", "result");
	fprintf(f, "%12s  %9s  %9s  %7s  %6s  ", cost_text(d->a->cost, &a), "",
	    "", "", "");
	put_plain(f, d->a->path);
	for (uint32_t i = 0; i < n; i++) {
		const char *change = d->a->cost == 0 && d[i].b->cost > 0
		    ? "from 0"
		    : arena_printf(
		        &a, "%+.1f%%", percent(&d[i], (double)d[i].delta));

		fprintf(f, "\n%12s  %9s  %8.1f%%  %7s  %6" PRIu32 "  ",
		    cost_text(d[i].b->cost, &a), change,
		    percent(&d[i], (double)d[i].noise),
		    verdict_word(d[i].verdict), d[i].nmoves);
		put_plain(f, d[i].b->path);
	}
	fputs("\n\n", f);
	arena_release(&a);
}

static void
html_table(struct out *o, const struct diff *d, uint32_t n)
{
	fprintf(o->f,
	    "<table><tr><th>result<th>total<th>change<th>noise<th>verdict"
	    "<th>moved</tr>\n<tr><td>");
	o->put(o->f, d->a->path);
	fprintf(o->f, "<td>%s<td><td><td><td></tr>\n",
	    cost_text(d->a->cost, &o->arena));
	for (uint32_t i = 0; i < n; i++) {
		fputs("<tr><td>", o->f);
		o->put(o->f, d[i].b->path);
		fprintf(o->f,
		    "<td>%s<td>%+.1f %%<td>%.1f %%<td class=\"%s\">%s<td>%" PRIu32
		    "</tr>\n",
		    cost_text(d[i].b->cost, &o->arena),
		    percent(&d[i], (double)d[i].delta),
		    percent(&d[i], (double)d[i].noise),
		    verdict_word(d[i].verdict), verdict_word(d[i].verdict),
		    d[i].nmoves);
	}
	fputs("</table>\n", o->f);
}

void
diffs_html(FILE *f, const struct diff *d, uint32_t n)
{
	struct out o = {.f = f, .put = put_markup};

	arena_init(&o.arena);
	fputs(
	    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
	    "charset=\"utf-8\"><title>marq compare</title>\n<style>:root{"
	    "color-scheme:light dark}body{font:14px/1.5 system-ui,sans-serif;"
	    "max-width:70rem;margin:2rem auto;padding:0 1rem}h2{overflow-wrap:"
	    "anywhere;font-size:1.1rem;margin-top:2rem}.slower{color:#d55e00}"
	    ".faster{color:#009e73}li{overflow-wrap:anywhere}table{border-collapse:"
	    "collapse}td,th{padding:.2rem .8rem;text-align:right;border-bottom:"
	    "1px solid #8884}td:first-child,th:first-child{text-align:left}"
	    "</style></head>"
	    "<body>\n<h1>Compared with ",
	    f);
	put_markup(f, d->a->path);
	fputs("</h1>\n", f);
	html_table(&o, d, n);
	for (uint32_t i = 0; i < n; i++) {
		fputs("<h2>", f);
		put_markup(f, d[i].b->path);
		fprintf(f, "</h2>\n<p class=\"%s\"><b>",
		    verdict_word(d[i].verdict));
		put_markup(f, headline(&d[i], &o.arena));
		fprintf(f, "</b></p>\n<p>%s<br>%s<br>", parts(&d[i], &o.arena),
		    counts(&d[i], &o.arena));
		put_kinds(&o, &d[i]);
		fputs("</p>\n<ul>\n", f);
		put_lists(&o, &d[i], UINT32_MAX, "<li>", "</li>\n");
		fputs("</ul>\n", f);
	}
	fputs("</body></html>\n", f);
	arena_release(&o.arena);
}
