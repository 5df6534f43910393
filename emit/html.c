/* report.html of a plan: the page over its documents, made for it as trees. What would
 * be in their files and the page does not look at is left out. */
#include "emit/report/page.h"
#include "emit/scopes.h"
#include "emit/writers.h"
#include "ir/base/json_tree.h"

typedef bool (*writer)(FILE *f, const struct emit_work *w, struct err *err);

/* Where the nodes of the graph are: where the first ONNX node of each is. */
static struct page_place *
places_of(const struct emit_work *w, struct arena *a)
{
	const struct graph *g = w->graph;
	const uint32_t n = g->origin_table ? g->origin_table->n : 0;
	struct page_place *place = arena_new(a, struct page_place, g->nnodes);
	struct scopes s;

	scopes_init(&s, g->origin_table, a);
	for (node_id i = 0; i < g->nnodes; i++) {
		const struct node *node = &g->node[i];
		const struct node_source *of = NULL;

		if (node->norigins && node->origin[0].onnx < n)
			of = &s.of[node->origin[0].onnx];
		place[i].scope = of ? of->scope : PAGE_NONE;
		place[i].line = of && of->nlines ? of->line : PAGE_NONE;
	}
	return place;
}

static bool
give(struct page_docs *d, enum page_doc which, writer write,
    const struct emit_work *w, struct arena *a, struct err *err)
{
	struct emit_work made = *w;
	struct json_tree tree;

	json_tree_init(&tree, a);
	made.tree = &tree;
	if (!write(NULL, &made, err))
		return false;
	page_docs_give(d, which, tree.root);
	return true;
}

bool
write_html(FILE *f, const struct emit_work *w, struct err *err)
{
	static const writer all[NPAGE_DOCS] = {[PAGE_RESULT] = write_result,
	    [PAGE_MAP] = write_map,
	    [PAGE_PROVENANCE] = write_provenance,
	    [PAGE_ALTERNATIVES] = write_alternatives};
	struct page_docs d = {.doc = {NULL}};
	struct arena a;
	bool ok = true;

	arena_init(&a);
	for (int i = 0; ok && i < NPAGE_DOCS; i++)
		ok = give(&d, (enum page_doc)i, all[i], w, &a, err);
	page_docs_give_places(&d, places_of(w, &a), w->graph->nnodes);
	ok = ok && page_write(f, &d, err);
	page_docs_close(&d);
	arena_release(&a);
	return ok;
}
