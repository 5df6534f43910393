/* The graph: the frame a script draws it in, and the data it draws. */
#include <cJSON.h>
#include <string.h>

#include "emit/report/folds.h"
#include "emit/report/sections.h"
#include "emit/report/text.h"
#include "ir/base/json.h"

/* TUNING: beyond this, what else could run a composite would be most of the
 * page; `marq explain` has it */
#define EXPLAINED 12000u

void
put_graph(FILE *f, const struct page_facts *p)
{
	html(f,
	    "<section id=graph><h2>Graph <small class=jsonly>reading order, "
	    "left to right, row by row; repeated stretches are folded</small>"
	    "</h2><noscript><p>The graph is drawn by JavaScript. Without it, "
	    "<a href=#timeline>the timeline</a> shows the regions in order and "
	    "<a href=#regions>the table</a> lists them.</p></noscript><div "
	    "class=\"gbar jsonly\"><div role=group aria-label=Detail><button "
	    "data-fold=0 aria-pressed=true>folded</button><button data-fold=1 "
	    "aria-pressed=false>regions</button><button data-fold=2 "
	    "aria-pressed=false>composites</button></div><div role=group "
	    "aria-label=Zoom><button data-zoom=-1 aria-label=\"zoom out\">−"
	    "</button><button data-zoom=0>fit</button><button data-zoom=1 "
	    "aria-label=\"zoom in\">+</button></div><span class=leg>");
	for (uint32_t t = 0; t < p->v->ntargets; t++)
		html(f, "<span>%i%s</span>", p->v->target[t].kind,
		    p->v->target[t].text);
	html(f,
	    "</span><span class=\"mut hint\">drag, Ctrl+wheel; arrow keys "
	    "walk, Enter unfolds, Esc folds, Tab leaves</span></div><div "
	    "class=\"gwrap jsonly\"><canvas id=canvas tabindex=0 role=img "
	    "aria-label=\"Graph of the plan. Arrow keys walk, Enter unfolds, "
	    "Escape folds; the tables below say the same.\" "
	    "aria-describedby=panel></canvas><aside id=panel aria-label=\""
	    "Chosen box\" aria-live=polite><p class=mut>Pick a box to see why "
	    "it runs there, what else could run it, and at what price.</p>"
	    "</aside></div></section>");
}

/* Texts by number: networks repeat themselves. */
struct texts {
	struct map seen;
	const char **text;
	uint32_t n, cap;
	struct arena *arena;
};

static uint32_t
text_id(struct texts *t, const char *s)
{
	uint32_t at = map_add(&t->seen, s, strlen(s), t->n);

	if (at == t->n) {
		t->text = arena_grow(
		    t->arena, t->text, &t->cap, t->n + 1, sizeof *t->text);
		t->text[t->n++] = s;
	}
	return at;
}

struct graph_data {
	struct json j;
	const struct page_view *v;
	struct texts texts;
};

static void
put_targets(struct graph_data *d)
{
	json_key(&d->j, "targets");
	json_array(&d->j);
	for (uint32_t t = 0; t < d->v->ntargets; t++) {
		json_object(&d->j);
		json_key_str(&d->j, "text", d->v->target[t].text);
		json_key_str(&d->j, "kind", d->v->target[t].kind);
		json_close(&d->j);
	}
	json_close(&d->j);
	json_key(&d->j, "regions"); /* [name, target, launch] */
	json_array(&d->j);
	for (uint32_t r = 0; r < d->v->nregions; r++) {
		json_array(&d->j);
		json_str(&d->j, d->v->region[r].name);
		json_uint(&d->j, d->v->region[r].target);
		json_uint(&d->j, d->v->region[r].launch);
		json_close(&d->j);
	}
	json_close(&d->j);
}

static const char *
basis_of(const struct page_composite *c, struct arena *a)
{
	if (strcmp(c->rests_on, "noisy") == 0)
		return arena_printf(a, "%s, noisy", c->source);
	if (*c->rests_on)
		return arena_printf(
		    a, "%s, rests on %s", c->source, c->rests_on);
	return c->source;
}

