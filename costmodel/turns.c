/* Two plans that were run in turn, as the database keeps it: ratios, under the facts
 * of conversions with `cost=versus`; the subject is a hash of both plans and of the
 * facts of their targets. One attempt says what the first took per the second, one
 * what it took per itself, and one each what a run takes in a loop. */
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

enum turns_figure { PER_ANOTHER, PER_ITSELF, FIRST_TOOK, SECOND_TOOK };

static struct db_subject
subject_of(
    const struct pricer *p, struct hash128 plans, enum turns_figure figure)
{
	static const struct {
		const char *word, *is;
	} row[] = {[PER_ANOTHER] = {"another", "millionths of another"},
	    [PER_ITSELF] = {"itself", "millionths of itself"},
	    [FIRST_TOOK] = {"the first", "the first's ns"},
	    [SECOND_TOOK] = {"the second", "the second's ns"}};
	struct db_subject s = {.kind = "candidate"};
	char hash[33];

	hash128_print(plans, hash);
	s.bytes = arena_printf(
	    p->arena, "turns and loops %s %s", row[figure].word, hash);
	s.n = strlen(s.bytes);
	s.skeleton = s.family = hash128(s.bytes, s.n);
	s.summary =
	    arena_printf(p->arena, "plan %.8s, %s", hash, row[figure].is);
	return s;
}

static const char *
facts(const struct pricer *p)
{
	return environment_other(
	    p->environment[p->mix->n].hard, "versus", p->arena);
}

static bool
find(struct pricer *p, struct hash128 plans, enum turns_figure figure,
    struct db_found *f, struct err *err)
{
	const struct db_subject s = subject_of(p, plans, figure);
	db_id env;

	*f = (struct db_found){.attempts = 0};
	return costdb_environment(p->db, facts(p), false, &env, err)
	    && (env == DB_NO_ID
	        || costdb_lookup(p->db, s.bytes, s.n, env, f, err));
}

static bool
is_there(const struct db_found *f)
{
	return f->attempts && f->outcome == OUTCOME_OK;
}

/* Times are not there where neighbours were busy all the while, or an earlier version of
 * the program ran them. */
static bool
find_times(struct pricer *p, struct hash128 plans, struct pricer_turns *out,
    struct err *err)
{
	for (uint32_t i = 0; i < 2; i++) {
		struct db_found f;

		if (!find(p, plans, i ? SECOND_TOOK : FIRST_TOOK, &f, err))
			return false;
		out->took[i] = is_there(&f) ? f.ns : 0;
	}
	return true;
}

bool
pricer_find_turns(struct pricer *p, struct hash128 plans,
    struct pricer_turns *out, bool *there, struct err *err)
{
	struct db_found a, b;

	*there = false;
	if (!p->db)
		return true;
	if (!find(p, plans, PER_ANOTHER, &a, err)
	    || !find(p, plans, PER_ITSELF, &b, err))
		return false;
	*there = is_there(&a) && is_there(&b);
	*out = (struct pricer_turns){.pairs = a.n,
	    .ratio = a.ns,
	    .self_low = b.low,
	    .self_high = b.high};
	return !*there || find_times(p, plans, out, err);
}

struct figure_found {
	uint32_t n;
	uint64_t low, high;
};

static bool
put(struct pricer *p, db_id env, struct hash128 plans, enum turns_figure figure,
    const struct figure_found *f, struct err *err)
{
	const struct db_subject s = subject_of(p, plans, figure);
	const struct sample sample = {.outcome = OUTCOME_OK,
	    .n = f->n,
	    .low = f->low,
	    .median = f->low / 2 + f->high / 2 + (f->low & f->high & 1),
	    .high = f->high,
	    .min = f->low};

	return costdb_put(p->db, &s, env, &sample, err);
}

bool
pricer_keep_turns(struct pricer *p, struct hash128 plans,
    const struct pricer_turns *t, struct err *err)
{
	const struct figure_found row[] = {
	    [PER_ANOTHER] = {t->pairs, t->ratio, t->ratio},
	    [PER_ITSELF] = {t->pairs, t->self_low, t->self_high},
	    [FIRST_TOOK] = {t->pairs, t->took[0], t->took[0]},
	    [SECOND_TOOK] = {t->pairs, t->took[1], t->took[1]}};
	db_id env;
	bool ok;

	if (!p->db || !p->o.measure || p->db_is_full)
		return true;
	ok = recording_begin(p, NULL, 0, err)
	    && costdb_environment(p->db, facts(p), true, &env, err);
	for (enum turns_figure i = 0; ok && i <= SECOND_TOOK; i++)
		ok = row[i].low == 0 || put(p, env, plans, i, &row[i], err);
	return (ok && costdb_flush(p->db, err)) || survive(p, err);
}
