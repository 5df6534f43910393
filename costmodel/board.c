#include "costmodel/board.h"

#include <assert.h>
#include <string.h>

#include <cJSON.h>

#include "costmodel/environment.h"
#include "db/admin.h"
#include "db/facts.h"
#include "db/origin.h"
#include "ir/base/buf.h"
#include "ir/base/file.h"
#include "ir/base/json.h"
#include "ir/base/jsonin.h"
#include "targets/target.h"

bool
board_add(struct board *b, const char *hard, struct arena *a, struct err *err)
{
	const char *target = facts_get(hard, "target", a);
	const char *name = origin_name(hard, a);

	if (!target)
		return err_set(err, ERR_INPUT, "facts without a target");
	if (b->n && strcmp(name, b->name) != 0)
		return err_set(err, ERR_INPUT,
		    "facts of %s are of another machine (%s) than those "
		    "before (%s)",
		    target, name, b->name);
	if (board_facts(b, target, a))
		return err_set(err, ERR_INPUT, "facts of %s twice", target);
	b->name = name;
	b->words = origin_words(hard, a);
	b->hard = arena_grow(a, b->hard, &b->cap, b->n + 1, sizeof *b->hard);
	b->hard[b->n++] = facts_canonical(hard, a);
	return true;
}

const char *
board_facts(const struct board *b, const char *target, struct arena *a)
{
	for (uint32_t i = 0; i < b->n; i++)
		if (strcmp(facts_get(b->hard[i], "target", a), target) == 0)
			return b->hard[i];
	return NULL;
}

/* ---- this machine ---- */

static bool
add_kind(struct board *b, const struct target_kind *kind, const char *machine,
    struct arena *a, struct err *err)
{
	struct err none = {.kind = ERR_NONE};
	struct mix m;

	if (kind->source != PRICE_MEASURED || kind->nrules == 0
	    || !target_kind_usable(kind, &none))
		return true;
	return mix_open(&m, &kind->name, 1, a, err)
	    && board_add(b, environment_hard(&m.target[0], machine, a), a, err);
}

bool
board_of_here(
    struct board *out, uint32_t threads, struct arena *a, struct err *err)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);
	const char *machine = environment_machine(threads, a);

	*out = (struct board){.soft = environment_soft(1, a)};
	for (uint32_t i = 0; i < n; i++)
		if (!add_kind(out, kind[i], machine, a, err))
			return false;
	return board_add(out, environment_hard(NULL, machine, a), a, err);
}

/* ---- documents ---- */

#define SCHEMA "marq.env/1"

void
board_put(const struct board *b, struct json *j)
{
	json_object(j);
	json_key_str(j, "schema", SCHEMA);
	json_key_str(j, "name", b->name);
	json_key_str(j, "processor", b->words);
	json_key_facts(j, "conditions", b->soft);
	json_key(j, "environments");
	json_array(j);
	for (uint32_t i = 0; i < b->n; i++) {
		json_object(j);
		json_key_facts(j, "facts", b->hard[i]);
		json_close(j);
	}
	json_close(j);
	json_close(j);
}

void
board_write(const struct board *b, FILE *f)
{
	struct json j;

	json_init(&j, f, 1);
	board_put(b, &j);
}

/* An object of texts as "key=value" lines. */
static bool
read_facts(const struct cJSON *object, const char *key, const char **out,
    struct arena *a, struct err *err)
{
	const struct cJSON *facts, *x;
	struct buf b;
	bool ok = true;

	if (!jsonin_object(object, key, &facts, err))
		return false;
	buf_init(&b);
	cJSON_ArrayForEach(x, facts)
	{
		ok = ok && cJSON_IsString(x) && !strpbrk(x->string, "=\n")
		    && !strchr(x->valuestring, '\n');
		if (ok)
			buf_printf(&b, "%s=%s\n", x->string, x->valuestring);
	}
	*out = facts_gathered(&b, a);
	return ok
	    || err_set(err, ERR_INPUT, "%s: facts are lines of text", key);
}

static bool
read_environments(
    struct board *b, const struct cJSON *doc, struct arena *a, struct err *err)
{
	const struct cJSON *list, *x;
	const char *hard;

	if (!jsonin_array(doc, "environments", &list, err))
		return false;
	cJSON_ArrayForEach(x, list)
	{
		if (!read_facts(x, "facts", &hard, a, err)
		    || !board_add(b, hard, a, err))
			return false;
	}
	return b->n > 0
	    || err_set(err, ERR_INPUT, "there are no environments in it");
}

