#include "cli/diff.h"

#include <cJSON.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emit/work.h"
#include "ir/base/jsonin.h"

static const cJSON *
item(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *
text(const cJSON *object, const char *key)
{
	const char *s = cJSON_GetStringValue(item(object, key));

	return s ? s : "?";
}

static uint32_t
number(const cJSON *object, const char *key)
{
	struct err err = {.kind = ERR_NONE};
	uint32_t x;

	return jsonin_u32(object, key, &x, &err) ? x : UINT32_MAX;
}

/* ---- noise: of measured prices that are not the same on both sides ---- */

static uint64_t
noise_of(const struct side_price *p, const struct map *others,
    const struct side_price *other)
{
	uint32_t at = map_find(others, p->key, strlen(p->key));

	if (at != MAP_NONE && other[at].cost == p->cost)
		return 0; /* the same measurement: it cancels out */
	return p->noise;
}

struct priced {
	struct map index;
	struct side_price *price;
	uint32_t n;
};

static struct priced
all_prices(const struct side *s, struct arena *a)
{
	struct priced p = {.n = 0};

	map_init(&p.index, a);
	p.price = arena_new(
	    a, struct side_price, (size_t)s->ncomposites + s->nconversions);
	for (uint32_t i = 0; i < s->ncomposites; i++)
		p.price[p.n++] = s->composite[i].price;
	for (uint32_t i = 0; i < s->nconversions; i++)
		p.price[p.n++] = s->conversion[i];
	for (uint32_t i = 0; i < p.n; i++)
		map_add(&p.index, p.price[i].key, strlen(p.price[i].key), i);
	return p;
}

static void
judge(struct diff *d, double threshold, struct arena *arena)
{
	struct priced a = all_prices(d->a, arena), b = all_prices(d->b, arena);
	uint64_t within, size;

	for (uint32_t i = 0; i < a.n; i++)
		d->noise += noise_of(&a.price[i], &b.index, b.price);
	for (uint32_t i = 0; i < b.n; i++)
		d->noise += noise_of(&b.price[i], &a.index, a.price);
	d->delta = (int64_t)d->b->cost - (int64_t)d->a->cost;
	within = (uint64_t)(threshold * (double)d->a->cost);
	if (within < d->noise)
		within = d->noise;
	size = (uint64_t)(d->delta < 0 ? -d->delta : d->delta);
	d->verdict = size <= within ? DIFF_SAME
	    : d->delta < 0          ? DIFF_FASTER
	                            : DIFF_SLOWER;
}

/* ---- why a node moved ---- */

/* The target of `to` that is target t of `from`: as written, else by kind. */
static uint32_t
target_in(const struct side *to, const struct side *from, uint32_t t)
{
	for (uint32_t i = 0; i < to->ntargets; i++)
		if (strcmp(to->target[i], from->target[t]) == 0)
			return i;
	for (uint32_t i = 0; i < to->ntargets; i++)
		if (strcmp(to->kind[i], from->kind[t]) == 0)
			return i;
	return UINT32_MAX;
}

static bool
holds(const cJSON *list, uint32_t x)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list) if (cJSON_IsNumber(entry)
	    && entry->valuedouble == (double)x) return true;
	return false;
}

static bool
names(const cJSON *list, const char *name)
{
	const cJSON *entry;

	cJSON_ArrayForEach(entry, list) if (cJSON_IsString(entry)
	    && strcmp(entry->valuestring, name) == 0) return true;
	return false;
}

static bool
has_constraint(const struct side *s, const char *what)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, item(s->result, "constraints"))
	{
		if (strcmp(text(c, "text"), what) == 0)
			return true;
	}
	return false;
}

/* Does the constraint keep a node off a target? */
static bool
keeps_off(const cJSON *c, const char *ref, uint32_t target)
{
	const char *kind = text(c, "kind");
	bool meant = names(item(c, "nodes"), ref);
	bool listed = holds(item(c, "targets"), target);

	if (strcmp(kind, "pin") == 0 || strcmp(kind, "partition") == 0)
		return meant && !listed;
	if (strcmp(kind, "forbid") == 0)
		return meant && listed;
	if (strcmp(kind, "stop") == 0)
		return meant;
	return listed; /* limits on a target */
}

/* A constraint of `s` but not of `other` that keeps the node off. */
static const char *
constraint_text(const struct side *s, const struct side *other, const char *ref,
    uint32_t target)
{
	const cJSON *c;

	cJSON_ArrayForEach(c, item(s->result, "constraints"))
	{
		if (keeps_off(c, ref, target)
		    && !has_constraint(other, text(c, "text")))
			return text(c, "text");
	}
	return NULL;
}

