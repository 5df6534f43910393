#include "costmodel/shared_canary.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/environment.h"
#include "costmodel/pricer_parts.h"

/* TUNING: a second or two on each machine. */
#define SHARED_MOST 32

struct canaries {
	struct pricer *p;
	uint32_t subject[SHARED_MOST], n;
	db_id env[SHARED_MOST];
	struct err *err;
};

static int
compare_keys(const void *a, const void *b)
{
	const struct wanted_subject *x = a, *y = b;

	return memcmp(x->key.byte, y->key.byte, sizeof x->key.byte);
}

/* Conversions, which have no summary, are of no one target. */
static void
choose(struct canaries *c, const struct station *s, const struct want *w,
    uint32_t most, struct arena *scratch)
{
	struct wanted_subject *all =
	    arena_copy(scratch, w->subject, w->n * sizeof *all);

	most = most < SHARED_MOST ? most : SHARED_MOST;
	if (w->n > 1)
		qsort(all, w->n, sizeof *all, compare_keys);
	for (uint32_t i = 0; i < w->n && c->n < most; i++) {
		uint32_t subject = station_find(s, &all[i]);

		if (subject != SUBJECT_NONE && all[i].summary[0])
			c->subject[c->n++] = subject;
	}
}

/* Leave out those that are there. */
static bool
find_environments(struct canaries *c, struct err *err)
{
	struct pricer *p = c->p;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++) {
		const struct subject *x = &p->subject[c->subject[i]];
		const char *hard = environment_other(
		    p->environment[x->target].hard, "canary", p->arena);
		struct db_found found;
		db_id env;

		if (!costdb_environment(p->db, hard, true, &env, err)
		    || !costdb_lookup(
		        p->db, x->db.bytes, x->db.n, env, &found, err))
			return false;
		if (found.attempts)
			continue;
		c->subject[n] = c->subject[i];
		c->env[n++] = env;
	}
	c->n = n;
	return true;
}

static void
done(void *context, uint32_t job, const struct sample *r)
{
	struct canaries *c = context;

	if (c->err->kind == ERR_NONE)
		store_attempt(c->p, &c->p->subject[c->subject[job]],
		    c->env[job], r, c->err);
}

bool
station_canaries(
    struct station *s, const struct want *w, uint32_t most, struct err *err)
{
	struct canaries c = {.p = s->pricer, .err = err};
	struct measure_job job[SHARED_MOST];

	choose(&c, s, w, most, s->arena);
	if (!c.p->db || c.n == 0 || !find_environments(&c, err))
		return err->kind == ERR_NONE;
	for (uint32_t i = 0; i < c.n; i++) {
		subject_describe(c.p, c.subject[i], s->arena);
		job[i] = (struct measure_job){
		    .candidate = c.p->subject[c.subject[i]].candidate,
		    .value = VALUE_NONE,
		};
	}
	return c.n == 0
	    || (measuring_begin(c.p, c.subject, c.n, err)
	        && measurer_run(c.p->measurer, job, c.n, done, &c, err)
	        && err->kind == ERR_NONE && costdb_flush(c.p->db, err));
}
