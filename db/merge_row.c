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

bool
merge_turned(struct merge_in *m, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->to, SQL_RETIRED_ANY, err);
	bool row;

	if (!s || !sql_step(m->to, s, &row, err))
		return false;
	m->any_retired = row && sqlite3_column_int(s, 0) != 0;
	sqlite3_reset(s);
	return true;
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

bool
merge_subject(struct merge_in *m, const struct db_subject *subject,
    const struct hash128 *hash, db_id *id, struct err *err)
{
	*id = DB_NO_ID;
	if (subject->n == 0 || subject->n > limit_of(LIMIT_DB_SUBJECT)
	    || strlen(subject->summary) > TEXT_MAX
	    || (strcmp(subject->kind, "candidate") != 0
	        && strcmp(subject->kind, "conversion") != 0))
		return true;
	return row_hashed_subject(m->to, subject, hash, id, err);
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

bool
merge_end(struct merge_in *m, bool ok, struct err *err)
{
	for (uint32_t i = 0; ok && i < m->ngroups; i++)
		ok = compare_group(m, &m->group[i], err);
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

static bool
retire(struct merge_in *m, const uint8_t uuid[16], struct err *err)
{
	sqlite3_stmt *s = sql_get(m->to, SQL_MEASUREMENT_RETIRE, err);

	if (!s)
		return false;
	bind_blob(s, 1, uuid, 16);
	if (!sql_run(m->to, s, err))
		return false;
	m->count->retired += sqlite3_changes(m->to->h) > 0;
	return true;
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
	return sql_run(m->to, s, err) && retire(m, uuid, err);
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
	if (!row_merge_measurement(m->to, row, sum, &added, err))
		return false;
	if (added) {
		m->count->added++;
		note_figures(m, row);
		return true;
	}
	m->count->known++;
	return !row->retired || retire(m, row->uuid, err);
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
	return row_occurrence(m->to, model, subject, occurrences, nodes, err);
}
