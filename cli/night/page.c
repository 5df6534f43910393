/* summary.html: totals first, then what to look at, then all the rest. */
#include "cli/night/page.h"

#include <string.h>

#include "cli/night/assets.h"
#include "cli/night/happened.h"
#include "cli/night/html.h"
#include "cli/night/words.h"

/* TUNING: nights in the table; index.html has all. */
#define NIGHTS_SHOWN 30u
/* TUNING: findings of one kind before the rest is folded. */
#define SHOWN_OF_KIND 4u

void
page_begin(const struct night_page *p, const char *title)
{
	fprintf(p->f,
	    "<!doctype html>\n<html lang=en><head><meta charset=utf-8>"
	    "<meta name=viewport content=\"width=device-width,initial-scale=1\">"
	    "<title>%s</title><style>\n",
	    escaped(title, p->s->a));
	fwrite(asset_night_css, 1, asset_night_css_size, p->f);
	fputs("</style></head><body>\n", p->f);
	fwrite(asset_kinds_svg, 1, asset_kinds_svg_size, p->f);
}

void
page_end(const struct night_page *p)
{
	fputs("</main><script>\n", p->f);
	fwrite(asset_night_js, 1, asset_night_js_size, p->f);
	fputs("</script></body></html>\n", p->f);
}

void
page_command(const struct night_page *p, const char *command)
{
	fprintf(p->f, "<div class=cmd><code tabindex=0>%s</code></div>",
	    escaped(command, p->s->a));
}

/* ---- totals ---- */

static uint32_t
mentioned(const struct summary *s)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < s->night->nunits; i++)
		for (uint32_t k = 0; k < s->findings.n; k++)
			if (s->findings.item[k].unit == i) {
				n++;
				break;
			}
	return n;
}

static void
put_rest(const struct night_page *p)
{
	const struct summary *s = p->s;
	const uint32_t known = mentioned(s) + s->left;

	if (s->night->nunits > known)
		fprintf(p->f, "%s %u %s", known ? "; the other" : ": all",
		    s->night->nunits - known,
		    s->at ? "as the night before" : "as they should be");
}

static void
put_totals(const struct night_page *p)
{
	const struct summary *s = p->s;
	const char *between = ": ";

	fprintf(p->f,
	    "<p class=verdict><b class=big>%u of %u searches</b> done", s->done,
	    s->night->nunits);
	for (int i = 0; i < NEVENTS; i++) {
		if (s->findings.count[i] == 0)
			continue;
		fprintf(p->f, "%s<b>%u %s</b>", between, s->findings.count[i],
		    event_counted((enum event)i));
		between = ", ";
	}
	if (s->left)
		fprintf(p->f, "%s<b>%u not run</b>", between, s->left);
	put_rest(p);
	if (s->took_ms == 0)
		fputs(". Nothing had to be run again.</p>\n", p->f);
	else
		fprintf(p->f, ". %llu prices measured, %llu reused, %s.</p>\n",
		    (unsigned long long)s->measured,
		    (unsigned long long)s->reused, long_time(s->took_ms, s->a));
}

static void
put_happened(const struct night_page *p)
{
	const char *text = night_happened(p->s->history, p->s->at, p->s->a);

	if (text[0])
		fprintf(p->f,
		    "<p class=happened role=note><b>This night:</b> "
		    "%s.</p>\n",
		    escaped(text, p->s->a));
}

/* ---- what to look at ---- */

static void
put_finding(const struct night_page *p, const struct finding *x)
{
	const char *name = escaped(p->s->night->unit[x->unit].name, p->s->a);

	fprintf(p->f,
	    "<li class=\"f %s\"><span class=sev>%s</span>"
	    "<a href=\"#u-%s\"><b>%s</b></a><span class=what>%s. "
	    "<span class=\"why mut\">%s</span></span>",
	    event_class(x->kind), event_word(x->kind), name, name,
	    escaped(x->what, p->s->a), escaped(x->why, p->s->a));
	page_command(p, x->command);
	fputs("</li>\n", p->f);
}

