#include "db/sum.h"

#include <string.h>

#include "db/admin.h"
#include "db/idmap.h"
#include "db/rows.h"
#include "db/sql.h"
#include "db/sum_text.h"
#include "ir/base/buf.h"
#include "ir/base/hash.h"

/* Written so that no two lists of values have the same bytes. */
static void
put_integer(struct buf *b, int64_t x)
{
	buf_u8(b, SQLITE_INTEGER);
	buf_u64(b, (uint64_t)x);
}

static void
put_real(struct buf *b, double real)
{
	uint64_t bits;

	memcpy(&bits, &real, sizeof bits);
	buf_u8(b, SQLITE_FLOAT);
	buf_u64(b, bits);
}

static void
put_bytes(struct buf *b, int type, const void *bytes, size_t n)
{
	buf_u8(b, (uint8_t)type);
	buf_u32(b, (uint32_t)n);
	buf_add(b, bytes, n);
}

static void
put_text(struct buf *b, const char *text)
{
	put_bytes(b, SQLITE_TEXT, text, strlen(text));
}

static void
put_value(struct buf *b, sqlite3_value *v)
{
	int type = sqlite3_value_type(v);

	switch (type) {
	case SQLITE_INTEGER:
		put_integer(b, sqlite3_value_int64(v));
		break;
	case SQLITE_FLOAT:
		put_real(b, sqlite3_value_double(v));
		break;
	case SQLITE_NULL:
		buf_u8(b, SQLITE_NULL);
		break;
	default:
		put_bytes(b, type, sqlite3_value_blob(v),
		    (size_t)sqlite3_value_bytes(v));
		break;
	}
}

/* As bind_u64() stores it. */
static void
put_u64(struct buf *b, uint64_t x)
{
	put_integer(b, x > INT64_MAX ? INT64_MAX : (int64_t)x);
}

uint64_t
sum_of_row(const struct measurement_row *row, const struct hash128 *subject,
    const char *hard, struct buf *b)
{
	const struct sample *x = &row->sample;
	uint64_t sum;

	b->n = 0;
	put_bytes(b, SQLITE_BLOB, row->uuid, sizeof row->uuid);
	put_bytes(b, SQLITE_BLOB, subject->byte, sizeof subject->byte);
	put_text(b, hard);
	put_text(b, row->outcome);
	put_u64(b, x->n);
	put_u64(b, x->low);
	put_u64(b, x->median);
	put_u64(b, x->high);
	put_u64(b, x->min);
	put_real(b, x->max_error);
	put_u64(b, x->span_ns);
	put_u64(b, x->limit_ns);
	put_text(b, row->detail);
	put_text(b, row->at_utc);
	sum = hash64(b->data, b->n, 0);
	return row->retired ? ~sum : sum;
}

/* attempt_sum(value..., retired): retiring turns all bits around. */
static void
attempt_sum(sqlite3_context *context, int n, sqlite3_value **value)
{
	struct buf b;
	uint64_t sum;

	buf_init(&b);
	for (int i = 0; i + 1 < n; i++)
		put_value(&b, value[i]);
	sum = hash64(b.data, b.n, 0);
	buf_release(&b);
	if (n > 0 && sqlite3_value_int(value[n - 1]))
		sum = ~sum;
	sqlite3_result_int64(context, (sqlite3_int64)sum);
}

static void
bytes_hash(sqlite3_context *context, int n, sqlite3_value **value)
{
	const void *bytes = sqlite3_value_blob(value[0]);
	struct hash128 h =
	    hash128(bytes, (size_t)sqlite3_value_bytes(value[0]));

	(void)n;
	sqlite3_result_blob(context, h.byte, sizeof h.byte, SQLITE_TRANSIENT);
}

static void
hash_key(sqlite3_context *context, int n, sqlite3_value **value)
{
	struct hash128 hash = {{0}};

	(void)n;
	if (sqlite3_value_bytes(value[0]) == sizeof hash.byte)
		memcpy(
		    hash.byte, sqlite3_value_blob(value[0]), sizeof hash.byte);
	sqlite3_result_int64(context, subject_key(&hash));
}

int
sum_register(sqlite3 *h)
{
	static const int flags =
	    SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_DIRECTONLY;
	static const struct {
		const char *name;
		int n;
		void (*call)(sqlite3_context *c, int n, sqlite3_value **value);
	} function[] = {{"attempt_sum", -1, attempt_sum},
	    {"bytes_hash", 1, bytes_hash}, {"hash_key", 1, hash_key}};
	int rc = SQLITE_OK;

	for (size_t i = 0;
	     rc == SQLITE_OK && i < sizeof function / sizeof *function; i++)
		rc = sqlite3_create_function_v2(h, function[i].name,
		    function[i].n, flags, NULL, function[i].call, NULL, NULL,
		    NULL);
	return rc;
}

static bool
pages_are_whole(struct costdb *db, struct err *err)
{
	sqlite3_stmt *s = NULL;
	const char *text;
	bool row, whole;

	if (!sql_prepare(db, "PRAGMA integrity_check(1)", &s, err))
		return false;
	whole = sql_step(db, s, &row, err);
	text = whole && row ? column_text(s, 0) : "ok";
	if (sql_failure_in(text))
		whole = sql_fail(db, sql_failure_in(text), "cannot read", err);
	else if (strcmp(text, "ok") != 0)
		whole = err_set(err, ERR_DB,
		    "%s: damaged (%.100s); 'marq db repair FILE' saves what is "
		    "whole",
		    db->path, text);
	sqlite3_finalize(s);
	return whole;
}

bool
sum_check(struct costdb *db, struct err *err)
{
	int64_t n;

	if (!pages_are_whole(db, err)
	    || !sql_integer(db, "SELECT count(*)" DAMAGED_ROWS, &n, err))
		return false;
	db->damaged = (uint64_t)n;
	return true;
}

uint64_t
costdb_damaged(const struct costdb *db)
{
	return db->damaged;
}

bool
sum_list_damaged(struct costdb *db, struct idmap *out, struct err *err)
{
	sqlite3_stmt *s = NULL;
	int64_t there;
	bool row, ok;

	if (!sql_integer(db,
	        "SELECT count(*) FROM pragma_table_info('measurement')"
	        " WHERE name='sum'",
	        &there, err))
		return false;
	if (!there)
		return true;
	ok = sql_prepare(db, "SELECT m.measurement_id" DAMAGED_ROWS, &s, err);
	while (ok && (ok = sql_step(db, s, &row, err)) && row)
		idmap_add(out, sqlite3_column_int64(s, 0),
		    sqlite3_column_int64(s, 0));
	sqlite3_finalize(s);
	return ok;
}

bool
costdb_count_damaged(struct costdb *db, uint64_t *n, struct err *err)
{
	struct idmap found;
	struct arena a;
	bool ok;

	arena_init(&a);
	idmap_init(&found, &a);
	ok = sum_list_damaged(db, &found, err);
	*n = found.n;
	arena_release(&a);
	return ok;
}
