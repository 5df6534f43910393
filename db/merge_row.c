#include "db/merge_row.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "db/facts.h"
#include "db/sql.h"
#include "ir/base/limits.h"

/* TUNING: far above anything this program writes; keeps one hostile row from
 * filling a disk. */
#define TEXT_MAX 65536

/* TUNING: figures further apart than their own spread and this are a conflict,
 * not noise (sessions of one machine differ by up to 12 %). */
#define CONFLICT_FACTOR 1.12

/* TUNING: conflicts spelled out; all are counted. */
#define CONFLICTS_NAMED 20

static void
forget_kin(struct merge_in *m)
{
	arena_release(&m->turn);
	arena_init(&m->turn);
	map_init(&m->kin, &m->turn);
	m->kin_summary = NULL;
	m->nkin = m->kin_cap = 0;
}

static bool
begin_batch(struct merge_in *m, struct err *err)
{
	int64_t last;

	if (!sql_integer(
	        m->to, "SELECT max(subject_id) FROM subject", &last, err))
		return false;
	batch_release(&m->batch);
	batch_init(&m->batch, last + 1);
	return true;
}

bool
merge_turned(struct merge_in *m, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->to, SQL_RETIRED_ANY, err);
	bool row;

	forget_kin(m);
	if (!s || !sql_step(m->to, s, &row, err))
		return false;
	m->any_retired = row && sqlite3_column_int(s, 0) != 0;
	sqlite3_reset(s);
	return begin_batch(m, err);
}

bool
merge_begin(struct merge_in *m, struct costdb *to, const char *source,
    struct db_merge *count, struct notes *notes, struct err *err)
{
	sqlite3_stmt *s = sql_get(to, SQL_LAST_IDS, err);
	time_t tomorrow = time(NULL) + 86400;
	struct tm tm;
	bool row;

	*m = (struct merge_in){
	    .to = to, .source = source, .count = count, .notes = notes};
	arena_init(&m->a);
	arena_init(&m->turn);
	batch_init(&m->batch, 1);
	map_init(&m->groups, &m->a);
	if (!s || !sql_step(to, s, &row, err))
		return false;
	if (row) {
		m->last = sqlite3_column_int64(s, 0);
		m->last_subject = sqlite3_column_int64(s, 1);
	}
	sqlite3_reset(s);
	gmtime_r(&tomorrow, &tm);
	strftime(
	    m->latest_utc, sizeof m->latest_utc, "%Y-%m-%dT%H:%M:%SZ", &tm);
	return merge_turned(m, err);
}

bool
merge_hard_is_sane(const char *hard, struct arena *scratch)
{
	return hard[0] != '\0' && strlen(hard) <= TEXT_MAX
	    && strcmp(facts_canonical(hard, scratch), hard) == 0;
}

/* What is stored of its kin is asked once a transaction. */
static bool
merge_kin(struct merge_in *m, const struct db_subject *subject, struct err *err)
{
	const struct hash128 pair[2] = {subject->skeleton, subject->family};
	uint32_t i = map_find(&m->kin, pair, sizeof pair);

	if (i != MAP_NONE && strcmp(m->kin_summary[i], subject->summary) <= 0)
		return true;
	if (i == MAP_NONE) {
		i = m->nkin++;
		map_add(&m->kin, arena_copy(&m->turn, pair, sizeof pair),
		    sizeof pair, i);
		m->kin_summary = arena_grow(&m->turn, m->kin_summary,
		    &m->kin_cap, m->nkin, sizeof *m->kin_summary);
	}
	m->kin_summary[i] = arena_str(&m->turn, subject->summary);
	return row_kin(m->to, subject, err);
}

static bool
retire(struct merge_in *m, const struct measurement_row *row, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->to, SQL_MEASUREMENT_RETIRE, err);

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, row->subject);
	sqlite3_bind_int64(s, 2, row->env);
	bind_blob(s, 3, row->uuid, sizeof row->uuid);
	if (!sql_run(m->to, s, err))
		return false;
	m->count->retired += sqlite3_changes(m->to->h) > 0;
	return true;
}

/* One of them came twice: an older copy of it may not count. */
static bool
retire_gathered(struct merge_in *m, struct err *err)
{
	for (uint32_t i = 0; i < m->batch.nattempts; i++)
		if (m->batch.attempt[i].retired
		    && !retire(m, &m->batch.attempt[i], err))
			return false;
	return true;
}

bool
merge_flush(struct merge_in *m, struct err *err)
{
	struct row_batch *b = &m->batch;
	uint32_t added;

	if (!batch_store(b, m->to, &added, err))
		return false;
	for (uint32_t i = 0; i < b->nsubjects; i++)
		if (!merge_kin(m, &b->subject[i].subject, err))
			return false;
	m->count->added += added;
	m->count->known += b->nattempts - added;
	if (added < b->nattempts && !retire_gathered(m, err))
		return false;
	batch_empty(b);
	return true;
}

/* TUNING: reading a key takes a twentieth of looking for one. */
#define KEYS_PER_QUESTION 8

