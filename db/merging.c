/* The rows of another database, each looked at before it is let in. Ids of ours
 * are looked up anew in each transaction: in between others may collect. */
#include "db/merging.h"

#include <string.h>
#include <sys/stat.h>

#include "db/admin.h"
#include "db/facts.h"
#include "db/sql.h"
#include "db/sum.h"

/* TUNING: at 100,000 attempts a second others who write wait a few seconds, well
 * within their minute; smaller ones write pages of indexes over and over. */
#define ROWS_PER_TRANSACTION 400000

/* TUNING: a few megabytes; attempts at one subject lie together or a night apart. */
#define SUBJECTS_REMEMBERED 65536

enum column {
	UUID,
	SUBJECT,
	ENV,
	CONDITIONS,
	RUN,
	OUTCOME,
	N,
	LOW,
	MEDIAN,
	HIGH,
	MIN,
	MAX_ERROR,
	SPAN,
	LIMIT,
	DETAIL,
	AT_UTC,
	RETIRED,
	ID,
	SUM,
	HASH,
	BYTES,
	KIND,
	SKELETON,
	FAMILY,
	SUMMARY,
	CPU,
};

#define ATTEMPTS(sum, cpu) \
	"SELECT m.uuid,m.subject_id,m.env_id,m.conditions_id,m.run_id," \
	"m.outcome,m.n,m.low_ns,m.median_ns,m.high_ns,m.min_ns,m.max_error," \
	"m.span_ns,m.limit_ns,m.detail,m.at_utc,m.retired,m.measurement_id," sum \
	",s.hash,s.bytes,s.kind,s.skeleton,s.family,s.summary," cpu \
	" FROM measurement m NOT INDEXED" \
	" LEFT JOIN subject s ON s.subject_id=m.subject_id" \
	" WHERE m.measurement_id>?1 ORDER BY m.measurement_id"

static void
begin_turn(struct merging *m)
{
	idmap_init(&m->runs, &m->turn);
	idmap_init(&m->conditions, &m->turn);
	m->subject =
	    arena_new(&m->turn, struct merging_subject, m->nremembered);
}

/* TUNING: fewer bytes than a row of a subject takes, its two hashes alone are 32. */
#define LEAST_OF_A_SUBJECT 32

/* No more than there can be: ids of a foreign file may be any. What cannot be told
 * is found out when its rows are read. */
static uint32_t
remembered(struct costdb *from)
{
	struct err ignored = {.kind = ERR_NONE};
	struct stat st;
	int64_t last, most = SUBJECTS_REMEMBERED;

	if (stat(from->path, &st) == 0
	    && st.st_size / LEAST_OF_A_SUBJECT < most)
		most = st.st_size / LEAST_OF_A_SUBJECT;
	if (sql_integer(
	        from, "SELECT max(subject_id) FROM subject", &last, &ignored)
	    && last < most)
		most = last < 0 ? 0 : last;
	return (uint32_t)most + 1;
}

void
merging_init(struct merging *m)
{
	m->nremembered = remembered(m->from);
	arena_init(&m->a);
	arena_init(&m->turn);
	buf_init(&m->sum);
	idmap_init(&m->envs, &m->a);
	begin_turn(m);
}

void
merging_release(struct merging *m)
{
	buf_release(&m->sum);
	arena_release(&m->turn);
	arena_release(&m->a);
}

/* Is it the file that is written that has failed, or memory? */
static bool
is_ours(const struct merging *m, const struct err *err)
{
	int rc = sqlite3_errcode(m->to->h);

	return err->kind == ERR_INTERNAL
	    || (rc != SQLITE_OK && rc != SQLITE_ROW && rc != SQLITE_DONE);
}

bool
merging_survives(struct merging *m, struct err *err)
{
	if (err->kind == ERR_NONE)
		return true;
	if (is_ours(m, err)) {
		m->to->merge_failed = true;
		return false;
	}
	if (!m->salvages)
		return false;
	if (m->survived++ == 0)
		notes_add(m->notes, "%s: passed over", err->text);
	err_clear(err);
	return true;
}

