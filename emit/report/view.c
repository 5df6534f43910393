#include "emit/report/view.h"

#include <cJSON.h>
#include <string.h>

#include "emit/report/text.h"
#include "ir/base/buf.h"
#include "ir/base/jsonin.h"

const cJSON *
doc_field(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

const char *
doc_text(const cJSON *object, const char *key)
{
	const char *s = cJSON_GetStringValue(doc_field(object, key));

	return s ? s : "";
}

uint64_t
doc_ns(const cJSON *object, const char *key)
{
	const cJSON *item = doc_field(object, key);
	uint64_t ns;

	if (cJSON_IsNull(item))
		return NS_NEVER;
	return jsonin_is_u64(item, &ns) ? ns : 0;
}

double
doc_real(const cJSON *object, const char *key)
{
	const cJSON *item = doc_field(object, key);

	return cJSON_IsNumber(item) ? item->valuedouble : 0;
}

bool
doc_is_true(const cJSON *object, const char *key)
{
	return cJSON_IsTrue(doc_field(object, key));
}

uint32_t
doc_index(const cJSON *object, const char *key, uint32_t n)
{
	uint64_t x;

	return jsonin_is_u62(doc_field(object, key), &x) && x < n ? (uint32_t)x
	                                                          : PAGE_NONE;
}

/* Nothing of a plan is impossible: a cost that is not told counts nothing. */
static uint64_t
cost_in(const cJSON *object, const char *key)
{
	uint64_t ns = doc_ns(object, key);

	return ns == NS_NEVER ? 0 : ns;
}

static uint32_t
length_of(const cJSON *list)
{
	return (uint32_t)cJSON_GetArraySize(list);
}

struct page_index
page_index_new(struct arena *a, const uint32_t *key, uint32_t n, uint32_t nkeys)
{
	uint32_t *start = arena_new(a, uint32_t, (size_t)nkeys + 2);
	uint32_t *item = arena_new(a, uint32_t, n);

	for (uint32_t i = 0; i < n; i++)
		if (key[i] < nkeys)
			start[key[i] + 2]++;
	for (uint32_t k = 2; k < nkeys + 2; k++)
		start[k] += start[k - 1];
	for (uint32_t i = 0; i < n; i++)
		if (key[i] < nkeys)
			item[start[key[i] + 1]++] = i;
	return (struct page_index){start, item};
}

/* TUNING: what networks spend their time in; names a fused composite */
static const char *const heavy[] = {"Conv", "ConvTranspose", "MatMul", "Gemm",
    "Einsum", "Attention", "LSTM", "GRU", "RNN", "ConvInteger", "MatMulInteger",
    "QLinearConv", "QLinearMatMul"};

bool
is_heavy(const char *op)
{
	for (size_t i = 0; i < sizeof heavy / sizeof heavy[0]; i++)
		if (strcmp(heavy[i], op) == 0)
			return true;
	return false;
}

static void
read_targets(struct page_view *v)
{
	const cJSON *m, *list = doc_field(v->result, "mix");
	struct page_target *t;

	v->target = arena_new(v->arena, struct page_target, length_of(list));
	cJSON_ArrayForEach(m, list)
	{
		t = &v->target[v->ntargets++];
		t->text = doc_text(m, "text");
		t->kind = doc_text(m, "kind");
		t->prices = doc_text(m, "prices");
		t->environment = doc_field(m, "environment");
		t->is_host = strcmp(t->kind, "host") == 0;
		if (jsonin_has(m, "launch"))
			t->launch_source =
			    doc_text(doc_field(m, "launch"), "source");
	}
}

static void
read_nodes(struct page_view *v)
{
	const cJSON *m, *list = doc_field(v->result, "nodes");
	uint32_t n = length_of(list), i = 0;
	uint32_t *composite = arena_new(v->arena, uint32_t, n);

	v->nnodes = n;
	v->node = arena_new(v->arena, struct page_node, n);
	cJSON_ArrayForEach(m, list)
	{
		struct page_node *node = &v->node[i];

		node->label = doc_text(m, "label");
		node->op = doc_text(m, "op_type");
		node->composite = doc_index(m, "composite", v->ncomposites);
		node->line = PAGE_NONE;
		composite[i++] = node->composite;
	}
	v->nodes_of = page_index_new(v->arena, composite, n, v->ncomposites);
}

/* What its figure is of; results before version 3 say only where it is from. */
static const char *
basis_of(const cJSON *price)
{
	const char *basis = doc_text(price, "basis");

	return *basis ? basis : doc_text(price, "source");
}

static void
read_price(struct page_composite *c, const cJSON *price)
{
	c->source = basis_of(price);
	c->rests_on = doc_text(price, "rests_on");
	c->cpu = doc_ns(price, "cpu_ns");
	c->known = !jsonin_has(price, "state")
	    || strcmp(doc_text(price, "state"), "known") == 0;
}

static void
read_composites(struct page_view *v, const cJSON *plan)
{
	const cJSON *m, *port, *list = doc_field(plan, "composites");
	uint32_t i = 0;

	v->ncomposites = length_of(list);
	v->composite =
	    arena_new(v->arena, struct page_composite, v->ncomposites);
	map_init(&v->maker, v->arena);
	cJSON_ArrayForEach(m, list)
	{
		struct page_composite *c = &v->composite[i];

		c->region = doc_index(m, "region", UINT32_MAX);
		c->target = doc_index(m, "target", v->ntargets);
		c->work = cost_in(m, "cost_ns");
		c->rule = doc_text(m, "rule");
		read_price(c, doc_field(m, "price"));
		cJSON_ArrayForEach(port, doc_field(m, "outputs"))
		{
			const char *name = doc_text(port, "value");

			map_add(&v->maker, name, strlen(name), i);
		}
		i++;
	}
}

static void
name_composites(struct page_view *v)
{
	for (uint32_t i = 0; i < v->ncomposites; i++) {
		struct page_composite *c = &v->composite[i];
		uint32_t from = v->nodes_of.start[i];

		c->anchor = PAGE_NONE;
		for (uint32_t k = from; k < v->nodes_of.start[i + 1]; k++) {
			uint32_t node = v->nodes_of.item[k];

			if (k == from
			    || (is_heavy(v->node[node].op)
			        && !is_heavy(v->node[c->anchor].op)))
				c->anchor = node;
		}
	}
}

/* Regions tile the composites: everything else follows from that. */
static bool
read_regions(struct page_view *v, const cJSON *plan, struct err *err)
{
	const cJSON *m, *list = doc_field(plan, "regions");
	uint32_t i = 0, next = 0;

	v->nregions = length_of(list);
	v->region = arena_new(v->arena, struct page_region, v->nregions);
	cJSON_ArrayForEach(m, list)
	{
		struct page_region *r = &v->region[i];
		uint32_t left = v->ncomposites - next;

		r->name = doc_text(m, "name");
		r->target = doc_index(m, "target", v->ntargets);
		r->first = next;
		r->n = doc_index(m, "composites", left + 1);
		if (r->n == PAGE_NONE || r->n == 0
		    || doc_index(m, "first", v->ncomposites) != next)
			return err_set(err, ERR_INPUT,
			    "result.json: regions[%u] does not begin where "
			    "the one before it ends",
			    i);
		r->launch = cost_in(m, "launch_ns");
		for (uint32_t c = next; c < next + r->n; c++)
			v->composite[c].region = i;
		v->composite[next].launch = r->launch;
		next += r->n;
		i++;
	}
	return next == v->ncomposites
	    || err_set(err, ERR_INPUT,
	        "result.json: composite %u is in no region", next);
}

/* The target of a format, "npu/nhwc/float16", if it is not the host's. */
static uint32_t
format_target(const struct page_view *v, const char *format)
{
	size_t n = strcspn(format, "/");

	for (uint32_t t = 0; t < v->ntargets; t++)
		if (!v->target[t].is_host && strlen(v->target[t].kind) == n
		    && strncmp(v->target[t].kind, format, n) == 0)
			return t;
	return PAGE_NONE;
}

/* Who causes a conversion: whose format is at one of its ends, else who reads
 * the value, else the host, which hands it to the caller. */
static uint32_t
payer_of(const struct page_view *v, const cJSON *m, uint32_t before)
{
	uint32_t told = doc_index(m, "payer", v->ntargets);
	uint32_t from = format_target(v, doc_text(m, "from"));
	uint32_t to = format_target(v, doc_text(m, "to"));

	if (told != PAGE_NONE)
		return told;
	if (from != PAGE_NONE || to != PAGE_NONE)
		return from != PAGE_NONE ? from : to;
	if (before < v->ncomposites)
		return v->composite[before].target;
	for (uint32_t t = 0; t < v->ntargets; t++)
		if (v->target[t].is_host)
			return t;
	return 0;
}

static void
read_conversions(struct page_view *v, const cJSON *plan)
{
	const cJSON *m, *list = doc_field(plan, "conversions");
	uint32_t n = length_of(list), i = 0;
	uint32_t *before = arena_new(v->arena, uint32_t, n);
	uint32_t *maker = arena_new(v->arena, uint32_t, n);

	v->nconversions = n;
	v->conversion = arena_new(v->arena, struct page_conversion, n);
	cJSON_ArrayForEach(m, list)
	{
		struct page_conversion *c = &v->conversion[i];

		c->value = doc_text(m, "value");
		c->to = doc_text(m, "to");
		c->source = basis_of(doc_field(m, "price"));
		c->ns = cost_in(m, "cost_ns");
		c->maker = map_find(&v->maker, c->value, strlen(c->value));
		c->before = doc_index(m, "before", v->ncomposites);
		if (c->before == PAGE_NONE)
			c->before = v->ncomposites;
		else
			v->composite[c->before].moves += c->ns;
		c->payer = payer_of(v, m, c->before);
		before[i] = c->before;
		maker[i++] = c->maker;
	}
	v->read_by = page_index_new(v->arena, before, n, v->ncomposites + 1);
	v->made_by = page_index_new(v->arena, maker, n, v->ncomposites);
}

/* What a region holds, as bytes: its target and the operators, one composite
 * after another. */
static void
put_signature(struct buf *b, const struct page_view *v, uint32_t region)
{
	const struct page_region *r = &v->region[region];

	buf_u32(b, r->target);
	for (uint32_t c = r->first; c < r->first + r->n; c++) {
		buf_u8(b, 0);
		for (uint32_t k = v->nodes_of.start[c];
		     k < v->nodes_of.start[c + 1]; k++)
			buf_printf(b, "%s ", v->node[v->nodes_of.item[k]].op);
	}
}

static void
sum_regions(struct page_view *v)
{
	struct map seen;

	map_init(&seen, v->arena);
	for (uint32_t i = 0; i < v->nregions; i++) {
		struct page_region *r = &v->region[i];
		struct buf b;

		for (uint32_t c = r->first; c < r->first + r->n; c++) {
			r->work += v->composite[c].work;
			r->moves += v->composite[c].moves;
			r->nnodes += composite_nodes(v, c);
		}
		buf_init(&b);
		put_signature(&b, v, i);
		r->like =
		    map_add(&seen, arena_copy(v->arena, b.data, b.n), b.n, i);
		buf_release(&b);
	}
	/* what the caller waits for is the last region's */
	for (uint32_t k = v->read_by.start[v->ncomposites];
	     v->nregions && k < v->read_by.start[v->ncomposites + 1]; k++)
		v->region[v->nregions - 1].moves +=
		    v->conversion[v->read_by.item[k]].ns;
}

static void
read_scopes(struct page_view *v)
{
	const cJSON *m, *list = doc_field(v->map, "scopes");
	uint32_t i = 0;

	v->scope = arena_new(v->arena, struct page_scope, length_of(list) + 1u);
	v->scope[0] = (struct page_scope){0, "", "", ""};
	cJSON_ArrayForEach(m, list)
	{
		struct page_scope *s = &v->scope[i];

		s->parent = doc_index(m, "parent", i);
		if (s->parent == PAGE_NONE)
			s->parent = 0;
		s->name = doc_text(m, "name");
		s->path = doc_text(m, "path");
		s->class = doc_text(m, "class");
		i++;
	}
	v->nscopes = i ? i : 1;
}

static void
read_lines(struct page_view *v)
{
	const cJSON *m, *list = doc_field(v->map, "lines");
	struct page_line *l;

	v->line = arena_new(v->arena, struct page_line, length_of(list));
	cJSON_ArrayForEach(m, list)
	{
		l = &v->line[v->nlines++];
		l->file = doc_text(m, "file");
		l->text = doc_text(m, "text");
		l->line = doc_index(m, "line", UINT32_MAX);
	}
}

static void
place_nodes(struct page_view *v, const struct page_docs *d)
{
	for (uint32_t i = 0; i < v->nnodes && i < d->nplaces; i++) {
		const struct page_place *at = &d->place[i];
		struct page_node *node = &v->node[i];

		node->scope = at->scope < v->nscopes ? at->scope : 0;
		node->line = at->line < v->nlines ? at->line : PAGE_NONE;
		v->has_scopes |= node->scope != 0;
		v->has_lines |= node->line != PAGE_NONE;
	}
}

static enum page_state
state_of(const cJSON *other)
{
	const char *s = doc_text(other, "state");

	return strcmp(s, "known") == 0 ? PAGE_KNOWN
	    : strcmp(s, "bound") == 0  ? PAGE_BOUND
	                               : PAGE_FAILED;
}

/* Of each other target the cheapest that has a price. */
static void
add_other(struct page_view *v, uint32_t from, struct page_other o)
{
	struct page_other *have = NULL;

	for (uint32_t i = from; i < v->nothers; i++)
		if (v->other[i].target == o.target)
			have = &v->other[i];
	if (!have)
		v->other[v->nothers++] = o;
	else if (o.state != PAGE_FAILED
	    && (have->state == PAGE_FAILED || o.ns < have->ns))
		*have = o;
}

static void
read_others(struct page_view *v, const cJSON *alternatives)
{
	const cJSON *m, *o, *list = doc_field(alternatives, "composites");
	uint32_t i = 0, *key;

	v->has_others = length_of(list) > 0;
	v->other = arena_new(
	    v->arena, struct page_other, (size_t)length_of(list) * v->ntargets);
	cJSON_ArrayForEach(m, list)
	{
		uint32_t from = v->nothers;
		uint32_t id = doc_index(m, "id", v->ncomposites);

		/* a composite twice would have more than its share */
		if (id == PAGE_NONE || id < i)
			continue;
		i = id + 1;
		cJSON_ArrayForEach(o, doc_field(m, "others"))
		{
			uint32_t t = doc_index(o, "target", v->ntargets);

			if (t == PAGE_NONE || t == v->composite[id].target)
				continue;
			add_other(v, from,
			    (struct page_other){id, t, state_of(o),
			        cost_in(o, "ns"), doc_is_true(o, "same")});
		}
	}
	key = arena_new(v->arena, uint32_t, v->nothers);
	for (i = 0; i < v->nothers; i++)
		key[i] = v->other[i].composite;
	v->others_of =
	    page_index_new(v->arena, key, v->nothers, v->ncomposites);
}

static void
read_refusals(struct page_view *v, const cJSON *alternatives)
{
	const cJSON *m, *list = doc_field(alternatives, "refusals");
	uint32_t *key = arena_new(v->arena, uint32_t, length_of(list));

	v->refusal = arena_new(v->arena, struct page_refusal, length_of(list));
	cJSON_ArrayForEach(m, list)
	{
		struct page_refusal *r = &v->refusal[v->nrefusals];
		const cJSON *failed = doc_field(m, "failed");
		const cJSON *first = cJSON_GetArrayItem(failed, 0);

		r->node = doc_index(m, "node", v->nnodes);
		r->target = doc_index(m, "target", v->ntargets);
		if (r->node == PAGE_NONE || r->target == PAGE_NONE || !first)
			continue;
		r->nfailed = length_of(failed);
		r->rule = doc_text(m, "rule");
		r->condition = doc_text(first, "condition");
		r->actual = doc_text(first, "actual");
		r->required = doc_text(first, "required");
		key[v->nrefusals++] = r->node;
	}
	v->refusals_of = page_index_new(v->arena, key, v->nrefusals, v->nnodes);
}

bool
page_view_init(struct page_view *v, const struct page_docs *d, struct arena *a,
    struct err *err)
{
	const cJSON *plan = doc_field(d->doc[PAGE_RESULT], "plan");
	const cJSON *alternatives = d->doc[PAGE_ALTERNATIVES];

	*v = (struct page_view){.result = d->doc[PAGE_RESULT],
	    .map = d->doc[PAGE_MAP],
	    .provenance = d->doc[PAGE_PROVENANCE],
	    .arena = a};
	v->total = cost_in(doc_field(v->result, "total"), "cost_ns");
	read_targets(v);
	if (v->ntargets == 0)
		return err_set(err, ERR_INPUT, "result.json: no targets");
	read_composites(v, plan);
	if (!read_regions(v, plan, err))
		return false;
	read_nodes(v);
	name_composites(v);
	read_conversions(v, plan);
	sum_regions(v);
	read_scopes(v);
	read_lines(v);
	place_nodes(v, d);
	read_others(v, alternatives);
	read_refusals(v, alternatives);
	return true;
}

uint64_t
region_all(const struct page_region *r)
{
	return r->work + r->moves + r->launch;
}

uint64_t
composite_all(const struct page_composite *c)
{
	return c->work + c->moves + c->launch;
}

const char *
composite_op(const struct page_view *v, uint32_t composite)
{
	uint32_t node = v->composite[composite].anchor;

	return node == PAGE_NONE ? "" : v->node[node].op;
}

const char *
composite_label(const struct page_view *v, uint32_t composite)
{
	uint32_t node = v->composite[composite].anchor;

	return node == PAGE_NONE ? "" : v->node[node].label;
}

uint32_t
composite_nodes(const struct page_view *v, uint32_t composite)
{
	return v->nodes_of.start[composite + 1] - v->nodes_of.start[composite];
}

const struct page_refusal *
node_refusal(const struct page_view *v, uint32_t node, uint32_t target)
{
	const struct page_refusal *best = NULL;

	for (uint32_t i = v->refusals_of.start[node];
	     i < v->refusals_of.start[node + 1]; i++) {
		const struct page_refusal *r =
		    &v->refusal[v->refusals_of.item[i]];

		if (r->target == target
		    && (!best || r->nfailed < best->nfailed))
			best = r;
	}
	return best;
}
