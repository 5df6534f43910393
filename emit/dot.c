#include <cJSON.h>
#include <string.h>

#include "emit/page.h"
#include "ir/base/map.h"
#include "ir/base/plural.h"
#include "ir/base/utf8.h"

/* TUNING: longer names make the drawing wider, not clearer */
#define LABEL_BYTES 28

/* A name inside a quoted label: no quotes, escapes, control characters or
 * broken UTF-8 get through, and long ones lose their middle's end. */
static void
put_label(FILE *f, const char *s)
{
	size_t n = strlen(s), used = 0;

	for (size_t i = 0; i < n;) {
		size_t len = utf8_length(s + i, n - i);
		unsigned char c = (unsigned char)s[i];

		if (used + (len ? len : 1) > LABEL_BYTES) {
			fputs("...", f);
			return;
		}
		if (len == 0 || c < ' ' || c == 0x7f)
			putc('?', f);
		else if (c == '"' || c == '\\')
			fprintf(f, "\\%c", c);
		else if (c == '&')
			fputs("&amp;", f);
		else
			fwrite(s + i, 1, len, f);
		used += len ? len : 1;
		i += len ? len : 1;
	}
}

static const char *
text_in(const cJSON *object, const char *key)
{
	const char *s =
	    cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, key));

	return s ? s : "";
}

static double
number_in(const cJSON *object, const char *key)
{
	const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, key);

	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

static const cJSON *
item_in(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static void
put_region(FILE *f, const cJSON *result, const cJSON *region)
{
	const cJSON *targets = item_in(result, "mix");
	int id = (int)number_in(region, "id");
	int target = (int)number_in(region, "target");

	fprintf(f,
	    "r%d [id=\"region_%d\" class=\"region\" shape=box "
	    "style=\"rounded,filled\" label=\"",
	    id, id);
	put_label(f, text_in(region, "name"));
	fputs("\\n", f);
	put_label(f, text_in(cJSON_GetArrayItem(targets, target), "text"));
	fprintf(f, "\\n%.0f composite%s, %.1f µs\"];\n",
	    number_in(region, "composites"),
	    number_in(region, "composites") == 1 ? "" : "s",
	    number_in(region, "cost_ns") / 1e3);
}

/* What edges are made from: who makes each value (a region, or the caller),
 * and what its conversions for each region cost. */
struct edges {
	struct arena arena;
	struct map maker; /* value -> region */
	struct map paid; /* "<region> <value>" -> index into ns */
	double *ns;
	uint32_t n, cap;
};

static const char *
paid_key(struct edges *e, int region, const char *value)
{
	return arena_printf(&e->arena, "%d %s", region, value);
}

static void
add_paid(struct edges *e, const cJSON *plan)
{
	const cJSON *composites = item_in(plan, "composites"), *c;
	uint32_t n = 0, ncomposites = (uint32_t)cJSON_GetArraySize(composites);
	int *region = arena_new(&e->arena, int, ncomposites);

	cJSON_ArrayForEach(c, composites) region[n++] =
	    (int)number_in(c, "region");
	cJSON_ArrayForEach(c, item_in(plan, "conversions"))
	{
		bool caller = !cJSON_IsNumber(item_in(c, "before"));
		uint32_t before = (uint32_t)number_in(c, "before"), at;
		const char *key;

		if (!caller && before >= ncomposites)
			continue;
		key = paid_key(
		    e, caller ? -1 : region[before], text_in(c, "value"));
		at = map_add(&e->paid, key, strlen(key), e->n);
		if (at == e->n) {
			e->ns = arena_grow(
			    &e->arena, e->ns, &e->cap, e->n + 1, sizeof *e->ns);
			e->ns[e->n++] = 0;
		}
		e->ns[at] += number_in(c, "cost_ns");
	}
}

static void
edges_init(struct edges *e, const cJSON *plan)
{
	const cJSON *region, *port;

	*e = (struct edges){.n = 0};
	arena_init(&e->arena);
	map_init(&e->maker, &e->arena);
	map_init(&e->paid, &e->arena);
	cJSON_ArrayForEach(region, item_in(plan, "regions"))
	{
		cJSON_ArrayForEach(port, item_in(region, "outputs"))
		{
			const char *name = text_in(port, "value");

			map_add(&e->maker, name, strlen(name),
			    (uint32_t)number_in(region, "id"));
		}
	}
	add_paid(e, plan);
}

static double
paid(struct edges *e, int region, const char *value)
{
	const char *key = paid_key(e, region, value);
	uint32_t at = map_find(&e->paid, key, strlen(key));

	return at == MAP_NONE ? 0 : e->ns[at];
}

/* An edge, with what it costs to cross it. */
static void
put_edge(FILE *f, uint32_t from, int to, double ns)
{
	if (from == MAP_NONE)
		fputs("caller -> ", f);
	else
		fprintf(f, "r%u -> ", from);
	if (to < 0)
		fputs("result", f);
	else
		fprintf(f, "r%d", to);
	if (ns > 0)
		fprintf(f, " [label=\"%.1f µs\"]", ns / 1e3);
	fputs(";\n", f);
}

/* One edge from each region (or the caller) that `ports` come from. */
static void
put_edges(FILE *f, struct edges *e, const cJSON *ports, const char *key, int to)
{
	const cJSON *port;
	uint32_t n = (uint32_t)cJSON_GetArraySize(ports), nfrom = 0;
	uint32_t *from = arena_new(&e->arena, uint32_t, n);
	double *ns = arena_new(&e->arena, double, n);

	cJSON_ArrayForEach(port, ports)
	{
		const char *name = text_in(port, key);
		uint32_t maker = map_find(&e->maker, name, strlen(name)), i;

		for (i = 0; i < nfrom && from[i] != maker; i++)
			continue;
		if (i == nfrom)
			from[nfrom++] = maker;
		ns[i] += paid(e, to, name);
	}
	for (uint32_t i = 0; i < nfrom; i++)
		put_edge(f, from[i], to, ns[i]);
}

void
page_dot(FILE *f, const struct cJSON *result)
{
	const cJSON *plan = item_in(result, "plan"), *region;
	const cJSON *regions = item_in(plan, "regions");
	struct edges e;

	fputs("digraph regions {\nrankdir=LR;\nranksep=0.4;\n"
	      "node [fontsize=11 fontname=\"sans-serif\"];\n"
	      "edge [fontsize=9 fontname=\"sans-serif\"];\n"
	      "caller [label=\"model inputs\" shape=ellipse];\n"
	      "result [label=\"model outputs\" shape=ellipse];\n",
	    f);
	cJSON_ArrayForEach(region, regions) put_region(f, result, region);
	edges_init(&e, plan);
	cJSON_ArrayForEach(region, regions) put_edges(f, &e,
	    item_in(region, "inputs"), "value", (int)number_in(region, "id"));
	put_edges(
	    f, &e, item_in(item_in(result, "model"), "outputs"), "name", -1);
	fputs("}\n", f);
	arena_release(&e.arena);
}
