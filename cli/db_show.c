/* marq db stat, list, show: what is in the database. */
#include "cli/db.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "cli/units.h"
#include "ir/base/plural.h"

static const char *const outcome_word[NOUTCOME] = {
#define OUTCOME(name, word) [OUTCOME_##name] = word,
#include "ir/base/outcome.def"
#undef OUTCOME
};

static void
tell_stat(const struct db_args *d, const struct db_stat *s)
{
	struct answer a;

	answer_begin(&a, d->cli, "marq.db-stat/1");
	ANSWER(&a,
	    "{db} (schema {version}, {file_bytes} bytes + {log_bytes} bytes of "
	    "log)\n{subjects:10} subject{s subjects} in {environments} "
	    "environment{s environments}, {models} model{s models}, {runs} "
	    "run{s runs}\n",
	    F("db", d->db), F("version", s->schema),
	    F("file_bytes", s->file_bytes), F("log_bytes", s->log_bytes),
	    F("subjects", s->subjects), F("environments", s->environments),
	    F("models", s->models), F("runs", s->runs));
	ANSWER(&a,
	    "{attempts:10} attempts, {retired} of them retired, {leases} "
	    "leased just now\n",
	    F("leases", s->leases), F("attempts", s->attempts),
	    F("retired", s->retired));
	answer_object(&a, "outcomes");
	for (int i = 0; i < NOUTCOME; i++)
		answer_fields(&a, NULL,
		    &(struct field){outcome_word[i], FIELD_UINT, false,
		        {.number = s->by_outcome[i]}},
		    1);
	answer_close(&a);
	for (int i = 0; i < NOUTCOME; i++)
		ANSWER(&a, "{?n {n:10} {word}\n}", T("n", s->by_outcome[i]),
		    T("word", outcome_word[i]));
	ANSWER(&a, "{?oldest_utc taken {oldest_utc} to {newest_utc}\n}",
	    F("oldest_utc", s->oldest_utc), F("newest_utc", s->newest_utc));
	answer_end(&a);
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
	tell_stat(d, &s);
	return true;
}

/* Attempts of one subject in one environment, as they go by. */
struct attempt_group {
	const struct db_args *d;
	struct answer answer;
	db_id subject, env;
	char key[33], outcome[16], at_utc[24];
	const char *summary, *target, *how;
	uint64_t low, high, attempts;
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

/* Of two measured in turn: the second's time in millionths of the first's. */
static void
format_ratios(uint64_t low, uint64_t high, char *text, size_t n)
{
	snprintf(
	    text, n, "%8.3f .. %8.3fx", (double)low / 1e6, (double)high / 1e6);
}

static void
tell_group(struct attempt_group *g)
{
	char range[64];

	if (g->attempts == 0)
		return;
	snprintf(range, sizeof range, "%22s", "-");
	if (g->low && strcmp(g->how, "compared") == 0)
		format_ratios(g->low, g->high, range, sizeof range);
	else if (g->low)
		format_range(g->low, g->high, range, sizeof range);
	ANSWER_LINE(&g->answer,
	    "{key:.12}  {attempts:2} x {how:-9} {outcome:-11} {range}  "
	    "{at_utc:.10}  {summary}\n",
	    F("key", g->key), F("summary", g->summary),
	    F("environment", g->env), F("target", g->target), F("how", g->how),
	    F("attempts", g->attempts), F("outcome", g->outcome),
	    F("low_ns", g->low), F("high_ns", g->high), F("at_utc", g->at_utc),
	    T("range", range));
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

	return strcmp(cost, "glance") == 0 ? "probed"
	    : strcmp(cost, "second") == 0  ? "measured again"
	    : strcmp(cost, "versus") == 0  ? "compared"
	                                   : cost;
}

static bool
compares(const char *hard)
{
	struct arena a;
	bool is;

	arena_init(&a);
	is = strcmp(how_of(hard, &a), "compared") == 0;
	arena_release(&a);
	return is;
}

static bool
see_row(void *context, const struct db_row *row, struct err *err)
{
	struct attempt_group *g = context;

	(void)err;
	if (row->subject != g->subject || row->env != g->env) {
		tell_group(g);
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

bool
db_list_verb(struct db_args *d, struct err *err)
{
	struct attempt_group g = {.d = d};
	struct costdb *db;
	bool ok;

	if (!costdb_open(&db, d->db, DB_READ, d->cli->run, err))
		return false;
	arena_init(&g.a);
	answer_begin(&g.answer, d->cli, "marq.db-list/1");
	answer_list(&g.answer, "figures");
	ok = costdb_visit(db, &d->where, d->retired, see_row, &g, err);
	tell_group(&g);
	answer_close(&g.answer);
	answer_end(&g.answer);
	arena_release(&g.a);
	costdb_abandon(db);
	return ok;
}

struct shown {
	const struct db_args *d;
	const char *prefix;
	db_id subject, env;
	uint64_t attempts;
	bool compares; /* the environment's figures are ratios */
	struct answer answer;
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

/* A time, or, of two measured in turn, their ratio. */
static const char *
figure(const struct shown *s, uint64_t ns, char *text, size_t n)
{
	if (!s->compares)
		return format_duration(ns, text, n);
	snprintf(text, n, "%.3fx", (double)ns / 1e6);
	return text;
}

static void
tell_attempt(struct shown *s, const struct db_row *row, const char *key)
{
	char least[32], low[32], high[32], median[32], cpu[32];

	ANSWER_LINE(&s->answer,
	    "  {at_utc}  {?retired retired }{outcome}{?low_ns   n={n}  least "
	    "{least}, {low} .. {high}, median {median}{?cpu_ns , processor "
	    "time {cpu}}}"
	    "{?max_error   error {max_error:.3g}}{?detail   }{detail}\n",
	    T("least", figure(s, row->min, least, sizeof least)),
	    T("low", figure(s, row->low, low, sizeof low)),
	    T("high", figure(s, row->high, high, sizeof high)),
	    T("median", figure(s, row->median, median, sizeof median)),
	    T("cpu", figure(s, row->cpu, cpu, sizeof cpu)),
	    F("cpu_ns", row->cpu), F("key", key), F("kind", row->kind),
	    F("summary", row->summary), F("facts", row->hard),
	    F("outcome", row->outcome), F("n", row->n), F("low_ns", row->low),
	    F("median_ns", row->median), F("high_ns", row->high),
	    F("min_ns", row->min), F("max_error", row->max_error),
	    F("detail", row->detail), F("at_utc", row->at_utc),
	    F("retired", row->retired));
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
	if (row->subject != s->subject)
		ANSWER(&s->answer, "{key}  {kind}\n  {summary}\n",
		    T("key", key), T("kind", row->kind),
		    T("summary", row->summary));
	if (row->subject != s->subject || row->env != s->env) {
		s->compares = compares(row->hard);
		ANSWER(&s->answer, "  environment {id}:\n", T("id", row->env));
		if (!s->answer.is_json)
			print_facts(row->hard);
	}
	tell_attempt(s, row, key);
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
	answer_begin(&s->answer, s->d->cli, "marq.db-show/1");
	answer_list(&s->answer, "attempts");
	if (!costdb_visit(db, &s->d->where, true, see_shown, s, err))
		return false;
	answer_close(&s->answer);
	answer_end(&s->answer);
	if (!s->answer.is_json && s->attempts
	    && !costdb_places(db, s->subject, see_place, NULL, err))
		return false;
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