static bool
find_environments(struct merging *m, struct err *err)
{
	for (uint32_t i = 0; i < m->nenvs; i++) {
		struct merging_env *env = &m->env[i];

		env->to = DB_NO_ID;
		if (merge_hard_is_sane(env->hard, &m->turn)
		    && !row_text(m->to, SQL_ENV_FIND, SQL_ENV_ADD, env->hard,
		        &env->to, err))
			return false;
	}
	return true;
}

bool
merging_environments(struct merging *m, struct err *err)
{
	const struct db_environment *env;
	uint32_t n;

	if (!costdb_environments(m->from, &env, &n, &m->a, err)
	    && !merging_survives(m, err))
		return false;
	m->env = arena_new(&m->a, struct merging_env, n);
	m->nenvs = n;
	for (uint32_t i = 0; i < n; i++) {
		m->env[i].hard = env[i].hard;
		idmap_add(&m->envs, env[i].id, i);
	}
	return find_environments(m, err);
}

static bool
turn_over(struct merging *m, struct err *err)
{
	if (++m->to->merge_rows < ROWS_PER_TRANSACTION)
		return true;
	m->to->merge_rows = 0;
	arena_release(&m->turn);
	arena_init(&m->turn);
	begin_turn(m);
	return merge_flush(&m->in, err) && sql_end(m->to, true, err)
	    && sql_begin(m->to, err) && merge_turned(&m->in, err)
	    && find_environments(m, err);
}

/* ---- what a row refers to ---- */

/* Theirs. */
static sqlite3_stmt *
get_by_id(struct merging *m, enum statement which, db_id id, bool *row,
    struct err *err)
{
	sqlite3_stmt *s = sql_get(m->from, which, err);

	*row = false;
	if (!s)
		return NULL;
	sqlite3_bind_int64(s, 1, id);
	return sql_step(m->from, s, row, err) || merging_survives(m, err)
	    ? s
	    : NULL;
}

static bool
map_conditions(struct merging *m, db_id from, db_id *to, struct err *err)
{
	sqlite3_stmt *s;
	bool row;

	*to = DB_NO_ID;
	if (from == DB_NO_ID || idmap_find(&m->conditions, from, to))
		return true;
	if (!(s = get_by_id(m, SQL_CONDITIONS_GET, from, &row, err)))
		return false;
	if (row
	    && !row_text(m->to, SQL_CONDITIONS_FIND, SQL_CONDITIONS_ADD,
	        column_text(s, 0), to, err))
		return false;
	sqlite3_reset(s);
	idmap_add(&m->conditions, from, *to);
	return true;
}

static bool
map_run(struct merging *m, db_id from, db_id *to, struct err *err)
{
	struct run_row run;
	sqlite3_stmt *s;
	bool row, ok = true;

	*to = DB_NO_ID;
	if (from == DB_NO_ID || idmap_find(&m->runs, from, to))
		return true;
	if (!(s = get_by_id(m, SQL_RUN_GET, from, &row, err)))
		return false;
	if (row && sqlite3_column_bytes(s, 0) == sizeof run.uuid) {
		memcpy(run.uuid, sqlite3_column_blob(s, 0), sizeof run.uuid);
		run.tool = column_text(s, 1);
		run.command = column_text(s, 2);
		run.host = column_text(s, 3);
		run.started_utc = column_text(s, 4);
		ok = merge_run(&m->in, &run, to, err);
	}
	sqlite3_reset(s);
	idmap_add(&m->runs, from, *to);
	return ok;
}

/* Columns from `first` on: bytes, kind, skeleton, family, summary. */
static bool
read_subject(sqlite3_stmt *s, int first, struct db_subject *subject)
{
	if (sqlite3_column_bytes(s, first + 2) != 16
	    || sqlite3_column_bytes(s, first + 3) != 16)
		return false;
	*subject = (struct db_subject){
	    .n = (size_t)sqlite3_column_bytes(s, first),
	    .bytes = sqlite3_column_blob(s, first),
	    .kind = column_text(s, first + 1),
	    .summary = column_text(s, first + 4),
	};
	memcpy(subject->skeleton.byte, sqlite3_column_blob(s, first + 2), 16);
	memcpy(subject->family.byte, sqlite3_column_blob(s, first + 3), 16);
	return true;
}

