#include "emit/page.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "emit/assets.h"
#include "emit/draw.h"
#include "ir/base/jsonin.h"

/* TUNING: dot takes 0.4 s for 1,000 regions and 20 s for 4,000 */
#define DRAWN_REGIONS 1500

/* JSON without its white space, with nothing in it that HTML could take for
 * markup. '<', '>' and '&' only occur inside strings. */
static void
put_json(FILE *f, const struct page_text *t)
{
	bool inside = false;

	for (size_t i = 0; i < t->n; i++) {
		char c = t->text[i];

		if (inside && c == '\\' && i + 1 < t->n) {
			putc(c, f);
			c = t->text[++i];
		} else if (c == '"') {
			inside = !inside;
		} else if (!inside
		    && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
			continue;
		}
		if (c == '<' || c == '>' || c == '&')
			fprintf(f, "\\u%04x", (unsigned)c);
		else
			putc(c, f);
	}
}

static void
put_reason(FILE *f, const char *why)
{
	fprintf(f, "<p class=\"soft\">No drawing: %s.</p>", why);
}

/* The drawing holds names from the model: graphviz escaped them, and a drawing
 * that could do anything is left out all the same. */
static void
put_graph(FILE *f, const cJSON *result)
{
	const cJSON *plan = cJSON_GetObjectItem(result, "plan");
	const cJSON *regions = cJSON_GetObjectItem(plan, "regions");
	const char *why = "there are too many regions";
	struct buf svg;
	char *dot = NULL;
	size_t n = 0;
	bool drawn = cJSON_GetArraySize(regions) <= DRAWN_REGIONS;

	buf_init(&svg);
	if (drawn) {
		FILE *d = open_memstream(&dot, &n);

		page_dot(d, result);
		fclose(d);
		drawn = draw_svg(&svg, dot, n, &why);
		free(dot);
	}
	if (drawn
	    && (strstr(svg.data, "<script") || strstr(svg.data, "href"))) {
		why = "its text could be taken for markup";
		drawn = false;
	}
	if (drawn)
		fwrite(svg.data, 1, svg.n, f);
	else
		put_reason(f, why);
	buf_release(&svg);
}

struct parsed {
	struct cJSON *result, *map, *provenance, *alternatives;
};

static bool
parse_docs(struct parsed *p, const struct page_docs *d, struct err *err)
{
	const struct {
		struct cJSON **doc;
		const struct page_text *text;
		const char *name;
	} all[] = {{&p->result, &d->result, "result.json"},
	    {&p->map, &d->map, "map.json"},
	    {&p->provenance, &d->provenance, "provenance.json"},
	    {&p->alternatives, &d->alternatives, "alternatives.json"}};

	for (size_t i = 0; i < 4; i++) {
		if (!all[i].text->text)
			continue;
		*all[i].doc = jsonin_parse(
		    all[i].text->text, all[i].text->n, all[i].name, err);
		if (!*all[i].doc)
			return false;
	}
	return page_check(p->result, p->map, err);
}

static void
put_part(FILE *f, const char *name, size_t n, const struct page_docs *d,
    const struct parsed *p)
{
	static const struct page_text none = {"null", 4};
	const struct {
		const char *name;
		const struct page_text *text;
	} docs[] = {{"result", &d->result}, {"map", &d->map},
	    {"provenance", &d->provenance},
	    {"alternatives", d->alternatives.text ? &d->alternatives : &none}};

	if (strncmp(name, "css", n) == 0)
		fwrite(asset_report_css, 1, asset_report_css_size, f);
	else if (strncmp(name, "js", n) == 0)
		fwrite(asset_report_js, 1, asset_report_js_size, f);
	else if (strncmp(name, "graph", n) == 0)
		put_graph(f, p->result);
	for (size_t i = 0; i < 4; i++)
		if (strncmp(name, docs[i].name, n) == 0)
			put_json(f, docs[i].text);
}

/* The template with every @name@ replaced; its own text has no other @. */
static void
put_page(FILE *f, const struct page_docs *d, const struct parsed *p)
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
		put_part(f, at + 1, (size_t)(close - at - 1), d, p);
		s = close + 1;
	}
}

bool
page_write(FILE *f, const struct page_docs *d, struct err *err)
{
	struct parsed p = {NULL};
	bool ok = parse_docs(&p, d, err);

	if (ok)
		put_page(f, d, &p);
	jsonin_close(p.result);
	jsonin_close(p.map);
	jsonin_close(p.provenance);
	jsonin_close(p.alternatives);
	return ok;
}
