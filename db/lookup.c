/* Taking figures out, and saying what is nearest where there are none. */
#include "db/db.h"

#include <stdio.h>
#include <string.h>

#include "db/rows.h"
#include "db/sql.h"
#include "db/verdict.h"

bool
costdb_detail(struct costdb *db, db_id id, struct db_found *f, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_DETAIL_GET, err);
	bool row;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, id);
	if (!sql_step(db, s, &row, err))
		return false;
	if (row) {
		snprintf(f->detail, sizeof f->detail, "%s", column_text(s, 0));
		f->limit_ns = column_u64(s, 1);
	}
	sqlite3_reset(s);
	return true;
}

static struct attempt
read_attempt(sqlite3_stmt *s)
{
	return (struct attempt){
	    .outcome = outcome_find(column_text(s, 0)),
	    .low = column_u64(s, 1),
	    .high = column_u64(s, 2),
	    .n = (uint32_t)column_u64(s, 3),
	    .at_utc = column_text(s, 4),
	    .id = sqlite3_column_int64(s, 5),
	    .conditions = sqlite3_column_int64(s, 6),
	    .min = column_u64(s, 7),
	    .cpu = column_u64(s, 9),
	};
}

static void
see(struct costdb *db, const struct attempt *a, bool is_sound,
    struct verdict *v)
{
	if (!is_sound)
		db->damaged += db->damaged == 0;
	else if (a->outcome != NOUTCOME)
		verdict_see(v, a);
}

/* A subject as it is looked up, hashed once. */
struct lookup_key {
	struct hash128 hash;
	const void *bytes;
	size_t n;
};

/* ---- all attempts at a subject, where they are few ---- */

/* False: it does not fit. */
static bool
keep_row(struct kept_attempt *k, sqlite3_stmt *s)
{
	const char *at_utc = column_text(s, 4);
	const void *uuid = sqlite3_column_blob(s, 11);
	size_t n = strlen(at_utc);

	if (n >= sizeof k->at_utc || n != (size_t)sqlite3_column_bytes(s, 4)
	    || !uuid || sqlite3_column_bytes(s, 11) != sizeof k->uuid)
		return false;
	*k = (struct kept_attempt){
	    .attempt = read_attempt(s),
	    .env = sqlite3_column_int64(s, 10),
	    .is_sound = sqlite3_column_int(s, 8),
	};
	memcpy(k->at_utc, at_utc, n + 1);
	memcpy(k->uuid, uuid, sizeof k->uuid);
	k->attempt.at_utc = k->at_utc;
	return true;
}

/* A statement about the subject of that key; NULL: *err says why. */
static sqlite3_stmt *
ask(struct costdb *db, enum statement which, const struct lookup_key *w,
    struct err *err)
{
	sqlite3_stmt *s = sql_get(db, which, err);

	if (s) {
		sqlite3_bind_int64(s, 1, subject_key(&w->hash));
		bind_blob(s, 2, w->bytes, w->n);
	}
	return s;
}

static bool
keep_attempts(struct costdb *db, const struct lookup_key *w, struct err *err)
{
	struct sought *k = &db->sought;
	sqlite3_stmt *s = ask(db, SQL_LOOKUP_ALL, w, err);
	bool row;

	if (!s)
		return false;
	k->has_all = true;
	while (k->has_all && sql_step(db, s, &row, err) && row) {
		k->has_all =
		    k->nkept < ATTEMPTS_KEPT && keep_row(&k->kept[k->nkept], s);
		k->nkept += k->has_all;
	}
	sqlite3_reset(s);
	return err->kind == ERR_NONE;
}

/* The newest first, as SQL_LOOKUP says them. */
static bool
is_newer(const struct kept_attempt *a, const struct kept_attempt *b)
{
	int order = strcmp(a->at_utc, b->at_utc);

	return order > 0
	    || (order == 0 && memcmp(a->uuid, b->uuid, sizeof a->uuid) > 0);
}