/* Of the row of an attempt; what is not known of it yet is its id of ours. */
static struct merging_subject *
subject_of(struct merging *m, sqlite3_stmt *s)
{
	const db_id from = sqlite3_column_int64(s, SUBJECT);
	struct merging_subject *subject =
	    &m->subject[(uint64_t)from % m->nremembered];
	const void *hash;

	if (subject->is_set && subject->from == from)
		return subject;
	*subject = (struct merging_subject){.from = from, .is_set = true};
	subject->hash = hash128(sqlite3_column_blob(s, BYTES),
	    (size_t)sqlite3_column_bytes(s, BYTES));
	keyset_fetch(&m->to->keys, subject_key(&subject->hash));
	hash = sqlite3_column_blob(s, HASH);
	subject->is_whole = hash && sqlite3_column_bytes(s, HASH) == 16
	    && memcmp(hash, subject->hash.byte, 16) == 0;
	return subject;
}

static bool
map_subject(struct merging *m, sqlite3_stmt *s, struct merging_subject *subject,
    struct err *err)
{
	struct db_subject row;

	return subject->to != DB_NO_ID || !read_subject(s, BYTES, &row)
	    || merge_subject(&m->in, &row, &subject->hash, &subject->to, err);
}

/* ---- attempts ---- */

bool
merging_prepare(struct merging *m, sqlite3_stmt **s, struct err *err)
{
	static const char *const attempts[] = {ATTEMPTS("NULL", "0"),
	    ATTEMPTS("m.sum", "0"), ATTEMPTS("m.sum", "m.cpu_ns")};
	int64_t there; /* columns were added in this order */

	return sql_integer(m->from,
	           "SELECT count(*) FROM pragma_table_info('measurement')"
	           " WHERE name IN('sum','cpu_ns')",
	           &there, err)
	    && sql_prepare(m->from, attempts[there], s, err);
}

db_id
merging_id(sqlite3_stmt *s)
{
	return sqlite3_column_int64(s, ID);
}

static bool
read_figures(sqlite3_stmt *s, struct measurement_row *row)
{
	*row = (struct measurement_row){
	    .outcome = column_text(s, OUTCOME),
	    .sample =
	        {
	            .n = (uint32_t)column_u64(s, N),
	            .low = column_u64(s, LOW),
	            .median = column_u64(s, MEDIAN),
	            .high = column_u64(s, HIGH),
	            .min = column_u64(s, MIN),
	            .max_error = sqlite3_column_double(s, MAX_ERROR),
	            .span_ns = column_u64(s, SPAN),
	            .limit_ns = column_u64(s, LIMIT),
	            .cpu = column_u64(s, CPU),
	        },
	    .detail = column_text(s, DETAIL),
	    .at_utc = column_text(s, AT_UTC),
	    .retired = sqlite3_column_int(s, RETIRED) != 0,
	};
	if (sqlite3_column_bytes(s, UUID) != sizeof row->uuid)
		return false;
	memcpy(row->uuid, sqlite3_column_blob(s, UUID), sizeof row->uuid);
	return true;
}

/* An attempt without a checksum is believed, in a file that is whole. */
static bool
trust_once(struct merging *m, struct err *err)
{
	if (m->is_trusted)
		return true;
	m->is_trusted = costdb_trust(m->from, err);
	return m->is_trusted;
}

static bool
refer(struct merging *m, sqlite3_stmt *s, struct merging_subject *subject,
    struct measurement_row *row, struct err *err)
{
	if (!map_subject(m, s, subject, err)
	    || !map_conditions(
	        m, sqlite3_column_int64(s, CONDITIONS), &row->conditions, err)
	    || !map_run(m, sqlite3_column_int64(s, RUN), &row->run, err))
		return false;
	row->subject = subject->to;
	return true;
}

