#include "emit/page.h"

#include <cJSON.h>
#include <stdlib.h>
#include <string.h>

#include "emit/assets.h"
#include "emit/draw.h"
#include "ir/base/jsonin.h"
#include "ir/base/map.h"
#include "ir/base/memory.h"

/* TUNING: dot takes 0.4 s for 1,000 regions and 20 s for 4,000 */
#define DRAWN_REGIONS 1000

/* A document with nothing in it that HTML could take for markup. '<', '>' and
 * '&' only occur inside strings. */
static void
put_json(FILE *f, const cJSON *doc)
{
	char *text = doc ? cJSON_PrintUnformatted(doc) : NULL;

	for (const char *s = text ? text : "null"; *s; s++) {
		if (*s == '<' || *s == '>' || *s == '&')
			fprintf(f, "\\u%04x", (unsigned)*s);
		else
			putc(*s, f);
	}
	cJSON_free(text);
}

/* The drawing holds names from the model: graphviz escaped them, and a drawing
 * that could do anything is left out all the same. */
static void
draw_graph(struct buf *svg, const cJSON *result)
{
	const cJSON *plan = cJSON_GetObjectItem(result, "plan");
	const cJSON *regions = cJSON_GetObjectItem(plan, "regions");
	const char *why = "there are too many regions";
	char *dot = NULL;
	size_t n = 0;
	bool drawn = cJSON_GetArraySize(regions) <= DRAWN_REGIONS;

	buf_init(svg);
	if (drawn) {
		FILE *d = memory_stream(&dot, &n);

		page_dot(d, result);
		memory_stream_close(d);
		drawn = draw_svg(svg, dot, n, &why);
		free(dot);
	}
	if (drawn
	    && (strstr(svg->data, "<script") || strstr(svg->data, "href"))) {
		why = "its text could be taken for markup";
		drawn = false;
	}
	if (drawn)
		return;
	buf_release(svg);
	buf_printf(svg, "<p class=\"soft\">No drawing: %s.</p>", why);
}

struct parsed {
	struct cJSON *result, *map, *provenance, *alternatives;
	struct buf graph; /* the drawing, or why there is none */
};

static void
drop(cJSON *list, const char *const *key)
{
	cJSON *entry;

	cJSON_ArrayForEach(entry, list) for (const char *const *k = key; *k;
	                                     k++)
	    cJSON_DeleteItemFromObjectCaseSensitive(entry, *k);
}

/* Networks repeat themselves: what `key` of each entry holds moves to a list of
 * distinct ones, "shared" of `doc`, and a position in it stays. */
static void
share(cJSON *doc, cJSON *list, const char *key, struct arena *a)
{
	cJSON *shared = cJSON_GetObjectItemCaseSensitive(doc, "shared"), *entry;
	uint32_t n = (uint32_t)cJSON_GetArraySize(shared);
	struct map seen;

	map_init(&seen, a);
	cJSON_ArrayForEach(entry, list)
	{
		cJSON *part =
		    cJSON_DetachItemFromObjectCaseSensitive(entry, key);
		uint32_t at;
		char *text;

		if (!part)
			continue;
		text = cJSON_PrintUnformatted(part);
		at = map_add(&seen, arena_str(a, text), strlen(text), n);
		cJSON_free(text);
		if (at == n) {
			cJSON_AddItemToArray(shared, part);
			n++;
		} else {
			cJSON_Delete(part);
		}
		cJSON_AddNumberToObject(entry, key, at);
	}
}

/* What almost every entry says goes without saying. */
static void
drop_usual(cJSON *list, const char *key, const char *usual)
{
	cJSON *entry;

	cJSON_ArrayForEach(entry, list)
	{
		const char *is = cJSON_GetStringValue(
		    cJSON_GetObjectItemCaseSensitive(entry, key));

		if (is && strcmp(is, usual) == 0)
			cJSON_DeleteItemFromObjectCaseSensitive(entry, key);
	}
}

static void
share_all(struct parsed *p)
{
	cJSON *plan = cJSON_GetObjectItem(p->result, "plan");
	struct arena a;

	cJSON_DeleteItemFromObjectCaseSensitive(p->result, "shared");
	cJSON_AddArrayToObject(p->result, "shared");
	cJSON_DeleteItemFromObjectCaseSensitive(p->alternatives, "shared");
	cJSON_AddArrayToObject(p->alternatives, "shared");
	arena_init(&a);
	share(p->result, cJSON_GetObjectItem(plan, "composites"), "price", &a);
	share(p->alternatives,
	    cJSON_GetObjectItem(p->alternatives, "composites"), "others", &a);
	share(p->alternatives, cJSON_GetObjectItem(p->alternatives, "refusals"),
	    "failed", &a);
	arena_release(&a);
}

/* Leave out what the page does not show or can work out: most of a large
 * result. */
static void
trim(struct parsed *p)
{
	static const char *const ports[] = {
	    "inputs", "outputs", "node_ids", "nodes", NULL};
	static const char *const of_node[] = {
	    "id", "ref", "onnx", "op_type", NULL};
	static const char *const of_onnx[] = {"id", "domain", NULL};
	static const char *const of_price[] = {
	    "id", "source", "samples", "detail", NULL};
	static const char *const id[] = {"id", "count", NULL};
	static const char *const of_map[] = {
	    "nodes", "region", "target", "rule", NULL};
	cJSON *plan = cJSON_GetObjectItem(p->result, "plan");

	drop(cJSON_GetObjectItem(plan, "composites"), ports);
	drop(cJSON_GetObjectItem(plan, "regions"), ports);
	cJSON_DeleteItemFromObjectCaseSensitive(p->result, "nodes");
	drop(cJSON_GetObjectItem(p->map, "nodes"), of_node);
	drop(cJSON_GetObjectItem(p->map, "onnx"), of_onnx);
	drop_usual(cJSON_GetObjectItem(p->map, "onnx"), "fate", "covered");
	drop_usual(cJSON_GetObjectItem(p->map, "onnx"), "graph", "");
	drop(cJSON_GetObjectItem(p->provenance, "composites"), of_price);
	drop(cJSON_GetObjectItem(p->alternatives, "composites"), id);
	share_all(p);
	drop(cJSON_GetObjectItem(p->map, "composites"), of_map);
}

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
put_part(FILE *f, const char *name, size_t n, const struct parsed *p)
{
	const struct {
		const char *name;
		const cJSON *doc;
	} docs[] = {{"result", p->result}, {"map", p->map},
	    {"provenance", p->provenance}, {"alternatives", p->alternatives}};

	if (strncmp(name, "css", n) == 0)
		fwrite(asset_report_css, 1, asset_report_css_size, f);
	else if (strncmp(name, "js", n) == 0)
		fwrite(asset_report_js, 1, asset_report_js_size, f);
	else if (strncmp(name, "graph", n) == 0)
		fwrite(p->graph.data, 1, p->graph.n, f);
	for (size_t i = 0; i < 4; i++)
		if (strncmp(name, docs[i].name, n) == 0)
			put_json(f, docs[i].doc);
}

/* The template with every @name@ replaced; its own text has no other @. */
static void
put_page(FILE *f, const struct parsed *p)
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

bool
page_write(FILE *f, const struct page_docs *d, struct err *err)
{
	struct parsed p = {NULL};
	bool ok = parse_docs(&p, d, err);

	if (ok) {
		draw_graph(&p.graph, p.result);
		trim(&p);
		put_page(f, &p);
		buf_release(&p.graph);
	}
	jsonin_close(p.result);
	jsonin_close(p.map);
	jsonin_close(p.provenance);
	jsonin_close(p.alternatives);
	return ok;
}