static void
see_kept(struct costdb *db, db_id env, struct verdict *v)
{
	const struct sought *k = &db->sought;
	const struct kept_attempt *of_env[ATTEMPTS_KEPT];
	uint32_t n = 0;

	for (uint32_t i = 0; i < k->nkept; i++) {
		uint32_t at = n;

		if (k->kept[i].env != env)
			continue;
		for (; at > 0 && is_newer(&k->kept[i], of_env[at - 1]); at--)
			of_env[at] = of_env[at - 1];
		of_env[at] = &k->kept[i];
		n++;
	}
	for (uint32_t i = 0; i < n; i++)
		see(db, &of_env[i]->attempt, of_env[i]->is_sound, v);
}

/* ---- else: where there are any, and those of one environment ---- */

/* Rows of a subject lie by environment. False: no more are kept. */
static bool
see_env(struct sought *k, db_id env)
{
	if (k->n > 0 && k->env[k->n - 1] == env) {
		k->several[k->n - 1] = true;
		return true;
	}
	k->env[k->n++] = env;
	return k->n < ENVS_KEPT;
}

static bool
list_environments(
    struct costdb *db, const struct lookup_key *w, struct err *err)
{
	struct sought *k = &db->sought;
	sqlite3_stmt *s = ask(db, SQL_SUBJECT_ENVS, w, err);
	bool row;

	if (!s)
		return false;
	while (sql_step(db, s, &row, err) && row) {
		k->subject = sqlite3_column_int64(s, 0);
		if (!see_env(k, sqlite3_column_int64(s, 1)))
			break;
	}
	sqlite3_reset(s);
	return err->kind == ERR_NONE;
}

/* Most subjects are asked for in several environments, and most of those know nothing
 * of them: what there is, is found once. */
static bool
seek(struct costdb *db, const struct lookup_key *w, struct err *err)
{
	struct sought *k = &db->sought;

	if (db->has_sought && memcmp(&k->hash, &w->hash, sizeof k->hash) == 0)
		return true;
	db->has_sought = false;
	k->hash = w->hash;
	k->subject = DB_NO_ID;
	k->n = k->nkept = 0;
	memset(k->several, 0, sizeof k->several);
	if (!keep_attempts(db, w, err)
	    || (!k->has_all && !list_environments(db, w, err)))
		return false;
	db->has_sought = db->looks_up;
	return true;
}

/* What tells all attempts there, or NSTATEMENT if there are none. */
static enum statement
which_tells(const struct costdb *db, db_id env)
{
	const struct sought *k = &db->sought;
	uint32_t i = 0;

	while (i < k->n && k->env[i] != env)
		i++;
	if (i == k->n && k->n < ENVS_KEPT)
		return NSTATEMENT;
	/* one needs no order, as long as it stays one */
	return i < ENVS_KEPT - 1 && !k->several[i] && db->has_sought
	    ? SQL_LOOKUP_ONE
	    : SQL_LOOKUP;
}

/* All attempts at the subject that was sought, if it has these very bytes. */
static bool
see_attempts(struct costdb *db, const struct lookup_key *w, db_id env,
    struct verdict *v, struct err *err)
{
	const enum statement which = which_tells(db, env);
	sqlite3_stmt *s;
	bool row;

	if (which == NSTATEMENT)
		return true;
	if (!(s = sql_get(db, which, err)))
		return false;
	sqlite3_bind_int64(s, 1, db->sought.subject);
	bind_blob(s, 2, w->bytes, w->n);
	sqlite3_bind_int64(s, 3, env);
	while (sql_step(db, s, &row, err) && row) {
		struct attempt a = read_attempt(s);

		see(db, &a, sqlite3_column_int(s, 8), v);
	}
	return err->kind == ERR_NONE;
}

static bool
lookup(struct costdb *db, const struct lookup_key *w, db_id env,
    struct db_found *found, struct err *err)
{
	struct verdict v;
	db_id failed;