/* The cheapest candidate of the target over a composite of b, or NULL. */
static const cJSON *
alternative(const struct side *b, uint32_t composite, uint32_t target)
{
	const cJSON *list = item(b->alternatives, "composites"), *o;
	const cJSON *of = cJSON_GetArrayItem(list, (int)composite);

	cJSON_ArrayForEach(o, item(of, "others"))
	{
		if (number(o, "target") == target)
			return o;
	}
	return NULL;
}

/* The refusal of the target for any node of the composite that a had; that of
 * the rule it had, if there is one. */
static const cJSON *
refusal(const struct side *b, const struct side_composite *had, uint32_t target)
{
	const cJSON *r, *ref, *found = NULL;

	cJSON_ArrayForEach(r, item(b->alternatives, "refusals"))
	{
		uint32_t node = number(r, "node");

		if (number(r, "target") != target || node >= b->nnodes)
			continue;
		cJSON_ArrayForEach(ref, had->nodes)
		{
			if (strcmp(ref->valuestring, b->node[node].ref) != 0)
				continue;
			if (strcmp(text(r, "rule"), had->rule) == 0)
				return r;
			if (!found)
				found = r;
		}
	}
	return found;
}

static const char *
refusal_text(const cJSON *r, struct arena *a)
{
	const cJSON *f = cJSON_GetArrayItem(item(r, "failed"), 0);
	int n = cJSON_GetArraySize(item(r, "failed"));

	return arena_printf(a, "%s: %s fails (%s, needs %s)%s", text(r, "rule"),
	    text(f, "condition"), text(f, "actual"), text(f, "required"),
	    n > 1 ? " and others" : "");
}

/* A candidate that is cheaper by itself and still not chosen: what it would
 * need around it costs more. */
static const char *
price_text(const cJSON *o, const struct side *b, uint32_t composite,
    const struct side_composite *had, struct arena *a)
{
	const cJSON *ns = item(o, "ns");
	bool bound = strcmp(text(o, "state"), "bound") == 0;
	bool known = cJSON_IsNumber(ns) && ns->valuedouble >= 0;
	cost_ns there = known ? (cost_ns)ns->valuedouble : COST_NEVER;
	cost_ns here = b->composite[composite].price.cost;

	return arena_printf(a,
	    "legal there for %s%s (%" PRIu32 " nodes; before: %s), here %s%s",
	    bound ? "at least " : "", cost_text(there, a), number(o, "nodes"),
	    cost_text(had->price.cost, a), cost_text(here, a),
	    there <= here ? "; the conversions and launches it would need "
	                    "make it dearer"
	                  : "");
}

static void
explain(const struct diff *d, struct move *m, struct arena *a)
{
	const struct side_node *na = &d->a->node[m->before];
	const struct side_node *nb = &d->b->node[m->after];
	const struct side_composite *had = &d->a->composite[na->composite];
	const struct side_composite *has = &d->b->composite[nb->composite];
	uint32_t old = target_in(d->b, d->a, had->target);
	uint32_t new = target_in(d->a, d->b, has->target);
	const cJSON *o, *r;
	const char *what;

	if (old == UINT32_MAX) {
		m->reason = MOVED_NO_TARGET;
		m->text = arena_printf(
		    a, "%s is not in the mix", d->a->target[had->target]);
	} else if ((what = constraint_text(d->b, d->a, nb->ref, old)) != NULL) {
		m->reason = MOVED_CONSTRAINT;
		m->text = arena_printf(a, "%s", what);
	} else if (new != UINT32_MAX
	    && (what = constraint_text(d->a, d->b, na->ref, new)) != NULL) {
		m->reason = MOVED_CONSTRAINT;
		m->text = arena_printf(a, "no longer: %s", what);
	} else if (!d->b->alternatives) {
		m->reason = MOVED_UNKNOWN;
		m->text = "no alternatives.json beside the result";
	} else if ((o = alternative(d->b, nb->composite, old)) != NULL) {
		m->reason = d->verdict == DIFF_SAME ? MOVED_NOISE : MOVED_PRICE;
		m->text = new == UINT32_MAX
		    ? arena_printf(
		        a, "%s is new in the mix", d->b->target[has->target])
		    : price_text(o, d->b, nb->composite, had, a);
	} else if ((r = refusal(d->b, had, old)) != NULL) {
		m->reason = MOVED_PREDICATE;
		m->text = refusal_text(r, a);
	} else {
		m->reason = MOVED_NO_MATCH;
		m->text = arena_printf(
		    a, "no rule of %s matches here", d->a->target[had->target]);
	}
}

/* ---- what differs ---- */

static bool
same_way(const struct side_composite *x, const struct side_composite *y)
{
	return strcmp(x->rule, y->rule) == 0
	    && strcmp(x->implementation, y->implementation) == 0;
}

