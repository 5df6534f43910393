/* The documents of a result, as the page takes them: lists that grow with the model
 * are read item by item, or not at all; trees of them would be more than all else
 * that a search has in memory. */
#include "emit/report/page.h"

#include <cJSON.h>

#include "emit/report/view.h"
#include "ir/base/jsonin.h"
#include "ir/base/jsonlist.h"

/* Nobody looks at any but the first two. */
enum { ONNX, NODES, COMPOSITES, INITIALISERS, FAILURES, NLISTS };

const char *
page_doc_name(enum page_doc which)
{
	static const char *const name[NPAGE_DOCS] = {
	    "result.json", "map.json", "provenance.json", "alternatives.json"};

	return name[which];
}

/* Where each ONNX node is, or NULL. */
static const struct page_place *
read_onnx(
    struct jsonlist *l, int n, int nnodes, struct arena *a, struct err *err)
{
	struct page_place *place = arena_new(a, struct page_place, (size_t)n);
	const cJSON *item;

	for (int i = 0; jsonlist_next(l, &item, err); i++) {
		if (!item)
			return place;
		if (!page_check_onnx(item, n, nnodes, err)) {
			err_in(err, "onnx[%d]", i);
			break;
		}
		place[i].scope = doc_index(item, "scope", UINT32_MAX);
		place[i].line = doc_index(item, "line", UINT32_MAX);
	}
	return NULL;
}

static bool
read_nodes(struct page_docs *d, struct jsonlist *l, int ncomposites,
    const struct page_place *onnx, uint32_t nonnx, struct err *err)
{
	const cJSON *item;

	for (uint32_t i = 0; jsonlist_next(l, &item, err); i++) {
		uint32_t from;

		if (!item)
			return true;
		if (!page_check_node(item, ncomposites, err))
			return err_in(err, "nodes[%u]", i);
		from = doc_index(cJSON_GetArrayItem(doc_field(item, "onnx"), 0),
		    "id", nonnx);
		d->place[i] = from == PAGE_NONE
		    ? (struct page_place){PAGE_NONE, PAGE_NONE}
		    : onnx[from];
	}
	return false;
}

static bool
read_places(struct page_docs *d, struct jsonlist *list, struct err *err)
{
	const cJSON *map = d->doc[PAGE_MAP];
	const cJSON *composites =
	    doc_field(doc_field(d->doc[PAGE_RESULT], "plan"), "composites");
	const struct page_place *onnx;
	uint32_t n;

	if (!jsonlist_begin(&list[ONNX], map, &n, err)
	    || !jsonlist_begin(&list[NODES], map, &d->nplaces, err))
		return false;
	d->place = arena_new(&d->a, struct page_place, d->nplaces);
	onnx = read_onnx(&list[ONNX], (int)n, (int)d->nplaces, &d->a, err);
	return onnx
	    && read_nodes(
	        d, &list[NODES], cJSON_GetArraySize(composites), onnx, n, err);
}

/* What it says is of a result's composites. */
static bool
read_map(struct page_docs *d, struct jsonlist *list, struct err *err)
{
	return page_check(d->doc[PAGE_RESULT], NULL, err)
	    && (read_places(d, list, err) || err_in(err, "map.json"));
}

bool
page_docs_take(struct page_docs *d, enum page_doc which, const char *text,
    size_t n, struct err *err)
{
	static const uint32_t nlists[NPAGE_DOCS] = {
	    [PAGE_MAP] = NLISTS, [PAGE_PROVENANCE] = NLISTS};
	struct jsonlist list[NLISTS] = {[ONNX] = {.key = "onnx"},
	    [NODES] = {.key = "nodes"},
	    [COMPOSITES] = {.key = "composites"},
	    [INITIALISERS] = {.key = "initialisers"},
	    [FAILURES] = {.key = "failures"}};
	bool ok;

	d->doc[which] = jsonlist_parse(
	    list, nlists[which], text, n, page_doc_name(which), err);
	ok = d->doc[which] && (which != PAGE_MAP || read_map(d, list, err));
	for (uint32_t i = 0; i < nlists[which]; i++)
		jsonlist_close(&list[i]);
	return ok;
}

void
page_docs_give(struct page_docs *d, enum page_doc which, struct cJSON *doc)
{
	d->doc[which] = doc;
	d->is_lent[which] = true;
}

void
page_docs_give_places(struct page_docs *d, struct page_place *place, uint32_t n)
{
	d->place = place;
	d->nplaces = n;
}

/* Of the lists that were read item by item nothing is left to be looked at. */
bool
page_docs_check(const struct page_docs *d, struct err *err)
{
	return page_check(d->doc[PAGE_RESULT], d->doc[PAGE_MAP], err);
}

void
page_docs_close(struct page_docs *d)
{
	for (size_t i = 0; i < NPAGE_DOCS; i++)
		if (!d->is_lent[i])
			jsonin_close(d->doc[i]);
	arena_release(&d->a);
	*d = (struct page_docs){.doc = {NULL}};
}
