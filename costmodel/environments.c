/* The environments prices are looked up in, and which others' figures stand in. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/board.h"
#include "costmodel/environment.h"
#include "costmodel/pricer_parts.h"
#include "db/facts.h"
#include "db/origin.h"

/* One stored environment and how it stands to ours. */
struct candidate_env {
	db_id id;
	struct facts_gap gap;
	const char *hard;
};

/* Compatible ones first, then stale ones, then the same target on other
 * machines; of these the ones that differ in fewer facts. In no case by row,
 * for rows are in the order of merging. */
static int
compare_near(const void *a, const void *b)
{
	const struct candidate_env *x = a, *y = b;

	if (x->gap.relation != y->gap.relation)
		return x->gap.relation < y->gap.relation ? -1 : 1;
	if (x->gap.n != y->gap.n)
		return x->gap.n < y->gap.n ? -1 : 1;
	return strcmp(x->hard, y->hard);
}

/* A gap's reasons are "key: stored -> now". */
static enum measured_why
kind_of(const char *why)
{
	static const char *const fact[NWHY] = {
#define WHY(member, words, fact) fact,
#include "costmodel/why.def"
	};

	for (int i = 0; i < NWHY; i++)
		if (fact[i] && strstr(why, fact[i]))
			return (enum measured_why)i;
	return WHY_other_library;
}

static void
sort_near(struct environment *e, struct candidate_env *all, uint32_t n,
    struct arena *a)
{
	db_id *id = arena_new(a, db_id, n);
	const char **hard = arena_new(a, const char *, n);
	const char **why = arena_new(a, const char *, n);
	enum measured_why *kind = arena_new(a, enum measured_why, n);
	uint32_t *rank = arena_new(a, uint32_t, n);

	if (n > 1)
		qsort(all, n, sizeof *all, compare_near);
	for (uint32_t i = 0; i < n; i++) {
		id[i] = all[i].id;
		why[i] = all[i].gap.why;
		kind[i] = kind_of(why[i]);
		hard[i] = all[i].hard;
		rank[i] = i;
		if (i && all[i].gap.relation == all[i - 1].gap.relation
		    && all[i].gap.n == all[i - 1].gap.n)
			rank[i] = rank[i - 1];
		e->nsame += all[i].gap.relation == FACTS_SAME;
		e->ncompatible += all[i].gap.relation <= FACTS_COMPATIBLE;
	}
	for (uint32_t i = 1; i < n; i++) { /* best first */
		assert(rank[i - 1] <= rank[i]);
		assert(all[i - 1].gap.relation <= all[i].gap.relation);
	}
	assert(e->nsame <= e->ncompatible && e->ncompatible <= n);
	e->near = id;
	e->why = why;
	e->kind = kind;
	e->near_hard = hard;
	e->rank = rank;
	e->nnear = n;
}

static bool
same_fact(const char *key, const char *x, const char *y, struct arena *a)
{
	const char *s = facts_get(x, key, a);
	const char *t = facts_get(y, key, a);

	return s && t && strcmp(s, t) == 0;
}

static void
find_near(struct pricer *p, struct environment *e,
    const struct db_environment *stored, uint32_t n)
{
	struct candidate_env *all =
	    arena_new(p->arena, struct candidate_env, n);
	uint32_t nall = 0;

	for (uint32_t i = 0; i < n; i++) {
		if (stored[i].id == e->id
		    || !same_fact("target", stored[i].hard, e->hard, p->arena)
		    || !same_fact("cost", stored[i].hard, e->hard, p->arena))
			continue;
		all[nall++] = (struct candidate_env){
		    .id = stored[i].id,
		    .gap = facts_compare(stored[i].hard, e->hard, p->arena),
		    .hard = stored[i].hard,
		};
	}
	sort_near(e, all, nall, p->arena);
}

static bool
find_near_probes(struct pricer *p, struct environment *e, struct err *err)
{
	const uint32_t n =
	    p->o.accept == ACCEPT_ANY ? e->nnear : e->ncompatible;
	db_id *id = arena_new(p->arena, db_id, n);
	uint32_t *rank = arena_new(p->arena, uint32_t, n), found = 0;

	if (p->o.measure || p->o.accept < ACCEPT_COMPATIBLE || !e->probe_hard)
		return true;
	for (uint32_t i = 0; i < n; i++) {
		const char *hard =
		    environment_other(e->near_hard[i], "glance", p->arena);

		if (!costdb_environment(p->db, hard, false, &id[found], err))
			return false;
		rank[found] = e->rank[i];
		found += id[found] != DB_NO_ID;
	}
	e->near_probes = (struct db_environments){id, rank, found};
	return true;
}

