/* marq db envs: the machines a database has prices of. */
#include "cli/db.h"

#include <stdio.h>
#include <string.h>

#include "cli/answer.h"
#include "db/facts.h"
#include "db/origin.h"

/* Environments of one machine. */
struct priced_machine {
	const char *name, *processor, *threads;
	const char *targets, *hosts, *sold_as; /* lists, "" at first */
	const char *newest_utc;
	uint64_t prices, attempts;
};

struct priced_machines {
	struct priced_machine *list; /* [n] in the order they are met */
	uint32_t n, cap;
	struct arena *arena;
};

static struct priced_machine *
machine_of(struct priced_machines *m, const char *hard)
{
	const char *name = origin_name(hard, m->arena);
	const char *threads = facts_get(hard, "threads", m->arena);

	for (uint32_t i = 0; i < m->n; i++)
		if (strcmp(m->list[i].name, name) == 0)
			return &m->list[i];
	m->list =
	    arena_grow(m->arena, m->list, &m->cap, m->n + 1, sizeof *m->list);
	m->list[m->n] = (struct priced_machine){
	    .name = name,
	    .processor = origin_words(hard, m->arena),
	    .threads = threads ? threads : "1",
	    .targets = "",
	    .hosts = "",
	    .sold_as = "",
	    .newest_utc = "",
	};
	return &m->list[m->n++];
}

/* Another word of a list "a, b", if it is not in it. */
static const char *
with_word(const char *list, const char *word, struct arena *a)
{
	size_t n = word ? strlen(word) : 0;

	if (n == 0)
		return list;
	for (const char *at = list; *at; at += strspn(at, ", ")) {
		size_t k = strcspn(at, ",");

		if (k == n && strncmp(at, word, n) == 0)
			return list;
		at += k;
	}
	return arena_printf(a, "%s%s%s", list, *list ? ", " : "", word);
}

static bool
is_price(const char *hard, struct arena *a)
{
	const char *cost = facts_get(hard, "cost", a);

	return cost && strcmp(cost, "measured") == 0;
}

static void
add_figures(struct priced_machines *m, const struct db_summed *x)
{
	struct priced_machine *at;

	if (x->attempts == 0 || !facts_get(x->hard, "target", m->arena)
	    || !is_price(x->hard, m->arena))
		return;
	at = machine_of(m, x->hard);
	at->prices += x->subjects;
	at->attempts += x->attempts;
	at->targets = with_word(
	    at->targets, facts_get(x->hard, "target", m->arena), m->arena);
	if (strcmp(x->newest_utc, at->newest_utc) > 0)
		at->newest_utc = x->newest_utc;
}

static void
add_conditions(struct priced_machines *m, const struct db_under *x)
{
	struct priced_machine *at;

	if (!is_price(x->hard, m->arena))
		return;
	at = machine_of(m, x->hard);
	at->hosts = with_word(
	    at->hosts, facts_get(x->soft, "host", m->arena), m->arena);
	at->sold_as = with_word(
	    at->sold_as, facts_get(x->soft, "cpu", m->arena), m->arena);
}

static void
tell(const struct priced_machines *m, const struct cli *c)
{
	struct answer a;

	answer_begin(&a, c, "marq.db-envs/1");
	answer_list(&a, "environments");
	for (uint32_t i = 0; i < m->n; i++) {
		const struct priced_machine *x = &m->list[i];

		ANSWER_LINE(&a,
		    "{name}  {prices:6} price{s prices}  {newest_utc:.10}  "
		    "{processor}{?sold_as  ({sold_as})}, threads {threads}: "
		    "{targets}{?hosts ; measured on {hosts}}\n",
		    F("name", x->name), F("prices", x->prices),
		    F("attempts", x->attempts), F("newest_utc", x->newest_utc),
		    F("processor", x->processor), F("sold_as", x->sold_as),
		    F("threads", x->threads), F("targets", x->targets),
		    F("hosts", x->hosts));
	}
	answer_close(&a);
	answer_end(&a);
}

static bool
read(struct priced_machines *m, struct costdb *db, struct err *err)
{
	const struct db_summed *summed;
	const struct db_under *under;
	uint32_t nsummed, nunder;

	if (!costdb_summed(db, &summed, &nsummed, m->arena, err)
	    || !costdb_under(db, &under, &nunder, m->arena, err))
		return false;
	for (uint32_t i = 0; i < nsummed; i++)
		add_figures(m, &summed[i]);
	for (uint32_t i = 0; i < nunder; i++)
		add_conditions(m, &under[i]);
	return true;
}

bool
db_envs_verb(struct db_args *d, struct err *err)
{
	struct priced_machines m = {.arena = d->cli->run};
	struct costdb *db;
	bool ok;

	if (!costdb_open(&db, d->db, DB_READ, d->cli->run, err))
		return false;
	ok = read(&m, db, err);
	costdb_abandon(db);
	if (ok)
		tell(&m, d->cli);
	return ok;
}