/* [region, work, moves, operator, fused, label, scope + 1 or 0, price, rule]:
 * the target is the region's. */
static void
put_composite(struct graph_data *d, uint32_t id)
{
	const struct page_view *v = d->v;
	const struct page_composite *c = &v->composite[id];
	uint32_t n = composite_nodes(v, id);
	uint32_t scope = c->anchor == PAGE_NONE ? 0 : v->node[c->anchor].scope;

	json_array(&d->j);
	json_uint(&d->j, c->region);
	json_uint(&d->j, c->work);
	json_uint(&d->j, c->moves);
	json_uint(&d->j, text_id(&d->texts, composite_op(v, id)));
	json_uint(&d->j, n ? n - 1 : 0);
	json_str(&d->j, composite_label(v, id));
	json_uint(
	    &d->j, scope ? text_id(&d->texts, v->scope[scope].path) + 1 : 0);
	json_uint(&d->j, text_id(&d->texts, basis_of(c, v->arena)));
	json_uint(&d->j, text_id(&d->texts, c->rule));
	json_close(&d->j);
}

/* Nodes fused into a composite beside the one that names it. */
static void
put_fused(struct graph_data *d)
{
	const struct page_view *v = d->v;

	json_key(&d->j, "holds");
	json_object(&d->j);
	for (uint32_t c = 0; c < v->ncomposites; c++) {
		if (composite_nodes(v, c) < 2)
			continue;
		json_key(&d->j, arena_printf(v->arena, "%u", c));
		json_array(&d->j);
		for (uint32_t k = v->nodes_of.start[c];
		     k < v->nodes_of.start[c + 1]; k++)
			json_str(&d->j, v->node[v->nodes_of.item[k]].label);
		json_close(&d->j);
	}
	json_close(&d->j);
}

/* What reading a value costs, of conversions to the format wanted. */
static uint64_t
crossing(const struct page_view *v, const char *value, const char *format,
    uint32_t maker)
{
	for (uint32_t k = v->made_by.start[maker];
	     k < v->made_by.start[maker + 1]; k++) {
		const struct page_conversion *c =
		    &v->conversion[v->made_by.item[k]];

		if (strcmp(c->value, value) == 0 && strcmp(c->to, format) == 0)
			return c->ns;
	}
	return 0;
}

/* Triples: from, to, what crossing costs; each pair once. */
static void
put_edges(struct graph_data *d)
{
	const struct page_view *v = d->v;
	const struct cJSON *plan = doc_field(v->result, "plan");
	const struct cJSON *list = doc_field(plan, "composites"), *m, *port;
	uint32_t *seen = arena_new(v->arena, uint32_t, v->ncomposites), c = 0;

	json_key(&d->j, "edges");
	json_array(&d->j);
	cJSON_ArrayForEach(m, list)
	{
		c++;
		cJSON_ArrayForEach(port, doc_field(m, "inputs"))
		{
			const char *value = doc_text(port, "value");
			uint32_t from =
			    map_find(&v->maker, value, strlen(value));

			if (from == MAP_NONE || from + 1 >= c
			    || seen[from] == c)
				continue;
			seen[from] = c;
			json_uint(&d->j, from);
			json_uint(&d->j, c - 1);
			json_uint(&d->j,
			    crossing(v, value, doc_text(port, "format"), from));
		}
	}
	json_close(&d->j);
}

/* A box: a number (composite), {r, c} (region) or {k, l, m, c} (repeat). */
// NOLINTNEXTLINE(misc-no-recursion): three levels: repeat, region, repeat
static void
put_box(struct graph_data *d, const struct page_box *box)
{
	const struct page_view *v = d->v;

	if (box->nboxes == 0) {
		json_uint(&d->j, box->first);
		return;
	}
	json_object(&d->j);
	if (box->region != PAGE_NONE)
		json_key_uint(&d->j, "region", box->region);
	if (box->copies) {
		json_key_uint(&d->j, "copies", box->copies);
		json_key_uint(&d->j, "length", box->length);
	}
	if (box->from)
		json_key_str(&d->j, "module",
		    box->from == box->to
		        ? v->scope[box->from].name
		        : arena_printf(v->arena, "%s … %s",
		            v->scope[box->from].name, v->scope[box->to].name));
	json_key(&d->j, "boxes");
	json_array(&d->j);
	for (uint32_t i = 0; i < box->nboxes; i++)
		put_box(d, &box->box[i]);
	json_close(&d->j);
	json_close(&d->j);
}

