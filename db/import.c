/* Reading JSON lines back in: the rows of a merge from text nobody vouches
 * for. Every line is an object; what it holds is named by its first key. */
#include "db/admin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "db/hex.h"
#include "db/idmap.h"
#include "db/merge_row.h"
#include "db/sql.h"
#include "ir/base/jsonin.h"
#include "ir/base/limits.h"

/* TUNING: ten times the longest line an export writes. */
#define ROWS_PER_TRANSACTION 20000

struct db_import {
	struct merge_in in;
	struct arena a, line; /* of the import; of one line */
	struct idmap envs, conditions, runs, subjects, models;
	uint32_t rows;
	bool begun; /* the heading was there */
};

static bool
read_id(const struct cJSON *o, const char *key, db_id *id, struct err *err)
{
	int64_t x;

	if (!jsonin_i64(o, key, &x, err))
		return false;
	*id = x;
	return true;
}

static bool
read_hex(struct db_import *m, const struct cJSON *o, const char *key,
    const void **bytes, size_t *n, struct err *err)
{
	const char *text;

	if (!jsonin_str(o, key, &text, err))
		return false;
	return hex_bytes(text, bytes, n, &m->line)
	    || err_set(err, ERR_INPUT, "'%s' is not hexadecimal", key);
}

static bool
read_hash(struct db_import *m, const struct cJSON *o, const char *key,
    uint8_t out[16], struct err *err)
{
	const void *bytes;
	size_t n;

	if (!read_hex(m, o, key, &bytes, &n, err))
		return false;
	if (n != 16)
		return err_set(
		    err, ERR_INPUT, "'%s' is %zu bytes, not 16", key, n);
	memcpy(out, bytes, 16);
	return true;
}

static bool
read_u64(const struct cJSON *o, const char *key, uint64_t *out, struct err *err)
{
	int64_t x;

	if (!jsonin_i64(o, key, &x, err))
		return false;
	if (x < 0)
		return err_set(err, ERR_INPUT, "'%s' is negative", key);
	*out = (uint64_t)x;
	return true;
}

static bool
read_heading(struct db_import *m, const struct cJSON *o, struct err *err)
{
	const char *schema;

	if (!jsonin_str(o, "schema", &schema, err))
		return false;
	m->begun = strcmp(schema, "marq.db/1") == 0;
	return m->begun
	    || err_set(err, ERR_INPUT,
	        "schema '%s', this program reads 'marq.db/1'", schema);
}

static bool
read_environment(struct db_import *m, const struct cJSON *o, struct err *err)
{
	const char *hard;
	db_id from, to = DB_NO_ID;

	if (!read_id(o, "environment", &from, err)
	    || !jsonin_str(o, "hard", &hard, err))
		return false;
	if (!merge_hard_is_sane(hard, &m->line))
		return err_set(
		    err, ERR_INPUT, "facts are not in canonical form");
	if (!row_text(m->in.to, SQL_ENV_FIND, SQL_ENV_ADD, hard, &to, err))
		return false;
	idmap_add(&m->envs, from, to);
	return true;
}

static bool
read_conditions(struct db_import *m, const struct cJSON *o, struct err *err)
{
	const char *soft;
	db_id from, to;

	if (!read_id(o, "conditions", &from, err)
	    || !jsonin_str(o, "soft", &soft, err)
	    || !row_text(m->in.to, SQL_CONDITIONS_FIND, SQL_CONDITIONS_ADD,
	        soft, &to, err))
		return false;
	idmap_add(&m->conditions, from, to);
	return true;
}

static bool
read_run(struct db_import *m, const struct cJSON *o, struct err *err)
{
	struct run_row run;
	db_id from, to;

	if (!read_id(o, "run", &from, err)
	    || !read_hash(m, o, "uuid", run.uuid, err)
	    || !jsonin_str(o, "tool", &run.tool, err)
	    || !jsonin_str(o, "command", &run.command, err)
	    || !jsonin_str(o, "host", &run.host, err)
	    || !jsonin_str(o, "started_utc", &run.started_utc, err)
	    || !merge_run(&m->in, &run, &to, err))
		return false;
	idmap_add(&m->runs, from, to);
	return true;
}