bool
board_take(struct board *out, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const char *schema;

	*out = (struct board){.soft = ""};
	if (!jsonin_str(doc, "schema", &schema, err))
		return false;
	if (strcmp(schema, SCHEMA) != 0)
		return err_set(
		    err, ERR_INPUT, "schema '%s', not " SCHEMA, schema);
	return read_facts(doc, "conditions", &out->soft, a, err)
	    && read_environments(out, doc, a, err);
}

static bool
read_file(struct board *out, const char *path, struct arena *a, struct err *err)
{
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_PARAMETERS, err);
	bool ok;

	if (!doc)
		return false;
	ok = board_take(out, doc, a, err) || err_in(err, "%s", path);
	jsonin_close(doc);
	return ok;
}

/* ---- the database ---- */

struct stored_board {
	const struct db_summed *row; /* [n] */
	uint32_t n;
	const char *text;
	size_t ntext;
	struct notes *notes;
};

static bool
is_named(
    const struct stored_board *c, const struct db_summed *row, struct arena *a)
{
	const char *cost = facts_get(row->hard, "cost", a);

	return row->subjects > 0 && cost && strcmp(cost, "measured") == 0
	    && strncmp(origin_name(row->hard, a), c->text, c->ntext) == 0;
}

/* The newest of the same target there. */
static const struct db_summed *
newest_like(const struct stored_board *c, const struct db_summed *row,
    struct arena *a, uint32_t *alike)
{
	const char *target = facts_get(row->hard, "target", a);
	const struct db_summed *best = row;

	*alike = 0;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct db_summed *x = &c->row[i];
		const char *other = facts_get(x->hard, "target", a);

		if (!other || strcmp(other, target) != 0 || !is_named(c, x, a))
			continue;
		*alike += !facts_get(x->hard, FACT_BESIDE, a);
		if (strcmp(x->newest_utc, best->newest_utc) > 0)
			best = x;
	}
	return best;
}

static bool
choose(struct board *out, const struct stored_board *c, struct arena *a,
    struct err *err)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct db_summed *x = &c->row[i];
		const char *target = facts_get(x->hard, "target", a);
		uint32_t alike;

		if (!target || !is_named(c, x, a)
		    || newest_like(c, x, a, &alike) != x)
			continue;
		if (alike > 1)
			notes_add(c->notes,
			    "the database has prices of %u builds of %s on "
			    "%s; those of the newest are used (a file of "
			    "`marq env` says which)",
			    alike, target, origin_name(x->hard, a));
		if (!board_add(out, x->hard, a, err)) {
			err_clear(err);
			return err_set(err, ERR_USAGE,
			    "'%s' begins the names of several environments "
			    "(`marq db envs` lists them)",
			    c->text);
		}
	}
	return true;
}

static bool
find_stored(struct board *out, struct stored_board *c, const char *path,
    struct arena *a, struct err *err)
{
	struct costdb *db;
	bool ok;

	if (!path || file_is_absent(path))
		return err_set(err, ERR_USAGE,
		    "--price-for %s: no such file, and no database to find "
		    "that name in",
		    c->text);
	if (!costdb_open(&db, path, DB_READ, a, err))
		return false;
	ok = costdb_summed(db, &c->row, &c->n, a, err);
	costdb_abandon(db);
	if (!ok || !choose(out, c, a, err))
		return false;
	return out->n > 0
	    || err_set(err, ERR_USAGE,
	        "--price-for %s: no such file, and %s has no prices of an "
	        "environment of that name (`marq db envs` lists them)",
	        c->text, path);
}

bool
board_find(struct board *out, const char *text, const char *db,
    struct notes *notes, struct arena *a, struct err *err)
{
	struct stored_board c = {
	    .text = text, .ntext = strlen(text), .notes = notes};

	*out = (struct board){.soft = ""};
	if (!file_is_absent(text))
		return read_file(out, text, a, err);
	return find_stored(out, &c, db, a, err);
}

/* ---- two of them ---- */

bool
board_same(const struct board *x, const struct board *y, struct arena *a,
    struct err *err)
{
	for (uint32_t i = 0; i < x->n; i++) {
		const char *target = facts_get(x->hard[i], "target", a);
		const char *other = board_facts(y, target, a);
		struct facts_gap gap;

		if (!other)
			return err_set(err, ERR_TARGET, "it has no %s", target);
		gap = facts_compare(x->hard[i], other, a);
		if (gap.relation != FACTS_SAME)
			return err_set(
			    err, ERR_TARGET, "%s: %s", target, gap.why);
	}
	return true;
}