/* Many of one kind, say after a library changed, are folded behind the first. */
static uint32_t
put_kind(const struct night_page *p, uint32_t from)
{
	const struct night_findings *f = &p->s->findings;
	const uint32_t n = f->count[f->item[from].kind];
	const uint32_t shown = n > SHOWN_OF_KIND + 1 ? SHOWN_OF_KIND : n;

	for (uint32_t i = 0; i < shown; i++)
		put_finding(p, &f->item[from + i]);
	if (shown == n)
		return n;
	fprintf(p->f,
	    "<li class=more><details><summary>%s: %u more</summary><ol "
	    "class=look>\n",
	    event_word(f->item[from].kind), n - shown);
	for (uint32_t i = shown; i < n; i++)
		put_finding(p, &f->item[from + i]);
	fputs("</ol></details></li>\n", p->f);
	return n;
}

static void
put_findings(const struct night_page *p)
{
	const struct night_findings *f = &p->s->findings;

	fputs("<section id=look><h2>Look at these</h2><ol class=look>\n", p->f);
	for (uint32_t i = 0; i < f->n;)
		i += put_kind(p, i);
	if (f->n == 0)
		fputs(p->s->at ? "<li>Nothing: all as the night before.</li>"
		               : "<li>Nothing: this is the first night.</li>",
		    p->f);
	fputs("</ol></section>\n", p->f);
}

/* ---- all of it ---- */

static void
put_header(const struct night_page *p)
{
	const char *up = p->is_kept ? "../" : "";
	const struct summary *s = p->s;

	fprintf(p->f,
	    "<a class=skip href=#look>Skip to content</a><header>"
	    "<h1>%s <span class=mut>night %u, %s</span></h1>"
	    "<nav aria-label=Sections><a href=#look>Look at these</a>"
	    "<a href=#matrix>Models × mixes</a><a href=#nights>Nights</a>"
	    "<a href=#measured>Measured</a>",
	    escaped(s->manifest, s->a), s->night->number,
	    night_date(s->night->began, s->a));
	if (!p->is_kept)
		fputs("<a href=summary.json>JSON</a><a href=summary.csv>CSV"
		      "</a>",
		    p->f);
	fprintf(p->f,
	    "<a href=\"%sindex.html\">All nights</a></nav></header>"
	    "<main>\n",
	    up);
}

static bool
put_page(FILE *f, const struct summary *s, bool is_kept)
{
	const struct night_page p = {f, s, is_kept};

	page_begin(&p,
	    arena_printf(s->a,
	        "Night %u, %s: %u of %u done, %u failed, %u "
	        "costlier",
	        s->night->number, night_date(s->night->began, s->a), s->done,
	        s->night->nunits, s->failed,
	        s->findings.count[EVENT_REGRESSED]));
	put_header(&p);
	put_totals(&p);
	put_happened(&p);
	put_findings(&p);
	page_matrix(&p);
	page_nights(&p, NIGHTS_SHOWN);
	page_measured(&p);
	page_end(&p);
	return true;
}

bool
write_summary_page(FILE *f, void *context, struct err *err)
{
	(void)err;
	return put_page(f, context, false);
}

bool
write_night_page(FILE *f, void *context, struct err *err)
{
	(void)err;
	return put_page(f, context, true);
}

bool
write_index_page(FILE *f, void *context, struct err *err)
{
	const struct summary *s = context;
	const struct night_page p = {f, s, false};

	(void)err;
	page_begin(&p, arena_printf(s->a, "All nights of %s", s->manifest));
	fprintf(f,
	    "<header><h1>All nights <span class=mut>of %s</span></h1>"
	    "<nav aria-label=Pages><a href=summary.html>The last one</a></nav>"
	    "</header><main>\n",
	    escaped(s->manifest, s->a));
	page_nights(&p, s->history->n);
	page_end(&p);
	return true;
}