static bool
read_keys(struct costdb *db, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_SUBJECT_KEYS, err);
	bool row = false;

	while (s && sql_step(db, s, &row, err) && row)
		(void)keyset_add(&db->keys, sqlite3_column_int64(s, 0));
	db->has_keys = err->kind == ERR_NONE;
	return db->has_keys;
}

/* Once enough is asked, the keys of all subjects are worth reading. */
static bool
may_be_there(struct merge_in *m, int64_t key, bool *may, struct err *err)
{
	struct costdb *db = m->to;

	*may = true;
	if (!db->has_keys
	    && ++db->asked * KEYS_PER_QUESTION < (uint64_t)m->batch.next)
		return true;
	if (!db->has_keys && !read_keys(db, err))
		return false;
	*may = keyset_add(&db->keys, key);
	return true;
}

bool
merge_subject(struct merge_in *m, const struct db_subject *subject,
    const struct hash128 *hash, db_id *id, struct err *err)
{
	bool may;

	*id = DB_NO_ID;
	if (subject->n == 0 || subject->n > limit_of(LIMIT_DB_SUBJECT)
	    || strlen(subject->summary) > TEXT_MAX
	    || (strcmp(subject->kind, "candidate") != 0
	        && strcmp(subject->kind, "conversion") != 0))
		return true;
	*id = batch_find(&m->batch, subject, hash);
	if (*id != DB_NO_ID)
		return true;
	if (!may_be_there(m, subject_key(hash), &may, err)
	    || (may
	        && !row_find_hashed(
	            m->to, subject->bytes, subject->n, hash, id, err)))
		return false;
	if (*id != DB_NO_ID)
		return true;
	if (batch_is_full(&m->batch) && !merge_flush(m, err))
		return false;
	*id = batch_add_subject(&m->batch, subject, hash);
	return true;
}

static bool
find_run(struct costdb *db, const uint8_t uuid[16], db_id *id, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_RUN_FIND, err);

	*id = DB_NO_ID;
	if (!s)
		return false;
	bind_blob(s, 1, uuid, 16);
	return sql_step_id(db, s, id, err);
}

bool
merge_run(
    struct merge_in *m, const struct run_row *run, db_id *id, struct err *err)
{
	sqlite3_stmt *s;

	if (!find_run(m->to, run->uuid, id, err))
		return false;
	if (*id != DB_NO_ID)
		return true;
	if (!(s = sql_get(m->to, SQL_RUN_MERGE, err)))
		return false;
	bind_blob(s, 1, run->uuid, 16);
	bind_text(s, 2, run->tool);
	bind_text(s, 3, run->command);
	bind_text(s, 4, run->host);
	bind_text(s, 5, run->started_utc);
	bind_text(s, 6, m->source);
	if (!sql_run(m->to, s, err))
		return false;
	*id = sqlite3_last_insert_rowid(m->to->h);
	return true;
}

static bool
is_utc(const char *s)
{
	static const char form[] = "0000-00-00T00:00:00Z";

	if (strlen(s) != sizeof form - 1)
		return false;
	for (size_t i = 0; i < sizeof form - 1; i++)
		if (form[i] == '0' ? s[i] < '0' || s[i] > '9' : s[i] != form[i])
			return false;
	return true;
}

/* The schema's CHECKs and what they cannot say. */
static bool
is_sane(const struct merge_in *m, const struct measurement_row *row)
{
	const struct sample *x = &row->sample;
	enum outcome outcome = outcome_find(row->outcome);

	if (row->subject == DB_NO_ID || row->env == DB_NO_ID
	    || outcome == NOUTCOME)
		return false;
	if (x->low > x->median || x->median > x->high
	    || x->high > (uint64_t)INT64_MAX || !isfinite(x->max_error))
		return false;
	if (outcome == OUTCOME_OK && (x->n == 0 || x->low == 0))
		return false;
	return strlen(row->detail) <= TEXT_MAX && is_utc(row->at_utc)
	    && strcmp(row->at_utc, m->latest_utc) <= 0;
}

static void
report_conflict(struct merge_in *m, const struct merge_group *g, uint64_t low,
    uint64_t high)
{
	if (m->count->conflicts++ >= CONFLICTS_NAMED)
		return;
	notes_add(m->notes,
	    "%s: subject %lld, environment %lld: %llu..%llu ns there, "
	    "%llu..%llu ns here; both are kept",
	    m->source, (long long)g->subject, (long long)g->env,
	    (unsigned long long)g->low, (unsigned long long)g->high,
	    (unsigned long long)low, (unsigned long long)high);
}

static bool
compare_group(struct merge_in *m, const struct merge_group *g, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->to, SQL_PRIOR, err);
	uint64_t low, high;
	bool row;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, g->subject);
	sqlite3_bind_int64(s, 2, g->env);
	sqlite3_bind_int64(s, 3, m->last);
	if (!sql_step(m->to, s, &row, err))
		return false;
	if (row && sqlite3_column_int64(s, 0) > 0) {
		low = column_u64(s, 1);
		high = column_u64(s, 2);
		if ((double)low > (double)g->high * CONFLICT_FACTOR
		    || (double)g->low > (double)high * CONFLICT_FACTOR)
			report_conflict(m, g, low, high);
	}
	sqlite3_reset(s);
	return true;
}

