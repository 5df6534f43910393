#include "cli/statistics.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "db/admin.h"
#include "db/facts.h"
#include "db/verdict.h"
#include "ir/base/file.h"
#include "ir/base/map.h"

struct stats_reader {
	struct arena *arena;
	struct statistic *list;
	uint32_t n, cap;
	db_id subject, env;
	struct attempt *attempt; /* [nattempts] of the last figure, by age */
	uint32_t nattempts, attempt_cap;
};

bool
statistics_are_in(const char *path)
{
	char head[16] = {0};
	FILE *f = file_look_into(path);
	size_t n = f ? fread(head, 1, sizeof head, f) : 0;

	if (f)
		fclose(f);
	return n == sizeof head && memcmp(head, "SQLite format 3", 16) == 0;
}

/* As a lookup would see it: a wrong result outweighs figures. */
static void
end_figure(struct stats_reader *r)
{
	struct verdict v;
	struct statistic *f;

	if (r->n == 0)
		return;
	verdict_init(&v);
	for (uint32_t i = r->nattempts; i-- > 0;)
		verdict_see(&v, &r->attempt[i]);
	verdict_conclude(&v);
	f = &r->list[r->n - 1];
	f->attempts = r->nattempts;
	f->outcome = costdb_outcome_word(v.found.outcome);
	f->ns = v.found.ns;
	f->low = v.found.ns ? v.found.low : 0;
	f->high = v.found.ns ? v.found.high : 0;
}

static void
begin_figure(struct stats_reader *r, const struct db_row *row)
{
	char hash[33];
	struct statistic *f;

	end_figure(r);
	r->subject = row->subject;
	r->env = row->env;
	r->nattempts = 0;
	hash128_print(row->key, hash);
	r->list =
	    arena_grow(r->arena, r->list, &r->cap, r->n + 1, sizeof *r->list);
	f = &r->list[r->n++];
	*f = (struct statistic){
	    .key = arena_printf(r->arena, "%s\n%s", hash, row->hard),
	    .summary = arena_str(r->arena, row->summary),
	    .target = facts_get(row->hard, "target", r->arena),
	};
	if (!f->target)
		f->target = "";
}

/* Has it this line? */
static bool
has_fact(const char *hard, const char *fact)
{
	const char *at = strstr(hard, fact);

	return at && (at == hard || at[-1] == '\n');
}

/* A probe bounds a price; it is none, nor is a bar, nor the ratio of two that
 * were measured in turn. A second price is of what has a first one. */
static bool
is_no_price(const char *hard)
{
	return has_fact(hard, "cost=glance\n") || has_fact(hard, "cost=bar\n")
	    || has_fact(hard, "cost=second\n")
	    || has_fact(hard, "cost=versus\n");
}

static bool
see_attempt(void *context, const struct db_row *row, struct err *err)
{
	struct stats_reader *r = context;

	(void)err;
	if (is_no_price(row->hard))
		return true;
	if (r->n == 0 || row->subject != r->subject || row->env != r->env)
		begin_figure(r, row);
	r->attempt = arena_grow(r->arena, r->attempt, &r->attempt_cap,
	    r->nattempts + 1, sizeof *r->attempt);
	r->attempt[r->nattempts++] = (struct attempt){
	    .id = row->id,
	    .outcome = costdb_outcome(row->outcome),
	    .low = row->low,
	    .high = row->high,
	    .n = (uint32_t)row->n,
	    .at_utc = arena_str(r->arena, row->at_utc),
	};
	return true;
}

static bool
read_figures(struct stats_reader *r, const char *path, struct err *err)
{
	const struct db_where all = {NULL, NULL, NULL, NULL};
	struct costdb *db;
	bool ok;

	if (!costdb_open(&db, path, DB_READ, r->arena, err))
		return false;
	ok = costdb_visit(db, &all, false, see_attempt, r, err);
	end_figure(r);
	costdb_abandon(db);
	return ok || err_in(err, "%s", path);
}

static uint64_t
half_range(const struct statistic *f)
{
	return f->high > f->low ? (f->high - f->low) / 2 : 0;
}

static bool
is_noise(const struct statistic *a, const struct statistic *b, double threshold)
{
	uint64_t size = a->ns > b->ns ? a->ns - b->ns : b->ns - a->ns;

	return size <= half_range(a) + half_range(b)
	    || (double)size <= threshold * (double)a->ns;
}

/* In the order they are told. */
static int
rank(const struct statistic_pair *p)
{
	if (!p->a || !p->b)
		return p->b ? 4 : 3;
	if (!p->a->ns || !p->b->ns)
		return 2;
	return p->delta > 0 ? 0 : 1;
}