	*found = (struct db_found){.attempts = 0};
	if (!seek(db, w, err))
		return false;
	verdict_init(&v);
	if (db->sought.has_all)
		see_kept(db, env, &v);
	else if (!see_attempts(db, w, env, &v, err))
		return false;
	failed = verdict_conclude(&v);
	*found = v.found;
	return failed == DB_NO_ID || costdb_detail(db, failed, found, err);
}

bool
costdb_begin_lookups(struct costdb *db, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_BEGIN_READING, err);

	db->looks_up = s && sql_run(db, s, err);
	return db->looks_up;
}

void
costdb_end_lookups(struct costdb *db)
{
	db->looks_up = db->has_sought = false;
	/* Ending a transaction that wrote nothing cannot fail in a way that
	 * matters: reads are over either way. */
	if (!sqlite3_get_autocommit(db->h))
		sqlite3_exec(db->h, "COMMIT", NULL, NULL, NULL);
}

bool
costdb_lookup(struct costdb *db, const void *bytes, size_t n, db_id env,
    struct db_found *found, struct err *err)
{
	struct lookup_key w = {hash128(bytes, n), bytes, n};

	return lookup(db, &w, env, found, err);
}

bool
costdb_lookup_any(struct costdb *db, const struct db_subject *subject,
    struct db_environments in, uint32_t *which, struct db_found *found,
    struct err *err)
{
	struct lookup_key w = {
	    hash128(subject->bytes, subject->n), subject->bytes, subject->n};

	*which = in.n;
	*found = (struct db_found){.attempts = 0};
	for (uint32_t i = 0; i < in.n; i++) {
		struct db_found f;

		if (*which < in.n && in.rank[i] != in.rank[*which])
			break; /* further off than what there is */
		if (!lookup(db, &w, in.env[i], &f, err))
			return false;
		if (f.attempts == 0
		    || (f.outcome != OUTCOME_OK && f.outcome != OUTCOME_NOISY))
			continue;
		if (*which == in.n || strcmp(f.good_utc, found->good_utc) > 0) {
			*which = i;
			*found = f;
		}
	}
	return true;
}

static bool
by_hash(struct costdb *db, enum statement which, struct hash128 h,
    const char **summary, struct arena *a, struct err *err)
{
	sqlite3_stmt *s = sql_get(db, which, err);

	if (!s)
		return false;
	bind_blob(s, 1, h.byte, sizeof h.byte);
	return sql_step_text(db, s, summary, a, err);
}

bool
costdb_has_subject(
    struct costdb *db, const void *bytes, size_t n, bool *has, struct err *err)
{
	db_id id;

	*has = false;
	if (!row_find_subject(db, bytes, n, &id, err))
		return false;
	*has = id != DB_NO_ID;
	return true;
}

bool
costdb_nearest(struct costdb *db, const struct db_subject *subject,
    enum db_near *near, const char **summary, struct arena *a, struct err *err)
{
	db_id id;

	*summary = subject->summary;
	if (!row_find_subject(db, subject->bytes, subject->n, &id, err))
		return false;
	*near = DB_NEAR_SAME;
	if (id != DB_NO_ID)
		return true;
	*near = DB_NEAR_SKELETON;
	if (!by_hash(
	        db, SQL_SUBJECT_BY_SKELETON, subject->skeleton, summary, a, err)
	    || *summary)
		return err->kind == ERR_NONE;
	*near = DB_NEAR_FAMILY;
	if (!by_hash(
	        db, SQL_SUBJECT_BY_FAMILY, subject->family, summary, a, err)
	    || *summary)
		return err->kind == ERR_NONE;
	*near = DB_NEAR_NOTHING;
	*summary = "";
	return true;
}

bool
costdb_span(struct costdb *db, db_id env, uint64_t *attempts, uint64_t *ns,
    struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_SPAN, err);
	bool row;

	if (!s)
		return false;
	sqlite3_bind_int64(s, 1, env);
	if (!sql_step(db, s, &row, err))
		return false;
	*attempts = row ? column_u64(s, 0) : 0;
	*ns = row ? column_u64(s, 1) : 0;
	sqlite3_reset(s);
	return true;
}
