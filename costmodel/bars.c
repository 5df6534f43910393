/* Candidates that plans may not use: what verifying a plan found wrong, or its
 * library does not build. Kept under the facts of its prices but for `cost`, so
 * another library or machine is asked anew. */
#include <assert.h>
#include <string.h>

#include "costmodel/environment.h"
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"
#include "ir/base/hash.h"

/* A bar says something of a kernel with these numbers, a key nothing of
 * numbers: it is kept under the key and all constants of the model. */
static struct hash128
constants_hash(const struct graph *g)
{
	uint64_t h[2] = {0, 1};
	struct hash128 out;
	struct arena scratch;

	for (value_id v = 0; v < g->nvalues; v++) {
		const struct tensor *t = graph_value(g, v)->constant;

		if (!t || (t->kind != TENSOR_VIEW && t->kind != TENSOR_FILL))
			continue;
		arena_init(&scratch);
		for (int i = 0; i < 2; i++)
			h[i] = hash64(tensor_data(t, &scratch), t->bytes, h[i]);
		arena_release(&scratch);
	}
	memcpy(out.byte, h, sizeof out.byte);
	return out;
}

/* The whole model is read for it, once. */
static const struct hash128 *
constants_of(struct pricer *p)
{
	if (!p->has_constants)
		p->constants = constants_hash(p->graph);
	p->has_constants = true;
	return &p->constants;
}

static struct db_subject
barred_subject(struct pricer *p, const struct subject *s)
{
	const struct hash128 *h = constants_of(p);
	struct db_subject barred = s->db;
	uint8_t *bytes =
	    arena_new(p->arena, uint8_t, barred.n + sizeof h->byte);

	assert(barred.n > 0);
	memcpy(bytes, barred.bytes, barred.n);
	memcpy(bytes + barred.n, h->byte, sizeof h->byte);
	barred.bytes = bytes;
	barred.n += sizeof h->byte;
	return barred;
}

bool
subject_lookup_bar(struct pricer *p, struct subject *s, struct err *err)
{
	const struct environment *e = &p->environment[s->target];
	struct db_subject barred;
	struct db_found f;

	assert(e->is_stored);
	if (e->bar_id == DB_NO_ID)
		return true;
	barred = barred_subject(p, s);
	if (!costdb_lookup(p->db, barred.bytes, barred.n, e->bar_id, &f, err))
		return false;
	if (f.attempts == 0)
		return true;
	subject_fail(p, s, arena_str(p->arena, f.detail));
	price_of(p, s)->origin = FROM_DB_EXACT;
	price_of(p, s)->when = arena_str(p->arena, f.at_utc);
	return true;
}

static bool
store(struct pricer *p, struct costdb *db, const struct subject *s,
    enum outcome outcome, const char *why, struct err *err)
{
	struct environment *e = &p->environment[s->target];
	const struct db_subject barred = barred_subject(p, s);
	const struct sample sample = sample_failed(outcome, "%s", why);

	return costdb_environment(db,
	           environment_other(e->hard, "bar", p->arena), true,
	           &e->bar_id, err)
	    && costdb_put(db, &barred, e->bar_id, &sample, err)
	    && costdb_flush(db, err);
}

/* Where measuring is off the database was opened to be read. */
static bool
store_apart(struct pricer *p, const struct subject *s, enum outcome outcome,
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
pricer_bar(struct pricer *p, uint32_t candidate, enum outcome outcome,
    const char *why, struct err *err)
{
	const uint32_t subject = p->subject_of[candidate];
	struct subject *s = &p->subject[subject];
	struct arena scratch;
	bool ok = true;

	arena_init(&scratch);
	subject_describe(p, subject, &scratch);
	arena_release(&scratch);
	subject_fail(p, s, arena_str(p->arena, why));
	/* what a board's price is for may well run there */
	if (!p->db || p->o.board || !p->environment[s->target].is_stored)
		return true;
	if (p->o.measure && !p->db_is_full)
		ok = recording_begin(p, &subject, 1, err)
		    && store(p, p->db, s, outcome, why, err);
	else if (!p->o.measure)
		ok = store_apart(p, s, outcome, why, err);
	if (!ok) {
		notes_add(p->o.notes, "not remembered: %s", err->text);
		err_clear(err);
	}
	return true;
}
