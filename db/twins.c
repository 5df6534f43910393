/* Machines that disagree with their peers: what several hosts measured of one
 * subject in one environment, compared. */
#include "db/admin.h"

#include <stdlib.h>
#include <string.h>

#include "db/facts.h"
#include "db/rows.h"
#include "db/sql.h"
#include "ir/base/order.h"
#include "ir/base/plural.h"

/* SOURCE: medians of one unchanged machine differ by up to 12 % between sessions
 * (costmodel/canary.c). */
#define TWINS_PERMILLE 120

/* TUNING: fewer say little of a machine. */
#define LEAST_SUBJECTS 3
#define LEAST_HOSTS 3

struct twin_host {
	const char *name;
	uint64_t low; /* of the current subject; 0: it has none */
	uint32_t
	    *ratio; /* [n] permille of the median of all hosts, by subject */
	uint32_t n, cap;
};

struct twins {
	struct twin_host *host; /* [n] */
	uint32_t n, cap;
	db_id subject, env; /* the current ones */
	struct arena a;
};

static struct twin_host *
host_of(struct twins *t, const char *soft)
{
	const char *name = facts_get(soft, "host", &t->a);

	if (!name)
		name = "?";
	for (uint32_t i = 0; i < t->n; i++)
		if (strcmp(t->host[i].name, name) == 0)
			return &t->host[i];
	t->host =
	    arena_grow(&t->a, t->host, &t->cap, t->n + 1, sizeof *t->host);
	t->host[t->n] = (struct twin_host){.name = name};
	return &t->host[t->n++];
}

/* What the hosts have of a subject becomes a ratio of each. */
static void
end_subject(struct twins *t)
{
	uint64_t *low = arena_new(&t->a, uint64_t, t->n), median;
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		if (t->host[i].low)
			low[n++] = t->host[i].low;
	if (n < LEAST_HOSTS)
		return;
	qsort(low, n, sizeof *low, by_u64);
	median = low[n / 2];
	for (uint32_t i = 0; i < t->n; i++) {
		struct twin_host *h = &t->host[i];
		double ratio = 1000.0 * (double)h->low / (double)median;

		if (h->low == 0)
			continue;
		h->ratio = arena_grow(
		    &t->a, h->ratio, &h->cap, h->n + 1, sizeof *h->ratio);
		h->ratio[h->n++] = ratio < 1e9 ? (uint32_t)ratio : 1000000000u;
	}
}

static void
begin_subject(struct twins *t, db_id subject, db_id env)
{
	end_subject(t);
	t->subject = subject;
	t->env = env;
	for (uint32_t i = 0; i < t->n; i++)
		t->host[i].low = 0;
}

static void
take_row(struct twins *t, sqlite3_stmt *s)
{
	const db_id subject = sqlite3_column_int64(s, 0),
	            env = sqlite3_column_int64(s, 1);
	const uint64_t low = column_u64(s, 3);
	struct twin_host *h;

	if (subject != t->subject || env != t->env)
		begin_subject(t, subject, env);
	h = host_of(t, column_text(s, 2));
	if (low && (h->low == 0 || low < h->low))
		h->low = low;
}

static uint32_t
peers(const struct twins *t)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < t->n; i++)
		n += t->host[i].n >= LEAST_SUBJECTS;
	return n ? n - 1 : 0;
}

static void
tell(const struct twins *t, uint32_t *strangers, struct notes *notes)
{
	const uint32_t npeers = peers(t);

	for (uint32_t i = 0; i < t->n; i++) {
		const struct twin_host *h = &t->host[i];
		uint32_t median, off;

		if (h->n < LEAST_SUBJECTS)
			continue;
		qsort(h->ratio, h->n, sizeof *h->ratio, by_u32);
		median = h->ratio[h->n / 2];
		off = median > 1000 ? median - 1000 : 1000 - median;
		if (off <= TWINS_PERMILLE)
			continue;
		++*strangers;
		notes_add(notes,
		    "%s is %u %% %s than its %u twin%s, by %u subjects that "
		    "several measured",
		    h->name, (off + 5) / 10,
		    median > 1000 ? "slower" : "faster", npeers, plural(npeers),
		    h->n);
	}
}

bool
costdb_twins(struct costdb *db, uint32_t *strangers, struct notes *notes,
    struct err *err)
{
	sqlite3_stmt *s = sql_get(db, SQL_TWINS, err);
	struct twins t = {.n = 0};
	bool row;

	*strangers = 0;
	if (!s)
		return false;
	arena_init(&t.a);
	while (sql_step(db, s, &row, err) && row)
		take_row(&t, s);
	if (err->kind == ERR_NONE) {
		end_subject(&t);
		tell(&t, strangers, notes);
	}
	arena_release(&t.a);
	return err->kind == ERR_NONE;
}