static void
find_moves(struct diff *d, struct arena *arena)
{
	struct move *list = arena_new(arena, struct move, d->a->nnodes);
	uint32_t both = 0;

	for (uint32_t i = 0; i < d->a->nnodes; i++) {
		const struct side_node *n = &d->a->node[i];
		uint32_t k = map_find(&d->b->by_ref, n->ref, strlen(n->ref));
		const struct side_composite *x, *y;

		if (k == MAP_NONE) {
			d->nremoved++;
			continue;
		}
		both++;
		x = &d->a->composite[n->composite];
		y = &d->b->composite[d->b->node[k].composite];
		if (strcmp(d->a->target[x->target], d->b->target[y->target])
		    == 0) {
			d->nways += !same_way(x, y);
			continue;
		}
		list[d->nmoves] = (struct move){.before = i, .after = k};
		explain(d, &list[d->nmoves++], arena);
	}
	d->nadded = d->b->nnodes > both ? d->b->nnodes - both : 0;
	d->move = list;
}

static int
larger_first(const void *x, const void *y)
{
	const struct repriced *a = x, *b = y;
	int64_t p = a->delta < 0 ? -a->delta : a->delta;
	int64_t q = b->delta < 0 ? -b->delta : b->delta;

	if (p != q)
		return p > q ? -1 : 1;
	return a->before < b->before ? -1 : a->before > b->before;
}

static void
find_repriced(struct diff *d, struct arena *arena)
{
	struct repriced *list =
	    arena_new(arena, struct repriced, d->a->ncomposites);
	struct map index;

	map_init(&index, arena);
	for (uint32_t i = 0; i < d->b->ncomposites; i++) {
		const char *key = d->b->composite[i].price.key;

		map_add(&index, key, strlen(key), i);
	}
	for (uint32_t i = 0; i < d->a->ncomposites; i++) {
		const struct side_price *p = &d->a->composite[i].price;
		uint32_t k = map_find(&index, p->key, strlen(p->key));
		int64_t delta;

		if (k == MAP_NONE)
			continue;
		delta =
		    (int64_t)d->b->composite[k].price.cost - (int64_t)p->cost;
		if (delta != 0)
			list[d->nrepriced++] = (struct repriced){i, k, delta};
	}
	if (d->nrepriced > 0)
		qsort(list, d->nrepriced, sizeof *list, larger_first);
	d->repriced = list;
}

/* Facts of targets both mixes have that are not what they were. */
static void
find_facts(struct diff *d, struct arena *arena)
{
	const cJSON *mix_a = item(d->a->result, "mix");
	const cJSON *mix_b = item(d->b->result, "mix"), *t, *fact;
	const char **list = NULL;
	uint32_t cap = 0, i = 0;

	cJSON_ArrayForEach(t, mix_a)
	{
		uint32_t k = target_in(d->b, d->a, i++);
		const cJSON *other = k == UINT32_MAX
		    ? NULL
		    : item(cJSON_GetArrayItem(mix_b, (int)k), "environment");

		if (!other)
			continue;
		cJSON_ArrayForEach(fact, item(t, "environment"))
		{
			const char *now = text(other, fact->string);
			const char *was = cJSON_GetStringValue(fact);

			if (!was || strcmp(was, now) == 0)
				continue;
			list = arena_grow(
			    arena, list, &cap, d->nfacts + 1, sizeof *list);
			list[d->nfacts++] =
			    arena_printf(arena, "%s %s: %s -> %s",
			        d->a->target[i - 1], fact->string, was, now);
		}
	}
	d->fact = list;
}

void
diff_make(struct diff *d, const struct side *a, const struct side *b,
    double threshold, struct arena *arena)
{
	*d = (struct diff){.a = a, .b = b};
	judge(d, threshold, arena);
	find_moves(d, arena);
	find_repriced(d, arena);
	find_facts(d, arena);
}

const char *
reason_word(enum reason_of_move r)
{
	static const char *const word[] = {
	    [MOVED_NO_TARGET] = "target",
	    [MOVED_PREDICATE] = "predicate",
	    [MOVED_NO_MATCH] = "pattern",
	    [MOVED_CONSTRAINT] = "constraint",
	    [MOVED_PRICE] = "price",
	    [MOVED_NOISE] = "noise",
	    [MOVED_UNKNOWN] = "unknown",
	};

	return word[r];
}

const char *
verdict_word(enum verdict_of_diff v)
{
	static const char *const word[] = {
	    [DIFF_SAME] = "same",
	    [DIFF_FASTER] = "faster",
	    [DIFF_SLOWER] = "slower",
	};

	return word[v];
}