static bool
is_stored(const struct pricer *p, uint32_t i)
{
	if (i == p->mix->n)
		return true;
	return p->mix->target[i].ask_ms > 0
	    || p->mix->target[i].source == PRICE_MEASURED;
}

static bool
is_measured_here(const struct pricer *p, uint32_t i)
{
	return i == p->mix->n || p->mix->target[i].source == PRICE_MEASURED;
}

/* The board's facts of a target; of one that it has not, facts that no figure
 * was ever taken under. */
static const char *
hard_of_board(const struct board *b, const char *target, struct arena *a)
{
	const char *hard = board_facts(b, target, a);

	return hard
	    ? hard
	    : facts_canonical(
	        arena_printf(a, "cost=measured\nmachine.lacks=%s\ntarget=%s\n",
	            target, target),
	        a);
}

static const char *
hard_alone(const struct pricer *p, uint32_t i, const char *machine)
{
	const struct target *t = i < p->mix->n ? &p->mix->target[i] : NULL;

	if (p->o.board && (!t || is_measured_here(p, i) || t->is_this_cpu))
		return hard_of_board(
		    p->o.board, t ? t->kind->name : "convert", p->arena);
	return environment_hard(t, machine, p->arena);
}

/* The first name behind `last` of those that wait beside target i; NULL: none. */
static const char *
next_beside(const struct mix *m, uint32_t i, const char *last)
{
	const char *next = NULL;

	for (uint32_t k = 0; k < m->n; k++) {
		const struct target_kind *kind = m->target[k].kind;

		if (k != i && kind->rest && strcmp(kind->name, last) > 0
		    && (!next || strcmp(kind->name, next) < 0))
			next = kind->name;
	}
	return next;
}

/* The runtimes that wait beside target i while it is measured, whatever the order of
 * the mix; "" for none. */
static const char *
beside(const struct pricer *p, uint32_t i)
{
	const char *list = "", *name = "";

	while (p->o.threads > 1 && (name = next_beside(p->mix, i, name)))
		list = arena_printf(
		    p->arena, "%s%s%s", list, *list ? "," : "", name);
	return list;
}

/* The facts prices of target i are looked up under. */
static const char *
hard_of(const struct pricer *p, uint32_t i, const char *machine)
{
	const char *hard = hard_alone(p, i, machine);

	return is_measured_here(p, i)
	    ? facts_with(hard, FACT_BESIDE, beside(p, i), p->arena)
	    : hard;
}

/* The ids of its facts in the database, and what is near. */
static bool
find_ids(struct pricer *p, struct environment *e,
    const struct db_environment *stored, uint32_t nstored, struct err *err)
{
	if (!costdb_environment(p->db, e->hard, false, &e->id, err)
	    || (e->probe_hard
	        && !costdb_environment(
	            p->db, e->probe_hard, false, &e->probe_id, err))
	    || !costdb_environment(p->db,
	        environment_other(e->hard, "bar", p->arena), false, &e->bar_id,
	        err)
	    || (e->second_hard
	        && !costdb_environment(
	            p->db, e->second_hard, false, &e->second_id, err)))
		return false;
	find_near(p, e, stored, nstored);
	return find_near_probes(p, e, err);
}

/* Where another pricer knows it, that has gathered it from this machine. */
static void
describe(const struct pricer *p, struct environment *e, uint32_t i,
    const char *machine)
{
	const struct environment *known =
	    p->o.known ? &p->o.known->environment[i] : NULL;

	e->hard = known ? known->hard : hard_of(p, i, machine);
	e->machine = origin_name(e->hard, p->arena);
	if (!is_measured_here(p, i))
		return;
	e->probe_hard = environment_other(e->hard, "glance", p->arena);
	e->second_hard = environment_other(e->hard, "second", p->arena);
}

bool
environments_open(struct pricer *p, struct err *err)
{
	const struct db_environment *stored = NULL;
	const char *machine =
	    p->o.known ? NULL : environment_machine(p->o.threads, p->arena);
	uint32_t nstored = 0;

	if (p->db
	    && !costdb_environments(p->db, &stored, &nstored, p->arena, err))
		return false;
	for (uint32_t i = 0; i <= p->mix->n; i++) {
		struct environment *e = &p->environment[i];

		e->scale = 1;
		e->is_stored = is_stored(p, i);
		if (!e->is_stored)
			continue;
		describe(p, e, i, machine);
		if (p->db && !find_ids(p, e, stored, nstored, err))
			return false;
	}
	return true;
}
