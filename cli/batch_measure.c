#define _GNU_SOURCE /* gethostname */
#include "cli/batch_measure.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cJSON.h>

#include "cli/answer.h"
#include "cli/child.h"
#include "cli/paths.h"
#include "cli/wanted.h"
#include "costmodel/want.h"
#include "db/admin.h"
#include "ir/base/buf.h"
#include "ir/base/file.h"
#include "ir/base/jsonin.h"
#include "ir/base/map.h"
#include "ir/base/plural.h"

/* TUNING: enough for a median. */
#define CANARIES "--canaries=5"

struct measuring {
	const struct batch_measure *b;
	const struct unit *canaries; /* the unit whose list has them, or NULL */
	struct arena *a;
	struct wanted_lists lists;
	struct map
	    seen; /* target and key of each subject of the lists so far */
	uint32_t nseen, ours; /* subjects: distinct, of this shard */
	uint32_t measured, probed, failed; /* as `marq measure` says */
	uint32_t broken; /* units that could not be listed or measured */
	const char *db; /* of the shard */
	const char *measured_into; /* the same, or one of this machine's own */
	const char *answer; /* a file: what the last child said */
};

/* Is a subject of a list ours, and not of an earlier list? */
static bool
is_news(struct measuring *m, const struct want *w, uint32_t i)
{
	const struct wanted_subject *s = &w->subject[i];
	struct buf b;
	const void *key;
	size_t n;
	bool known;

	buf_init(&b);
	buf_str(&b, s->target < w->ntargets ? w->target[s->target] : "");
	buf_add(&b, s->key.byte, sizeof s->key.byte);
	n = b.n;
	known = map_find(&m->seen, b.data, n) != MAP_NONE;
	if (!known) {
		key = arena_copy(m->a, b.data, n);
		map_add(&m->seen, key, n, m->nseen++);
	}
	buf_release(&b);
	if (known || !shard_owns(m->b->shard, s->key))
		return false;
	m->ours++;
	return true;
}

static bool
count_news(
    struct measuring *m, const char *list, uint32_t *news, struct err *err)
{
	struct arena scratch;
	struct want w;
	bool ok;

	arena_init(&scratch);
	*news = 0;
	ok = want_open(&w, list, &scratch, err);
	for (uint32_t i = 0; ok && i < w.n; i++)
		*news += is_news(m, &w, i);
	arena_release(&scratch);
	return ok;
}

static char **
measure_argv(const struct measuring *m, const struct unit *u, const char *list)
{
	const struct shard *s = m->b->shard;
	struct arena *a = m->a;
	char **argv = arena_new(a, char *, 14 + (size_t)u->nargs);
	uint32_t n = 0;

	argv[n++] = arena_str(a, "marq");
	argv[n++] = arena_str(a, "measure");
	argv[n++] = arena_str(a, list);
	argv[n++] = arena_str(a, "--db");
	argv[n++] = arena_str(a, m->measured_into);
	argv[n++] = arena_printf(a, "--shard=%u/%u", s->i, s->n ? s->n : 1);
	argv[n++] = arena_str(a, "--no-progress");
	if (m->b->progress->out >= 0)
		argv[n++] =
		    arena_printf(a, "--progress-fd=%d", m->b->progress->out);
	if (u == m->canaries)
		argv[n++] = arena_str(a, CANARIES);
	for (uint32_t i = 0; i + 1 < u->nargs; i++)
		if (strcmp(u->arg[i], "-t") == 0) {
			argv[n++] = arena_str(a, "-t");
			argv[n++] = arena_str(a, u->arg[i + 1]);
		}
	argv[n++] = arena_str(a, "--format=json");
	return argv;
}

static bool
take_answer(struct measuring *m, struct err *err)
{
	struct cJSON *doc = jsonin_open(m->answer, LIMIT_READ_STATE, err);
	uint32_t measured, probed, failed;
	bool ok = doc && jsonin_u32(doc, "measured", &measured, err)
	    && jsonin_u32(doc, "probed", &probed, err)
	    && jsonin_u32(doc, "failed", &failed, err);

	if (ok) {
		m->measured += measured;
		m->probed += probed;
		m->failed += failed;
	}
	jsonin_close(doc);
	return ok;
}

static void
say_broken(struct measuring *m, const struct unit *u, int exit)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_open(m->answer, LIMIT_READ_STATE, &err);
	const char *why = "";

	m->broken++;
	if (!doc || !jsonin_str(doc, "error", &why, &err))
		why = "";
	progress_end(&m->b->progress->line);
	cli_say(m->b->cli, 0, "%s: exit %d: %s", u->name, exit, why);
	jsonin_close(doc);
}

/* ---- a database of this machine's own ---- */

/* One that another machine began goes on here. */
static bool
begin_local(struct measuring *m, struct err *err)
{
	struct costdb *db;
	bool ok;

	if (strcmp(m->db, m->measured_into) == 0
	    || !file_is_absent(m->measured_into) || file_is_absent(m->db))
		return true;
	if (!costdb_open(&db, m->db, DB_FOREIGN, m->a, err))
		return false;
	ok = costdb_copy(db, m->measured_into, err);
	costdb_abandon(db);
	return ok;
}

/* The others see what there is so far. */
static bool
publish(struct measuring *m, struct err *err)
{
	struct costdb *db;
	bool ok;

	if (strcmp(m->db, m->measured_into) == 0
	    || file_is_absent(m->measured_into))
		return true;
	if (!costdb_open(&db, m->measured_into, DB_READ, m->a, err))
		return false;
	ok = costdb_replace(db, m->db, err);
	costdb_abandon(db);
	return ok;
}

