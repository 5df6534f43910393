#include "tests/conformance/collage/rules.h"

#include <string.h>

const struct rules rules_native_like = {
    .pair = {{FUSABLE, BROADCAST}, {BROADCAST, REDUCE}, {INJECTIVE, INJECTIVE}},
    .npairs = 3,
    .tuple_arg = true,
    .tuple_proj = true,
};

static void
join_pair(const struct dag *d, struct sets *s, const struct rules *r, set up,
    set down)
{
	if (r->max_depth
	    && set_depth(d, up) + set_depth(d, down) > r->max_depth)
		return;
	for (uint32_t i = 0; i < r->npairs; i++)
		if (set_kind(d, up) <= r->pair[i].up
		    && set_kind(d, down) <= r->pair[i].down
		    && sets_are_touching(d, up, down))
			sets_add(s, up | down);
}

static void
take_projections(const struct dag *d, struct sets *s, set x)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (set_outputs(d, x) & bit(i) && strcmp(d->op[i], "proj") == 0)
			sets_add(s, x | bit(i));
}

static void
take_constants(const struct dag *d, struct sets *s, set x)
{
	set all = 0;

	for (uint32_t i = 0; i < d->n; i++)
		if (x & bit(i))
			all |= d->in[i] & d->constants;
	if (all & ~x)
		sets_add(s, x | all);
}

/* The consumer of a tuple with the tuple and one injective set for each of its
 * fields; overlapping ones do not combine. */
static void
take_fields(
    const struct dag *d, struct sets *s, set x, uint32_t tuple, set missing)
{
	uint32_t field = 0;

	if (!missing) {
		if (set_is_convex(d, x))
			sets_add(s, x);
		return;
	}
	while (!(missing & bit(field)))
		field++;
	for (uint32_t i = 0, n = s->n; i < n; i++) {
		set y = s->of[i];

		if (y & bit(field) && !(y & x) && set_outputs(d, y) & bit(tuple)
		    && set_kind(d, y) <= INJECTIVE)
			take_fields(d, s, x | y, tuple, missing & ~y);
	}
}

static void
take_tuples(const struct dag *d, struct sets *s, set x)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (strcmp(d->op[i], "tuple") == 0 && !(x & bit(i))
		    && d->out[i] & x && set_kind(d, x) <= INJECTIVE)
			take_fields(d, s, x | bit(i), i, d->in[i]);
}

/* All unions the rules reach: to a fixed point, every pair tried. `upstream`:
 * as Collage does it, which after the first round tries only what was new in
 * the round before as the upper half. */
void
rules_combine(
    const struct dag *d, struct sets *s, const struct rules *r, bool upstream)
{
	uint32_t before = 0, first = 0;

	while (before != s->n) {
		first = upstream ? before : 0;
		before = s->n;
		for (uint32_t i = first; i < before; i++) {
			for (uint32_t k = 0; k < before; k++)
				join_pair(d, s, r, s->of[i], s->of[k]);
			if (r->tuple_proj)
				take_projections(d, s, s->of[i]);
			if (r->tuple_arg)
				take_tuples(d, s, s->of[i]);
			if (r->constant)
				take_constants(d, s, s->of[i]);
		}
	}
}

void
seed_by_kind(const struct dag *d, struct sets *s)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (!((d->structural | d->constants) & bit(i))
		    && d->kind[i] <= FUSABLE)
			sets_add(s, bit(i));
}

static void match(
    const struct dag *d, const cJSON *pattern, uint32_t node, struct sets *out);

/* Extend each partial match by what one argument's pattern matches. */
static void
match_arg(const struct dag *d, const cJSON *pattern, const cJSON *arg,
    struct sets *partial)
{
	static struct sets inner; /* cases nest patterns a level or two */
	struct sets all = {0};
	uint32_t from;

	if (cJSON_IsString(pattern))
		return; /* "*": anything */
	from = cJSON_IsString(arg) ? dag_find(d, arg->valuestring) : UINT32_MAX;
	inner.n = 0;
	if (from != UINT32_MAX)
		match(d, pattern, from, &inner);
	for (uint32_t i = 0; i < partial->n; i++)
		for (uint32_t k = 0; k < inner.n; k++)
			sets_add(&all, partial->of[i] | inner.of[k]);
	*partial = all;
}

/* Sets of nodes that fit a pattern rooted at a node. */
static void
match(
    const struct dag *d, const cJSON *pattern, uint32_t node, struct sets *out)
{
	struct sets partial = {.n = 1, .of = {bit(node)}};
	const cJSON *item, *args = get(pattern, "args");
	int i = 0;

	cJSON_ArrayForEach(item, get(pattern, "alt")) match(d, item, node, out);
	if (cJSON_IsString(pattern)
	        ? strcmp(pattern->valuestring, d->op[node]) != 0
	        : strcmp(text_of(pattern, "op"), d->op[node]) != 0)
		return;
	cJSON_ArrayForEach(item, args) match_arg(
	    d, item, cJSON_GetArrayItem(d->args[node], i++), &partial);
	for (uint32_t k = 0; k < partial.n; k++)
		sets_add(out, partial.of[k]);
}

void
seed_by_pattern(const struct dag *d, const cJSON *pattern, struct sets *s)
{
	const cJSON *inner = get(pattern, "match");

	for (uint32_t i = 0; i < d->n; i++)
		match(d, inner ? inner : pattern, i, s);
}

void
rules_read(const cJSON *rule, struct rules *r)
{
	const cJSON *item;

	*r = (struct rules){.max_depth = (uint32_t)cJSON_GetNumberValue(
	                        get(rule, "max_depth"))};
	if (!get(rule, "max_depth"))
		r->max_depth = 0;
	cJSON_ArrayForEach(item, get(rule, "combine"))
	{
		const char *s = item->valuestring, *to = strstr(s, "->");

		if (to && r->npairs < 4) {
			r->pair[r->npairs].up = kind_named(s);
			r->pair[r->npairs++].down = kind_named(to + 2);
		}
		r->tuple_arg |= strcmp(s, "tuple-arg") == 0;
		r->tuple_proj |= strcmp(s, "tuple-proj") == 0;
		r->constant |= strcmp(s, "constant") == 0;
	}
}