/* Ours that are listed there as retired; an attempt is not found by its uuid alone,
 * so all of them in one go. */
static bool
retire_listed(struct merge_in *m, struct err *err)
{
	sqlite3_stmt *s;

	if (!m->any_listed)
		return true;
	if (!(s = sql_get(m->to, SQL_MEASUREMENT_RETIRE_LISTED, err))
	    || !sql_run(m->to, s, err))
		return false;
	m->count->retired += (uint64_t)sqlite3_changes64(m->to->h);
	return true;
}

bool
merge_end(struct merge_in *m, bool ok, struct err *err)
{
	ok = ok && merge_flush(m, err) && retire_listed(m, err);
	for (uint32_t i = 0; ok && i < m->ngroups; i++)
		ok = compare_group(m, &m->group[i], err);
	batch_release(&m->batch);
	arena_release(&m->turn);
	arena_release(&m->a);
	return ok;
}

static struct merge_group *
group_of(struct merge_in *m, const struct measurement_row *row)
{
	const db_id pair[2] = {row->subject, row->env};
	uint32_t i = map_find(&m->groups, pair, sizeof pair);

	if (i != MAP_NONE)
		return &m->group[i];
	map_add(&m->groups, arena_copy(&m->a, pair, sizeof pair), sizeof pair,
	    m->ngroups);
	m->group = arena_grow(
	    &m->a, m->group, &m->groups_cap, m->ngroups + 1, sizeof *m->group);
	m->group[m->ngroups] = (struct merge_group){
	    .subject = row->subject,
	    .env = row->env,
	    .low = row->sample.low,
	    .high = row->sample.high,
	};
	return &m->group[m->ngroups++];
}

/* Nothing was known of a subject that came just now. */
static void
note_figures(struct merge_in *m, const struct measurement_row *row)
{
	const struct sample *x = &row->sample;
	struct merge_group *g;

	if (row->retired || row->subject > m->last_subject
	    || strcmp(row->outcome, outcome_words[OUTCOME_OK]) != 0)
		return;
	g = group_of(m, row);
	g->low = x->low < g->low ? x->low : g->low;
	g->high = x->high > g->high ? x->high : g->high;
}

/* Was it retired and collected here? */
static bool
is_gone(struct merge_in *m, const uint8_t uuid[16], bool *gone, struct err *err)
{
	sqlite3_stmt *s;

	*gone = false;
	if (!m->any_retired)
		return true;
	if (!(s = sql_get(m->to, SQL_RETIRED_HAS, err)))
		return false;
	bind_blob(s, 1, uuid, 16);
	if (!sql_step(m->to, s, gone, err))
		return false;
	sqlite3_reset(s);
	return true;
}

bool
merge_retired(struct merge_in *m, const uint8_t uuid[16], struct err *err)
{
	sqlite3_stmt *s = sql_get(m->to, SQL_RETIRED_ADD, err);

	if (!s)
		return false;
	m->any_retired = true;
	bind_blob(s, 1, uuid, 16);
	if (!sql_run(m->to, s, err))
		return false;
	m->any_listed |= sqlite3_changes(m->to->h) > 0;
	return true;
}

bool
merge_attempt(struct merge_in *m, const struct measurement_row *row,
    const uint64_t *sum, struct err *err)
{
	bool added, gone;

	if (!is_sane(m, row)) {
		m->count->rejected++;
		return true;
	}
	if (!is_gone(m, row->uuid, &gone, err))
		return false;
	if (gone) {
		m->count->known++;
		return true;
	}
	/* Nothing is known of a subject that came just now. */
	if (row->subject > m->last_subject && sum) {
		batch_add_attempt(&m->batch, row, *sum);
		return !batch_is_full(&m->batch) || merge_flush(m, err);
	}
	if ((row->subject > m->last_subject && !merge_flush(m, err))
	    || !row_merge_measurement(m->to, row, sum, &added, err))
		return false;
	if (added) {
		m->count->added++;
		note_figures(m, row);
		return true;
	}
	m->count->known++;
	return !row->retired || retire(m, row, err);
}

bool
merge_model_row(struct merge_in *m, const void *hash, const char *name,
    uint64_t nodes, db_id *id, struct err *err)
{
	struct db_model model = {.name = name, .nnodes = (uint32_t)nodes};

	memcpy(model.hash.byte, hash, sizeof model.hash.byte);
	return row_model(m->to, &model, id, err);
}

bool
merge_occurrence(struct merge_in *m, db_id model, db_id subject,
    uint64_t occurrences, const char *nodes, struct err *err)
{
	if (model == DB_NO_ID || subject == DB_NO_ID || occurrences == 0
	    || strlen(nodes) > TEXT_MAX)
		return true;
	if (subject >= m->batch.next - m->batch.nsubjects
	    && !merge_flush(m, err))
		return false;
	return row_occurrence(m->to, model, subject, occurrences, nodes, err);
}