static void
put_tree(struct graph_data *d)
{
	struct page_box *box;
	uint32_t n;

	page_boxes(&box, &n, d->v);
	json_key(&d->j, "tree");
	json_array(&d->j);
	for (uint32_t i = 0; i < n; i++)
		put_box(d, &box[i]);
	json_close(&d->j);
}

/* The nearest refusal of a composite's nodes by a target; NULL: none. */
static const struct page_refusal *
refusal_of(const struct page_view *v, uint32_t composite, uint32_t target)
{
	const struct page_refusal *best = NULL;

	for (uint32_t k = v->nodes_of.start[composite];
	     k < v->nodes_of.start[composite + 1]; k++) {
		const struct page_refusal *r =
		    node_refusal(v, v->nodes_of.item[k], target);

		if (r && (!best || r->nfailed < best->nfailed))
			best = r;
	}
	return best;
}

/* One other target of a composite, as a text: [target, text]. */
static void
put_elsewhere(struct graph_data *d, uint32_t composite, uint32_t target)
{
	const struct page_view *v = d->v;
	const struct page_refusal *r = refusal_of(v, composite, target);
	const struct page_other *o = NULL;
	const char *s = "its rules do not have this operator";
	char ns[DUR_BYTES];

	for (uint32_t i = v->others_of.start[composite];
	     i < v->others_of.start[composite + 1]; i++)
		if (v->other[v->others_of.item[i]].target == target)
			o = &v->other[v->others_of.item[i]];
	if (o && o->state != PAGE_FAILED)
		s = arena_printf(v->arena, "legal, %s%s alone%s",
		    o->state == PAGE_BOUND ? "at least " : "",
		    dur_text(ns, o->ns), o->same ? "" : " (fused differently)");
	else if (r)
		s = arena_printf(v->arena, "refuses (%s): %s: %s, must be %s",
		    r->rule, r->condition, r->actual, r->required);
	else if (o)
		s = "its price could not be had";
	json_uint(&d->j, target);
	json_uint(&d->j, text_id(&d->texts, s));
}

/* By composite: target, text, target, text. */
static void
put_others(struct graph_data *d)
{
	const struct page_view *v = d->v;

	json_key(&d->j, "elsewhere");
	json_array(&d->j);
	for (uint32_t c = 0;
	     v->has_others && v->ncomposites <= EXPLAINED && c < v->ncomposites;
	     c++) {
		json_array(&d->j);
		for (uint32_t t = 0; t < v->ntargets; t++)
			if (t != v->composite[c].target)
				put_elsewhere(d, c, t);
		json_close(&d->j);
	}
	json_close(&d->j);
}

void
put_graph_data(FILE *f, const struct page_facts *p)
{
	const struct page_view *v = p->v;
	struct graph_data d = {.v = v, .texts = {.arena = v->arena}};

	map_init(&d.texts.seen, v->arena);
	json_init(&d.j, f, 0);
	json_object(&d.j);
	json_key_str(&d.j, "folder", v->folder);
	json_key_uint(&d.j, "total", v->total);
	put_targets(&d);
	json_key(&d.j, "composites");
	json_array(&d.j);
	for (uint32_t c = 0; c < v->ncomposites; c++)
		put_composite(&d, c);
	json_close(&d.j);
	put_fused(&d);
	put_edges(&d);
	put_tree(&d);
	put_others(&d);
	json_key(&d.j, "texts");
	json_array(&d.j);
	for (uint32_t i = 0; i < d.texts.n; i++)
		json_str(&d.j, d.texts.text[i]);
	json_close(&d.j);
	json_close(&d.j);
}