static int
by_rank(const void *x, const void *y)
{
	const struct statistic_pair *p = x, *q = y;
	int64_t a = p->delta < 0 ? -p->delta : p->delta;
	int64_t b = q->delta < 0 ? -q->delta : q->delta;

	if (rank(p) != rank(q))
		return rank(p) - rank(q);
	if (a != b)
		return a > b ? -1 : 1;
	return strcmp((p->a ? p->a : p->b)->key, (q->a ? q->a : q->b)->key);
}

static void
add_pair(struct statistics_diff *d, struct statistic_pair *list,
    const struct statistic *a, const struct statistic *b, double threshold)
{
	struct statistic_pair p = {a, b, 0};

	if (a && b) {
		d->nboth++;
		if ((!a->ns && !b->ns && strcmp(a->outcome, b->outcome) == 0)
		    || (a->ns && b->ns && is_noise(a, b, threshold))) {
			d->nsame++;
			return;
		}
		if (a->ns && b->ns)
			p.delta = (int64_t)b->ns - (int64_t)a->ns;
		d->nfailed += !p.delta;
		d->nlost += a->ns && !b->ns;
		d->nslower += p.delta > 0;
		d->nfaster += p.delta < 0;
	} else if (a) {
		d->nonly_a++;
	} else {
		d->nonly_b++;
	}
	list[d->npairs++] = p;
}

static void
pair_up(struct statistics_diff *d, const struct stats_reader *x,
    const struct stats_reader *y, double threshold, struct arena *arena)
{
	struct statistic_pair *list =
	    arena_new(arena, struct statistic_pair, (size_t)x->n + y->n);
	bool *seen = arena_new(arena, bool, y->n);
	struct map index;

	map_init(&index, arena);
	for (uint32_t i = 0; i < y->n; i++)
		map_add(&index, y->list[i].key, strlen(y->list[i].key), i);
	for (uint32_t i = 0; i < x->n; i++) {
		const char *key = x->list[i].key;
		uint32_t k = map_find(&index, key, strlen(key));

		if (k != MAP_NONE)
			seen[k] = true;
		add_pair(d, list, &x->list[i],
		    k == MAP_NONE ? NULL : &y->list[k], threshold);
	}
	for (uint32_t i = 0; i < y->n; i++)
		if (!seen[i])
			add_pair(d, list, NULL, &y->list[i], threshold);
	if (d->npairs)
		qsort(list, d->npairs, sizeof *list, by_rank);
	d->pair = list;
}

struct facts_of {
	const char *target, *hard;
};

/* The environments of a database, each once. */
static uint32_t
list_facts(
    struct facts_of **out, const struct stats_reader *r, struct arena *arena)
{
	struct facts_of *list = arena_new(arena, struct facts_of, r->n);
	struct map seen;
	uint32_t n = 0;

	map_init(&seen, arena);
	for (uint32_t i = 0; i < r->n; i++) {
		const char *hard = strchr(r->list[i].key, '\n') + 1;

		if (map_add(&seen, hard, strlen(hard), n) == n)
			list[n++] = (struct facts_of){r->list[i].target, hard};
	}
	*out = list;
	return n;
}

/* What tells the environments of one from the other's of the same target:
 * "dnnl version: 3.0 -> 3.1". */
static void
find_facts(struct statistics_diff *d, const struct stats_reader *x,
    const struct stats_reader *y, struct arena *arena)
{
	struct facts_of *p, *q;
	uint32_t np = list_facts(&p, x, arena), nq = list_facts(&q, y, arena);
	const char **list = NULL, *why;
	uint32_t cap = 0;

	for (uint32_t i = 0; i < np; i++)
		for (uint32_t k = 0; k < nq; k++) {
			if (strcmp(p[i].target, q[k].target) != 0
			    || strcmp(p[i].hard, q[k].hard) == 0)
				continue;
			why = facts_compare(p[i].hard, q[k].hard, arena).why;
			list = arena_grow(
			    arena, list, &cap, d->nfacts + 1, sizeof *list);
			list[d->nfacts++] =
			    arena_printf(arena, "%s %s", p[i].target, why);
		}
	d->fact = list;
}

bool
statistics_compare(struct statistics_diff *d, const char *path_a,
    const char *path_b, double threshold, struct arena *a, struct err *err)
{
	struct stats_reader x = {.arena = a}, y = {.arena = a};

	*d = (struct statistics_diff){.path_a = path_a, .path_b = path_b};
	if (!read_figures(&x, path_a, err) || !read_figures(&y, path_b, err))
		return false;
	pair_up(d, &x, &y, threshold, a);
	if (d->nonly_a && d->nonly_b)
		find_facts(d, &x, &y, a);
	return true;
}