bool
merging_attempt(struct merging *m, sqlite3_stmt *s, struct err *err)
{
	const bool has_sum = sqlite3_column_type(s, SUM) != SQLITE_NULL;
	struct merging_subject *subject;
	struct measurement_row row;
	db_id env;
	uint64_t sum;

	if (!has_sum && !trust_once(m, err))
		return false;
	if (!read_figures(s, &row)
	    || !idmap_find(&m->envs, sqlite3_column_int64(s, ENV), &env)) {
		m->in.count->rejected++;
		return true;
	}
	subject = subject_of(m, s);
	sum = sum_of_row(&row, &subject->hash, m->env[env].hard, &m->sum);
	if (has_sum
	    && (!subject->is_whole
	        || (uint64_t)sqlite3_column_int64(s, SUM) != sum)) {
		m->in.count->rejected++;
		return true;
	}
	row.env = m->env[env].to;
	return refer(m, s, subject, &row, err)
	    && merge_attempt(&m->in, &row, &sum, err) && turn_over(m, err);
}

/* ---- what else there is ---- */

/* The file may be older than its list of these. */
static bool
merge_all_retired(struct merging *m, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int64_t there;
	bool row = false, ok;

	if (!sql_integer(m->from,
	        "SELECT count(*) FROM sqlite_schema WHERE name='retired'",
	        &there, err))
		return false;
	if (!there)
		return true;
	ok = sql_prepare(m->from, "SELECT uuid FROM retired", &s, err);
	while (ok && sql_step(m->from, s, &row, err) && row)
		ok = sqlite3_column_bytes(s, 0) != 16
		    || (merge_retired(&m->in, sqlite3_column_blob(s, 0), err)
		        && turn_over(m, err));
	sqlite3_finalize(s);
	return ok && err->kind == ERR_NONE;
}

static bool
map_occurring(struct merging *m, db_id from, db_id *to, struct err *err)
{
	struct merging_subject *known =
	    &m->subject[(uint64_t)from % m->nremembered];
	struct db_subject subject;
	struct hash128 hash;
	sqlite3_stmt *s;
	bool row, ok = true;

	*to = known->is_set && known->from == from ? known->to : DB_NO_ID;
	if (*to != DB_NO_ID)
		return true;
	if (!(s = get_by_id(m, SQL_SUBJECT_GET, from, &row, err)))
		return false;
	if (row && read_subject(s, 0, &subject)) {
		hash = hash128(subject.bytes, subject.n);
		ok = merge_subject(&m->in, &subject, &hash, to, err);
	}
	sqlite3_reset(s);
	return ok;
}

/* Whole within a transaction, for the sake of its id. */
static bool
merge_model(struct merging *m, sqlite3_stmt *model, struct err *err)
{
	sqlite3_stmt *s = get_by_id(m, SQL_MODEL_SUBJECTS,
	    sqlite3_column_int64(model, 0), &(bool){false}, err);
	db_id id, subject;
	bool row = false, ok;

	if (!s)
		return false;
	sqlite3_reset(s);
	if (sqlite3_column_bytes(model, 1) != 16)
		return true;
	ok = merge_model_row(&m->in, sqlite3_column_blob(model, 1),
	    column_text(model, 2), column_u64(model, 3), &id, err);
	while (ok && sql_step(m->from, s, &row, err) && row)
		ok = map_occurring(m, sqlite3_column_int64(s, 0), &subject, err)
		    && merge_occurrence(&m->in, id, subject, column_u64(s, 1),
		        column_text(s, 2), err);
	sqlite3_reset(s);
	return ok && err->kind == ERR_NONE && turn_over(m, err);
}

static bool
merge_models(struct merging *m, struct err *err)
{
	sqlite3_stmt *s = sql_get(m->from, SQL_MODEL_LIST, err);
	bool row = false;

	while (s && sql_step(m->from, s, &row, err) && row)
		if (!merge_model(m, s, err))
			break;
	if (s)
		sqlite3_reset(s);
	return err->kind == ERR_NONE;
}

bool
merging_rest(struct merging *m, struct err *err)
{
	return (merge_all_retired(m, err) || merging_survives(m, err))
	    && (merge_models(m, err) || merging_survives(m, err));
}