static bool
read_subject(struct db_import *m, const struct cJSON *o, struct err *err)
{
	struct db_subject s;
	struct hash128 hash;
	db_id from, to;

	if (!read_id(o, "subject", &from, err)
	    || !read_hex(m, o, "bytes", &s.bytes, &s.n, err)
	    || !jsonin_str(o, "kind", &s.kind, err)
	    || !read_hash(m, o, "skeleton", s.skeleton.byte, err)
	    || !read_hash(m, o, "family", s.family.byte, err)
	    || !jsonin_str(o, "summary", &s.summary, err))
		return false;
	hash = hash128(s.bytes, s.n);
	if (!merge_subject(&m->in, &s, &hash, &to, err))
		return false;
	idmap_add(&m->subjects, from, to);
	return true;
}

/* An id that refers to an earlier line; a reference to none is a fault. */
static bool
read_reference(const struct cJSON *o, const char *key, const struct idmap *map,
    bool optional, db_id *to, struct err *err)
{
	db_id from;

	*to = DB_NO_ID;
	if (optional && !jsonin_has(o, key))
		return true;
	if (!read_id(o, key, &from, err))
		return false;
	return idmap_find(map, from, to)
	    || err_set(err, ERR_INPUT, "no %s %lld before this line", key,
	        (long long)from);
}

static bool
read_figures(
    const struct cJSON *o, struct measurement_row *row, struct err *err)
{
	struct sample *x = &row->sample;

	return jsonin_u32(o, "n", &x->n, err)
	    && read_u64(o, "low_ns", &x->low, err)
	    && read_u64(o, "median_ns", &x->median, err)
	    && read_u64(o, "high_ns", &x->high, err)
	    && read_u64(o, "min_ns", &x->min, err)
	    && (!jsonin_has(o, "cpu_ns") || read_u64(o, "cpu_ns", &x->cpu, err))
	    && jsonin_real(o, "max_error", &x->max_error, err)
	    && read_u64(o, "span_ns", &x->span_ns, err)
	    && read_u64(o, "limit_ns", &x->limit_ns, err)
	    && jsonin_str(o, "detail", &row->detail, err)
	    && jsonin_str(o, "at_utc", &row->at_utc, err);
}

static bool
read_attempt(struct db_import *m, const struct cJSON *o, struct err *err)
{
	struct measurement_row row = {.subject = DB_NO_ID};
	uint32_t retired;

	if (!read_hash(m, o, "attempt", row.uuid, err)
	    || !read_reference(
	        o, "subject", &m->subjects, false, &row.subject, err)
	    || !read_reference(o, "environment", &m->envs, false, &row.env, err)
	    || !read_reference(
	        o, "conditions", &m->conditions, true, &row.conditions, err)
	    || !read_reference(o, "run", &m->runs, true, &row.run, err)
	    || !jsonin_str(o, "outcome", &row.outcome, err)
	    || !read_figures(o, &row, err)
	    || !jsonin_u32(o, "retired", &retired, err))
		return false;
	row.retired = retired != 0;
	return merge_attempt(&m->in, &row, NULL, err);
}

static bool
read_model(struct db_import *m, const struct cJSON *o, struct err *err)
{
	uint8_t hash[16];
	const char *name;
	uint64_t nodes;
	db_id from, to;

	if (!read_id(o, "model", &from, err)
	    || !read_hash(m, o, "hash", hash, err)
	    || !jsonin_str(o, "name", &name, err)
	    || !read_u64(o, "nodes", &nodes, err)
	    || !merge_model_row(&m->in, hash, name, nodes, &to, err))
		return false;
	idmap_add(&m->models, from, to);
	return true;
}

