#include "cli/batch_merge.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/paths.h"
#include "cli/wanted.h"
#include "db/admin.h"
#include "db/facts.h"
#include "ir/base/folder.h"

struct shard_files {
	const char **path; /* [n] in order of their names */
	uint32_t n, cap;
};

static int
compare_paths(const void *a, const void *b)
{
	const char *const *x = a, *const *y = b;

	return strcmp(*x, *y);
}

static bool
is_database(const char *name)
{
	size_t n = strlen(name);

	return n > 3 && name[0] != '.' && strcmp(name + n - 3, ".db") == 0;
}

static bool
list_shards(
    struct shard_files *f, const char *folder, struct arena *a, struct err *err)
{
	const struct dirent *e;
	DIR *d = opendir(folder);

	if (!d)
		return errno == ENOENT
		    || err_set(err, ERR_IO, "%s: %s", folder, strerror(errno));
	while ((e = folder_next(d, folder, err)) != NULL) {
		if (!is_database(e->d_name))
			continue;
		f->path =
		    arena_grow(a, f->path, &f->cap, f->n + 1, sizeof *f->path);
		f->path[f->n++] = arena_printf(a, "%s/%s", folder, e->d_name);
	}
	closedir(d);
	if (f->n > 1)
		qsort(f->path, f->n, sizeof *f->path, compare_paths);
	return err->kind == ERR_NONE;
}

/* ---- of one environment? ---- */

/* The facts of each target, and the shard that has them. */
struct environments {
	struct {
		const char *target, *hard, *shard;
	} * of;
	uint32_t n, cap;
};

static bool
compare_environment(struct environments *seen, const char *hard,
    const char *shard, struct arena *a, struct err *err)
{
	const char *target = facts_get(hard, "target", a);
	const char *cost = facts_get(hard, "cost", a);

	if (!target || !cost || strcmp(cost, "measured") != 0)
		return true;
	for (uint32_t i = 0; i < seen->n; i++) {
		struct facts_gap gap;

		if (strcmp(seen->of[i].target, target) != 0)
			continue;
		gap = facts_compare(seen->of[i].hard, hard, a);
		return gap.relation == FACTS_SAME
		    || err_set(err, ERR_VERDICT,
		        "%s is of another environment than %s: %s: %s (--mixed "
		        "merges them all the same)",
		        shard, seen->of[i].shard, target, gap.why);
	}
	seen->of =
	    arena_grow(a, seen->of, &seen->cap, seen->n + 1, sizeof *seen->of);
	seen->of[seen->n].target = target;
	seen->of[seen->n].hard = hard;
	seen->of[seen->n++].shard = shard;
	return true;
}

static bool
compare_shard(struct environments *seen, const char *shard, struct arena *a,
    struct err *err)
{
	const struct db_summed *row;
	struct costdb *db;
	uint32_t n;
	bool ok;

	if (!costdb_open(&db, shard, DB_FOREIGN, a, err))
		return false;
	ok = costdb_summed(db, &row, &n, a, err);
	costdb_abandon(db);
	for (uint32_t i = 0; ok && i < n; i++)
		ok = row[i].attempts == 0
		    || compare_environment(seen, row[i].hard, shard, a, err);
	return ok;
}

static bool
are_of_one(const struct shard_files *f, struct arena *a, struct err *err)
{
	struct environments seen = {.n = 0};

	for (uint32_t i = 0; i < f->n; i++)
		if (!compare_shard(&seen, f->path[i], a, err))
			return false;
	return true;
}

/* ---- merging ---- */

struct merged_shards {
	struct db_merge sum;
	uint32_t strangers; /* machines unlike the others */
	struct notes notes;
};

static bool
merge_shard(struct costdb *to, const char *path, struct merged_shards *out,
    struct arena *a, struct err *err)
{
	struct costdb *from;
	struct db_merge m;
	bool ok;

	if (!costdb_open(&from, path, DB_FOREIGN, a, err))
		return false;
	ok = costdb_merge(to, from, &m, &out->notes, err);
	costdb_abandon(from);
	out->sum.added += m.added;
	out->sum.known += m.known;
	out->sum.rejected += m.rejected;
	out->sum.conflicts += m.conflicts;
	return ok;
}

static bool
merge_all(const struct shard_files *f, const char *db,
    struct merged_shards *out, struct arena *a, struct err *err)
{
	struct costdb *to;
	bool ok;

	path_make_parents(db);
	if (!costdb_open(&to, db, DB_WRITE, a, err))
		return false;
	ok = costdb_merge_begin(to, err);
	for (uint32_t i = 0; ok && i < f->n; i++)
		ok = merge_shard(to, f->path[i], out, a, err);
	ok = costdb_merge_end(to, ok, err)
	    && costdb_twins(to, &out->strangers, &out->notes, err);
	if (ok)
		return costdb_close(to, err);
	costdb_abandon(to);
	return false;
}

/* With what SQLite keeps beside it, and what a process left that was killed. */
static void
remove_shards(const struct shard_files *f, struct arena *a)
{
	for (uint32_t i = 0; i < f->n; i++) {
		int stem = (int)strlen(f->path[i]) - 3;

		unlink(arena_printf(a, "%.*s.json", stem, f->path[i]));
		unlink(arena_printf(a, "%s-wal", f->path[i]));
		unlink(arena_printf(a, "%s-shm", f->path[i]));
		unlink(f->path[i]);
	}
}

bool
batch_merge(
    struct cli *c, const struct manifest *m, bool mixed, struct err *err)
{
	struct arena *a = c->run;
	struct merged_shards merged = {.strangers = 0};
	struct shard_files f = {.n = 0};
	const char *db;
	bool ok;

	notes_init(&merged.notes, a);
	if (!wanted_db(m, &db, a, err)
	    || !list_shards(&f, arena_printf(a, "%s/shards", m->out), a, err)
	    || (!mixed && !are_of_one(&f, a, err)))
		return false;
	ok = f.n == 0 || merge_all(&f, db, &merged, a, err);
	cli_warn_all(c, &merged.notes);
	if (!ok)
		return false;
	remove_shards(&f, a);
	ANSWER_WHOLE(c, "marq.batch.merge/1",
	    "{shards} shard{s shards} merged into {db}: {added} price{s added} "
	    "added, {known} known, {rejected} rejected, {conflicts} "
	    "conflict{s conflicts}{?strangers , {strangers} machine{s strangers} unlike "
	    "the others}\n",
	    F("shards", f.n), F("db", db), F("added", merged.sum.added),
	    F("known", merged.sum.known), F("rejected", merged.sum.rejected),
	    F("conflicts", merged.sum.conflicts),
	    F("strangers", merged.strangers));
	return true;
}