/* All of it is there. */
static void
end_local(const struct measuring *m)
{
	if (strcmp(m->db, m->measured_into) == 0)
		return;
	unlink(arena_printf(m->a, "%s-wal", m->measured_into));
	unlink(arena_printf(m->a, "%s-shm", m->measured_into));
	unlink(m->measured_into);
}

/* Named for the batch: others may have theirs in the same folder. */
static const char *
local_path(const struct batch_measure *b, struct arena *a)
{
	const char *out = b->manifest->out;
	char digits[33], *real = realpath(out, NULL);

	hash128_print(
	    hash128(real ? real : out, strlen(real ? real : out)), digits);
	free(real);
	return arena_printf(a, "%s/marq-%lu-%.12s-%u.db", b->local,
	    (unsigned long)getuid(), digits, b->shard->i);
}

static bool
measure_list(struct measuring *m, const struct unit *u, const char *list,
    int *exit, struct err *err)
{
	struct batch_progress *p = m->b->progress;
	pid_t pid;

	if (!child_start(&pid, measure_argv(m, u, list), m->answer, NULL, err))
		return false;
	*exit = child_await(pid, m->b->manifest->unit_timeout_ns,
	    m->b->cli->stop, batch_progress_tick, p);
	batch_progress_tick(p);
	return true;
}

static bool
measure_unit(struct measuring *m, const struct unit *u, struct err *err)
{
	const char *list;
	uint32_t news;
	int exit;

	if (!wanted_list(&m->lists, u, false, &list, &exit, err))
		return false;
	if (exit == 0 && !count_news(m, list, &news, err))
		return false;
	if (exit == 0 && (news || u == m->canaries)) {
		if (!measure_list(m, u, list, &exit, err))
			return false;
		if (!publish(m, err) || (exit == 0 && !take_answer(m, err)))
			return false;
	}
	if (exit != 0 && !atomic_load(m->b->cli->stop))
		say_broken(m, u, exit);
	return true;
}

static bool
report(const struct measuring *m, struct err *err)
{
	const struct shard *s = m->b->shard;
	char host[256];

	if (gethostname(host, sizeof host) != 0)
		memcpy(host, "?", 2);
	host[sizeof host - 1] = '\0';
	if (m->broken == 0)
		ANSWER_WHOLE(m->b->cli, "marq.batch.measure/1",
		    "{?shards shard {shard} of {shards} on }{host}: {?shards {ours} of }"
		    "{wanted} wanted{?shards  are its own}, "
		    "{measured} measured now{?probed , {probed} probed}{?failed  ({failed} of them failed)}"
		    "\n",
		    F("shard", s->i), F("shards", s->n), F("host", host),
		    F("wanted", m->nseen), F("ours", m->ours),
		    F("measured", m->measured), F("probed", m->probed),
		    F("failed", m->failed), F("db", m->db));
	return m->broken == 0
	    || err_set(err, ERR_PARTIAL,
	        "on %s: %u unit%s could not be measured", host, m->broken,
	        plural(m->broken));
}

/* The first unit that wants anything, for all shards alike. */
static bool
find_canaries(struct measuring *m, struct err *err)
{
	const struct batch_measure *b = m->b;
	uint32_t n = 0;
	int exit = 0;

	for (uint32_t i = 0; i < b->manifest->nunits && b->shard->n > 1; i++) {
		const struct unit *u = &b->manifest->unit[i];
		const char *list;

		if (atomic_load(b->cli->stop)
		    || (b->only && !strstr(u->name, b->only)))
			continue;
		if (!wanted_list(&m->lists, u, false, &list, &exit, err)
		    || (exit == 0 && !wanted_count(list, &n, err)))
			return false;
		if (exit != 0 || n == 0)
			continue;
		m->canaries = u;
		break;
	}
	return true;
}

/* Each shard begins elsewhere, so that they do not all make the same lists. */
static const struct unit *
unit_at(const struct batch_measure *b, uint32_t i)
{
	const struct manifest *m = b->manifest;
	const struct shard *s = b->shard;
	uint64_t first = s->n ? (uint64_t)m->nunits * s->i / s->n : 0;

	return &m->unit[(first + i) % m->nunits];
}

bool
batch_measure(const struct batch_measure *b, struct err *err)
{
	struct arena *a = b->cli->run;
	const char *out = b->manifest->out;
	struct measuring m = {.b = b, .a = a};

	wanted_lists_init(&m.lists, b->cli, b->manifest);
	map_init(&m.seen, a);
	m.db = arena_printf(a, "%s/shards/%u.db", out, b->shard->i);
	m.answer = arena_printf(a, "%s/shards/%u.json", out, b->shard->i);
	m.lists.answer = m.answer;
	path_make_parents(m.db);
	m.measured_into = b->local ? local_path(b, a) : m.db;
	if (!begin_local(&m, err) || !find_canaries(&m, err))
		return false;
	for (uint32_t i = 0; i < b->manifest->nunits; i++) {
		const struct unit *u = unit_at(b, i);

		if (atomic_load(b->cli->stop))
			break;
		if (b->only && !strstr(u->name, b->only))
			continue;
		progress_unit(&b->progress->line, u->name);
		if (!measure_unit(&m, u, err))
			return false;
		progress_unit_end(&b->progress->line, true);
	}
	unlink(m.answer);
	if (m.broken == 0 && !atomic_load(b->cli->stop))
		end_local(&m);
	batch_progress_end(b->progress);
	return atomic_load(b->cli->stop) || report(&m, err);
}
