/* Candidates that plans may not use: what verifying a plan found wrong, or its
 * library does not build. Kept under the facts of its prices but for `cost`, so
 * another library or machine is asked anew. */
#include "costmodel/environment.h"
#include "costmodel/pricer.h"
#include "costmodel/pricer_state.h"

static void
fail(struct pricer *p, struct slot *s, const char *why)
{
	s->price.state = PRICE_FAILED;
	s->price.detail = arena_str(p->arena, why);
}

bool
slot_lookup_bar(struct pricer *p, struct slot *s, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_found f;

	if (e->bar_id == DB_NO_ID)
		return true;
	if (!costdb_lookup(
	        p->db, s->subject.bytes, s->subject.n, e->bar_id, &f, err))
		return false;
	if (f.attempts == 0)
		return true;
	fail(p, s, f.detail);
	s->price.origin = FROM_DB_EXACT;
	s->price.when = arena_str(p->arena, f.at_utc);
	return true;
}

static bool
store(struct pricer *p, struct costdb *db, const struct slot *s,
    enum outcome outcome, const char *why, struct err *err)
{
	struct environment *e = &p->environment[s->target];
	const struct sample sample = sample_failed(outcome, "%s", why);

	return costdb_environment(db,
	           environment_other(e->hard, "bar", p->arena), true,
	           &e->bar_id, err)
	    && costdb_put(db, &s->subject, e->bar_id, &sample, err)
	    && costdb_flush(db, err);
}

/* Where measuring is off the database was opened to be read. */
static bool
store_apart(struct pricer *p, const struct slot *s, enum outcome outcome,
    const char *why, struct err *err)
{
	struct costdb *db;

	if (!costdb_open(&db, p->o.db, DB_WRITE, p->arena, err))
		return false;
	if (costdb_begin_run(db, "marq", p->o.command ? p->o.command : "",
	        environment_soft(pricer_workers(p), p->arena), err)
	    && store(p, db, s, outcome, why, err))
		return costdb_close(db, err);
	costdb_abandon(db);
	return false;
}

/* The plan does not depend on its being remembered. */
bool
pricer_bar(struct pricer *p, struct prices *prices, uint32_t candidate,
    enum outcome outcome, const char *why, struct err *err)
{
	const uint32_t slot = p->slot_of[candidate];
	struct slot *s = &p->slot[slot];
	struct arena scratch;
	bool ok = true;

	arena_init(&scratch);
	slot_describe(p, slot, &scratch);
	arena_release(&scratch);
	fail(p, s, why);
	slot_publish(p, prices, slot);
	if (!p->db || !p->environment[s->target].is_stored)
		return true;
	if (p->o.measure && !p->db_is_full)
		ok = recording_begin(p, &slot, 1, err)
		    && store(p, p->db, s, outcome, why, err);
	else if (!p->o.measure)
		ok = store_apart(p, s, outcome, why, err);
	if (!ok) {
		notes_add(p->o.notes, "not remembered: %s", err->text);
		err_clear(err);
	}
	return true;
}