static bool
read_occurrence(struct db_import *m, const struct cJSON *o, struct err *err)
{
	db_id model, subject, from;
	uint64_t count;
	const char *nodes;

	if (!read_reference(o, "occurrence", &m->models, false, &model, err)
	    || !read_id(o, "subject", &from, err)
	    || !read_u64(o, "count", &count, err)
	    || !jsonin_str(o, "nodes", &nodes, err))
		return false;
	/* Subjects without attempts are not exported. */
	return !idmap_find(&m->subjects, from, &subject)
	    || merge_occurrence(&m->in, model, subject, count, nodes, err);
}

static bool
read_retired(struct db_import *m, const struct cJSON *o, struct err *err)
{
	uint8_t uuid[16];

	return read_hash(m, o, "gone", uuid, err)
	    && merge_retired(&m->in, uuid, err);
}

static const struct {
	const char *key;
	bool (*read)(
	    struct db_import *m, const struct cJSON *o, struct err *err);
} lines[] = {
    {"attempt", read_attempt},
    {"occurrence", read_occurrence},
    {"model", read_model},
    {"environment", read_environment},
    {"conditions", read_conditions},
    {"run", read_run},
    {"subject", read_subject},
    {"gone", read_retired},
};

static bool
read_line(struct db_import *m, const char *text, size_t n, struct err *err)
{
	struct cJSON *o = jsonin_parse(text, n, "this line", err);
	bool ok = false, found = false;

	if (!o)
		return false;
	if (!m->begun) {
		ok = read_heading(m, o, err);
		jsonin_close(o);
		return ok;
	}
	for (size_t i = 0; i < sizeof lines / sizeof *lines && !found; i++) {
		found = jsonin_has(o, lines[i].key);
		if (found)
			ok = lines[i].read(m, o, err);
	}
	if (!found)
		err_set(err, ERR_INPUT, "none of the known kinds of line");
	jsonin_close(o);
	return ok;
}

static bool
read_lines(struct db_import *m, FILE *f, const char *name, struct err *err)
{
	char *text = NULL;
	size_t cap = 0;
	uint64_t number = 0;
	ssize_t n = 0;
	bool ok = true;

	while (ok && (n = getline(&text, &cap, f)) >= 0) {
		number++;
		if (n > 0 && text[n - 1] == '\n')
			text[--n] = '\0';
		if (n == 0)
			continue;
		if ((size_t)n > limit_of(LIMIT_DB_LINE))
			ok = err_set(
			    err, ERR_INPUT, "%zd bytes are too many", n);
		else
			ok = read_line(m, text, (size_t)n, err);
		arena_back(&m->line, (struct arena_mark){.top = NULL});
		if (ok && ++m->rows >= ROWS_PER_TRANSACTION) {
			m->rows = 0;
			ok = merge_flush(&m->in, err)
			    && sql_end(m->in.to, true, err)
			    && sql_begin(m->in.to, err)
			    && merge_turned(&m->in, err);
		}
	}
	free(text);
	if (!ok)
		return err_in(err, "%s:%llu", name, (unsigned long long)number);
	if (ferror(f))
		return err_set(err, ERR_IO, "%s: %s", name, strerror(errno));
	return m->begun
	    || err_set(err, ERR_INPUT, "%s: empty, not an export", name);
}

bool
costdb_import(struct costdb *db, FILE *f, const char *name,
    struct db_merge *out, struct notes *notes, struct err *err)
{
	struct db_import m = {.begun = false};
	bool ok;

	*out = (struct db_merge){.added = 0};
	if (!costdb_flush(db, err) || !sql_begin(db, err))
		return false;
	arena_init(&m.a);
	arena_init(&m.line);
	idmap_init(&m.envs, &m.a);
	idmap_init(&m.conditions, &m.a);
	idmap_init(&m.runs, &m.a);
	idmap_init(&m.subjects, &m.a);
	idmap_init(&m.models, &m.a);
	ok = merge_begin(&m.in, db, name, out, notes, err)
	    && read_lines(&m, f, name, err);
	ok = sql_end(db, merge_end(&m.in, ok, err), err);
	arena_release(&m.line);
	arena_release(&m.a);
	return ok && costdb_gc_again(db, err);
}
