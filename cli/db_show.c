/* marq db stat, list, show: what is in the database. */
#include "cli/db.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/units.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"

static const char *const outcome_word[NOUTCOME] = {
#define OUTCOME(name, word) [OUTCOME_##name] = word,
#include "ir/base/outcome.def"
#undef OUTCOME
};

static void
print_stat(const struct db_args *d, const struct db_stat *s)
{
	printf("%s (schema %" PRIu64 ", %" PRIu64 " bytes + %" PRIu64
	       " bytes of log)\n",
	    d->db, s->schema, s->file_bytes, s->log_bytes);
	printf("%10" PRIu64 " subject%s in %" PRIu64 " environment%s, %" PRIu64
	       " model%s, %" PRIu64 " run%s\n",
	    s->subjects, plural(s->subjects), s->environments,
	    plural(s->environments), s->models, plural(s->models), s->runs,
	    plural(s->runs));
	printf("%10" PRIu64 " attempts, %" PRIu64 " of them retired, %" PRIu64
	       " leased just now\n",
	    s->attempts, s->retired, s->leases);
	for (int i = 0; i < NOUTCOME; i++)
		if (s->by_outcome[i])
			printf("%10" PRIu64 " %s\n", s->by_outcome[i],
			    outcome_word[i]);
	if (s->oldest_utc[0])
		printf("taken %s to %s\n", s->oldest_utc, s->newest_utc);
}

