/* Two plans that were run in turn, as the database keeps it: ratios, under the facts
 * of conversions with `cost=versus`; the subject is a hash of both plans and of the
 * facts of their targets. One attempt says what the first took per the second, one
 * what it took per itself. */
#include <string.h>

#include "costmodel/environment.h"
#include "costmodel/pricer.h"
#include "costmodel/pricer_parts.h"
#include "ir/base/buf.h"

void
pricer_add_key(const struct pricer *p, uint32_t candidate, struct buf *b)
{
	const struct subject *s = &p->subject[p->subject_of[candidate]];
	const char *facts = p->environment[s->target].hard;

	/* without a database, and where no machine is asked, there are none */
	buf_str(b, facts ? facts : p->mix->target[s->target].text);
	buf_u32(b, (uint32_t)s->db.n);
	buf_add(b, s->db.bytes, s->db.n);
}

static struct db_subject
subject_of(const struct pricer *p, struct hash128 plans, const char *what)
{
	struct db_subject s = {.kind = "candidate"};
	char hash[33];

	hash128_print(plans, hash);
	s.bytes = arena_printf(p->arena, "warm turns %s %s", what, hash);
	s.n = strlen(s.bytes);
	s.skeleton = s.family = hash128(s.bytes, s.n);
	s.summary =
	    arena_printf(p->arena, "plan %.8s, millionths of %s", hash, what);
	return s;
}

static const char *
facts(const struct pricer *p)
{
	return environment_other(
	    p->environment[p->mix->n].hard, "versus", p->arena);
}

static bool
find(struct pricer *p, const struct db_subject *s, struct db_found *f,
    struct err *err)
{
	db_id env;

	*f = (struct db_found){.attempts = 0};
	return costdb_environment(p->db, facts(p), false, &env, err)
	    && (env == DB_NO_ID
	        || costdb_lookup(p->db, s->bytes, s->n, env, f, err));
}

bool
pricer_find_turns(struct pricer *p, struct hash128 plans,
    struct pricer_turns *out, bool *there, struct err *err)
{
	const struct db_subject other = subject_of(p, plans, "another"),
	                        self = subject_of(p, plans, "itself");
	struct db_found a, b;

	*there = false;
	if (!p->db)
		return true;
	if (!find(p, &other, &a, err) || !find(p, &self, &b, err))
		return false;
	*there = a.attempts && b.attempts && a.outcome == OUTCOME_OK
	    && b.outcome == OUTCOME_OK;
	*out = (struct pricer_turns){.pairs = a.n,
	    .ratio = a.ns,
	    .self_low = b.low,
	    .self_high = b.high};
	return true;
}

static bool
put(struct pricer *p, db_id env, const struct db_subject *s, uint32_t n,
    uint64_t low, uint64_t high, struct err *err)
{
	const struct sample sample = {.outcome = OUTCOME_OK,
	    .n = n,
	    .low = low,
	    .median = low / 2 + high / 2 + (low & high & 1),
	    .high = high,
	    .min = low};

	return costdb_put(p->db, s, env, &sample, err);
}

bool
pricer_keep_turns(struct pricer *p, struct hash128 plans,
    const struct pricer_turns *t, struct err *err)
{
	const struct db_subject other = subject_of(p, plans, "another"),
	                        self = subject_of(p, plans, "itself");
	db_id env;

	if (!p->db || !p->o.measure || p->db_is_full)
		return true;
	return (recording_begin(p, NULL, 0, err)
	           && costdb_environment(p->db, facts(p), true, &env, err)
	           && put(p, env, &other, t->pairs, t->ratio, t->ratio, err)
	           && put(
	               p, env, &self, t->pairs, t->self_low, t->self_high, err)
	           && costdb_flush(p->db, err))
	    || survive(p, err);
}
