#include "emit/report/page.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "emit/report/assets.h"
#include "emit/report/name.h"
#include "emit/report/sections.h"
#include "emit/report/text.h"
#include "ir/base/jsonin.h"
#include "ir/base/memory.h"

/* JSON with nothing in it that HTML could take for markup: '<', '>' and '&'
 * only occur inside strings. */
static void
put_data(FILE *f, const struct page_facts *p)
{
	char *text = NULL;
	size_t n;
	FILE *m = memory_stream(&text, &n);

	put_graph_data(m, p);
	memory_stream_close(m);
	for (size_t i = 0; i < n; i++)
		if (text[i] == '<' || text[i] == '>' || text[i] == '&')
			fprintf(f, "\\u%04x", (unsigned)text[i]);
		else
			putc(text[i], f);
	free(text);
}

static void
put_title(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;

	html(f, "%s on ", v->title);
	for (uint32_t t = 0; t < v->ntargets; t++)
		html(f, "%r%s", t ? " + " : "", v->target[t].text);
	html(f, ": %t", v->total);
}

static void
put_mix(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;

	html(f, "<h1>%s <span class=mix>on ", v->title);
	for (uint32_t t = 0; t < v->ntargets; t++)
		html(f, "<span class=tk>%i%s</span> ", v->target[t].kind,
		    v->target[t].text);
	html(f, "</span></h1>");
}

static void
put_nav(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	const struct {
		const char *id, *name;
		bool there;
	} link[] = {{"overview", "Overview", true}, {"graph", "Graph", true},
	    {"operators", "Operators", true}, {"modules", "Modules", true},
	    {"lines", "Lines", v->has_lines}, {"regions", "Regions", true},
	    {"refused", "Why not", v->has_others},
	    {"assumptions", "What if", p->assumed.n > 0},
	    {"compared", "Compared", true},
	    {"environment", "Environment", true}};

	for (size_t i = 0; i < sizeof link / sizeof link[0]; i++)
		if (link[i].there)
			html(f, "<a href=\"#%r\">%r</a>", link[i].id,
			    link[i].name);
}

static void
put_css(FILE *f, const struct page_facts *p)
{
	(void)p;
	fwrite(asset_report_css, 1, asset_report_css_size, f);
}

static void
put_js(FILE *f, const struct page_facts *p)
{
	(void)p;
	fwrite(asset_graph_js, 1, asset_graph_js_size, f);
	fwrite(asset_report_js, 1, asset_report_js_size, f);
}

/* What the template calls by name, between two @. */
static const struct page_part {
	const char *name;
	void (*put)(FILE *f, const struct page_facts *p);
} parts[] = {
    {"css", put_css},
    {"title", put_title},
    {"mix", put_mix},
    {"nav", put_nav},
    {"verdict", put_verdict},
    {"trust", put_trust},
    {"notes", put_notes},
    {"where", put_where},
    {"timeline", put_timeline},
    {"costliest", put_costliest},
    {"left", put_left},
    {"decides", put_decides},
    {"next", put_next},
    {"graph", put_graph},
    {"operators", put_operators},
    {"modules", put_modules},
    {"lines", put_lines},
    {"regions", put_regions},
    {"refused", put_refused},
    {"assumptions", put_assumptions},
    {"compared", put_compared},
    {"environment", put_environment},
    {"data", put_data},
    {"js", put_js},
};

static void
put_part(FILE *f, const char *name, size_t n, const struct page_facts *p)
{
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		if (strlen(parts[i].name) == n
		    && strncmp(parts[i].name, name, n) == 0)
			parts[i].put(f, p);
}

/* The template with every @name@ replaced; its own text has no other @. */
static void
put_page(FILE *f, const struct page_facts *p)
{
	const char *s = (const char *)asset_report_html;
	const char *end = s + asset_report_html_size;

	while (s < end) {
		const char *at = memchr(s, '@', (size_t)(end - s)), *close;

		if (!at) {
			fwrite(s, 1, (size_t)(end - s), f);
			return;
		}
		fwrite(s, 1, (size_t)(at - s), f);
		close = memchr(at + 1, '@', (size_t)(end - at - 1));
		put_part(f, at + 1, (size_t)(close - at - 1), p);
		s = close + 1;
	}
}

static void
facts_init(struct page_facts *p, const struct page_view *v)
{
	*p = (struct page_facts){.v = v, .accelerator = accelerator_of(v)};
	assumptions_init(&p->assumed, v);
	p->causes = arena_new(v->arena, struct causes, v->ntargets);
	for (uint32_t t = 0; t < v->ntargets; t++)
		if (!v->target[t].is_host)
			causes_init(&p->causes[t], v, t);
}

bool
page_write(FILE *f, const struct page_docs *d, struct err *err)
{
	struct page_view v;
	struct page_facts p;
	struct arena a;
	bool ok;

	if (!page_docs_check(d, err))
		return false;
	arena_init(&a);
	ok = page_view_init(&v, d, &a, err);
	if (ok) {
		name_result(&v);
		facts_init(&p, &v);
		put_page(f, &p);
	}
	arena_release(&a);
	return ok;
}