static void
print_stat_json(const struct db_args *d, const struct db_stat *s)
{
	struct json j;

	json_init(&j, stdout, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.db-stat/1");
	json_key_str(&j, "db", d->db);
	json_key_uint(&j, "version", s->schema);
	json_key_uint(&j, "file_bytes", s->file_bytes);
	json_key_uint(&j, "log_bytes", s->log_bytes);
	json_key_uint(&j, "subjects", s->subjects);
	json_key_uint(&j, "environments", s->environments);
	json_key_uint(&j, "models", s->models);
	json_key_uint(&j, "runs", s->runs);
	json_key_uint(&j, "leases", s->leases);
	json_key_uint(&j, "attempts", s->attempts);
	json_key_uint(&j, "retired", s->retired);
	json_key(&j, "outcomes");
	json_object(&j);
	for (int i = 0; i < NOUTCOME; i++)
		json_key_uint(&j, outcome_word[i], s->by_outcome[i]);
	json_close(&j);
	json_key_str(&j, "oldest_utc", s->oldest_utc);
	json_key_str(&j, "newest_utc", s->newest_utc);
	json_close(&j);
}

bool
db_stat_verb(struct db_args *d, struct err *err)
{
	struct costdb *db;
	struct db_stat s;
	bool ok;

	if (!costdb_open(&db, d->db, DB_READ, d->cli->run, err))
		return false;
	ok = costdb_stat(db, &s, err);
	costdb_abandon(db);
	if (!ok)
		return false;
	if (d->cli->format == OUT_JSON)
		print_stat_json(d, &s);
	else
		print_stat(d, &s);
	return true;
}

/* Attempts of one subject in one environment, as they go by. */
struct attempt_group {
	const struct db_args *d;
	struct json json;
	bool is_json;
	db_id subject, env;
	char key[33], outcome[16], at_utc[24];
	const char *summary, *target, *how;
	uint64_t low, high, attempts, groups;
	struct arena a; /* of summary, target and how */
};

/* "15.20 µs .. 15.56 µs" */
static void
format_range(uint64_t low, uint64_t high, char *text, size_t n)
{
	char from[32], to[32];

	snprintf(text, n, "%s .. %s", format_column(low, 9, from, sizeof from),
	    format_column(high, 9, to, sizeof to));
}

static void
print_group(struct attempt_group *g)
{
	char range[64];

	if (g->attempts == 0)
		return;
	g->groups++;
	if (g->is_json) {
		json_inline_object(&g->json);
		json_key_str(&g->json, "key", g->key);
		json_key_str(&g->json, "summary", g->summary);
		json_key_int(&g->json, "environment", g->env);
		json_key_str(&g->json, "target", g->target);
		json_key_str(&g->json, "how", g->how);
		json_key_uint(&g->json, "attempts", g->attempts);
		json_key_str(&g->json, "outcome", g->outcome);
		json_key_uint(&g->json, "low_ns", g->low);
		json_key_uint(&g->json, "high_ns", g->high);
		json_key_str(&g->json, "at_utc", g->at_utc);
		json_close(&g->json);
		return;
	}
	snprintf(range, sizeof range, "%22s", "-");
	if (g->low)
		format_range(g->low, g->high, range, sizeof range);
	printf("%.12s  %2" PRIu64 " x %-9s %-11s %s  %.10s  %s\n", g->key,
	    g->attempts, g->how, g->outcome, range, g->at_utc, g->summary);
}

/* The value of "name=" among the facts, a line each; "" for none. */
static const char *
fact_of(const char *hard, const char *name, struct arena *a)
{
	size_t n = strlen(name);

	for (const char *at = hard; *at; at += strspn(at, "\n")) {
		if (strncmp(at, name, n) == 0 && at[n] == '=')
			return arena_strn(
			    a, at + n + 1, strcspn(at + n + 1, "\n"));
		at += strcspn(at, "\n");
	}
	return "";
}

/* How figures of an environment came to be, in words that are shown: those of
 * keys stay what they were. */
static const char *
how_of(const char *hard, struct arena *a)
{
	const char *cost = fact_of(hard, "cost", a);

	return strcmp(cost, "glance") == 0 ? "probed" : cost;
}

static bool
see_row(void *context, const struct db_row *row, struct err *err)
{
	struct attempt_group *g = context;

	(void)err;
	if (row->subject != g->subject || row->env != g->env) {
		print_group(g);
		arena_back(&g->a, (struct arena_mark){.top = NULL});
		g->subject = row->subject;
		g->env = row->env;
		g->attempts = g->low = g->high = 0;
		hash128_print(row->key, g->key);
		g->summary = arena_str(&g->a, row->summary);
		g->target = fact_of(row->hard, "target", &g->a);
		g->how = how_of(row->hard, &g->a);
	}
	g->attempts++;
	if (row->low && (g->low == 0 || row->low < g->low))
		g->low = row->low;
	if (row->high > g->high)
		g->high = row->high;
	snprintf(g->outcome, sizeof g->outcome, "%s", row->outcome);
	snprintf(g->at_utc, sizeof g->at_utc, "%s", row->at_utc);
	return !*g->d->cli->stop;
}

static void
begin_list(struct attempt_group *g, const char *schema)
{
	g->is_json = g->d->cli->format == OUT_JSON;
	arena_init(&g->a);
	if (!g->is_json)
		return;
	json_init(&g->json, stdout, 2);
	json_object(&g->json);
	json_key_str(&g->json, "schema", schema);
	json_key(&g->json, "figures");
	json_array(&g->json);
}

static void
end_list(struct attempt_group *g)
{
	print_group(g);
	arena_release(&g->a);
	if (!g->is_json)
		return;
	json_close(&g->json);
	json_close(&g->json);
}

bool
db_list_verb(struct db_args *d, struct err *err)
{
	struct attempt_group g = {.d = d};
	struct costdb *db;
	bool ok;

	if (!costdb_open(&db, d->db, DB_READ, d->cli->run, err))
		return false;
	begin_list(&g, "marq.db-list/1");
	ok = costdb_visit(db, &d->where, d->retired, see_row, &g, err);
	end_list(&g);
	costdb_abandon(db);
	return ok;
}

struct shown {
	const struct db_args *d;
	const char *prefix;
	db_id subject, env;
	uint64_t attempts;
	struct json *json; /* NULL: text */
};

static void
print_facts(const char *hard)
{
	for (const char *s = hard; *s != '\0';) {
		size_t n = strcspn(s, "\n");

		printf("    %.*s\n", (int)n, s);
		s += n + (s[n] == '\n');
	}
}

static void
print_attempt_json(struct json *j, const struct db_row *row)
{
	char key[33];

	hash128_print(row->key, key);
	json_inline_object(j);
	json_key_str(j, "key", key);
	json_key_str(j, "kind", row->kind);
	json_key_str(j, "summary", row->summary);
	json_key_str(j, "facts", row->hard);
	json_key_str(j, "outcome", row->outcome);
	json_key_uint(j, "n", row->n);
	json_key_uint(j, "low_ns", row->low);
	json_key_uint(j, "median_ns", row->median);
	json_key_uint(j, "high_ns", row->high);
	json_key_uint(j, "min_ns", row->min);
	json_key_real(j, "max_error", row->max_error);
	json_key_str(j, "detail", row->detail);
	json_key_str(j, "at_utc", row->at_utc);
	json_key_bool(j, "retired", row->retired);
	json_close(j);
}

static void
print_attempt(const struct db_row *row)
{
	char min[32], low[32], median[32], high[32];

	printf("  %s  %s%s", row->at_utc, row->retired ? "retired " : "",
	    row->outcome);
	if (row->low)
		printf("  n=%" PRIu64 "  least %s, %s .. %s, median %s", row->n,
		    format_duration(row->min, min, sizeof min),
		    format_duration(row->low, low, sizeof low),
		    format_duration(row->high, high, sizeof high),
		    format_duration(row->median, median, sizeof median));
	if (row->max_error > 0)
		printf("  error %.3g", row->max_error);
	printf("%s%s\n", *row->detail ? "  " : "", row->detail);
}

static bool
see_shown(void *context, const struct db_row *row, struct err *err)
{
	struct shown *s = context;
	char key[33];

	(void)err;
	hash128_print(row->key, key);
	if (strncmp(key, s->prefix, strlen(s->prefix)) != 0)
		return true;
	s->attempts++;
	if (s->json) {
		print_attempt_json(s->json, row);
	} else {
		if (row->subject != s->subject)
			printf("%s  %s\n  %s\n", key, row->kind, row->summary);
		if (row->subject != s->subject || row->env != s->env) {
			printf("  environment %lld:\n", (long long)row->env);
			print_facts(row->hard);
		}
		print_attempt(row);
	}
	s->subject = row->subject;
	s->env = row->env;
	return true;
}

static void
see_place(
    void *context, const char *model, uint64_t occurrences, const char *nodes)
{
	(void)context;
	printf("  in %s, %" PRIu64 " time%s: %s\n", model, occurrences,
	    plural(occurrences), nodes);
}

static bool
show(struct costdb *db, struct shown *s, struct err *err)
{
	struct json j;

	if (s->d->cli->format == OUT_JSON) {
		s->json = &j;
		json_init(&j, stdout, 2);
		json_object(&j);
		json_key_str(&j, "schema", "marq.db-show/1");
		json_key(&j, "attempts");
		json_array(&j);
	}
	if (!costdb_visit(db, &s->d->where, true, see_shown, s, err))
		return false;
	if (s->json) {
		json_close(&j);
		json_close(&j);
	} else if (s->attempts
	    && !costdb_places(db, s->subject, see_place, NULL, err)) {
		return false;
	}
	return s->attempts > 0
	    || err_set(err, ERR_VERDICT, "%s: no key begins with '%s'",
	        s->d->db, s->prefix);
}

bool
db_show_verb(struct db_args *d, struct err *err)
{
	struct shown s = {.d = d, .prefix = d->arg[0]};
	struct costdb *db;
	bool ok;

	if (!costdb_open(&db, d->db, DB_READ, d->cli->run, err))
		return false;
	ok = show(db, &s, err);
	costdb_abandon(db);
	return ok;
}
