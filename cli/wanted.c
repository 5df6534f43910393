#include "cli/wanted.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cJSON.h>

#include "cli/child.h"
#include "cli/paths.h"
#include "costmodel/want.h"
#include "db/admin.h"
#include "ir/base/file.h"
#include "ir/base/folder.h"
#include "ir/base/jsonin.h"

void
wanted_lists_init(
    struct wanted_lists *w, struct cli *c, const struct manifest *m)
{
	*w = (struct wanted_lists){
	    .cli = c,
	    .manifest = m,
	    .folder = arena_printf(c->run, "%s/wanted", m->out),
	};
}

/* The database its search takes prices from; NULL: none. */
static const char *
db_of(const struct unit *u, struct arena *a)
{
	const char *db = path_default_db(a);

	for (uint32_t i = 0; i < u->nargs; i++) {
		if (strncmp(u->arg[i], "--db=", 5) == 0)
			db = u->arg[i] + 5;
		else if (strcmp(u->arg[i], "--db") == 0 && i + 1 < u->nargs)
			db = u->arg[i + 1];
	}
	return db && strcmp(db, "none") != 0 ? db : NULL;
}

static bool
count_attempts(const char *path, uint64_t *n, struct arena *a, struct err *err)
{
	struct db_stat stat;
	struct costdb *db;
	bool ok;

	if (!costdb_open(&db, path, DB_READ, a, err))
		return false;
	ok = costdb_stat(db, &stat, err);
	costdb_abandon(db);
	*n = stat.attempts;
	return ok;
}

static bool
no_database(const struct unit *u, struct err *err)
{
	return err_set(err, ERR_USAGE,
	    "unit '%s': --phase needs a database that the shards are merged "
	    "into",
	    u->name);
}

bool
wanted_db(
    const struct manifest *m, const char **db, struct arena *a, struct err *err)
{
	*db = NULL;
	for (uint32_t i = 0; i < m->nunits; i++) {
		const char *own = db_of(&m->unit[i], a);

		if (!own)
			return no_database(&m->unit[i], err);
		if (*db && strcmp(*db, own) != 0)
			return err_set(err, ERR_USAGE,
			    "unit '%s' has another database (%s) than those "
			    "before (%s)",
			    m->unit[i].name, own, *db);
		*db = own;
	}
	return true;
}

/* Where the database is not to be seen, the newest lists there are. */
static uint64_t
newest_lists(const char *folder)
{
	struct err ignored = {.kind = ERR_NONE};
	const struct dirent *e;
	DIR *d = opendir(folder);
	uint64_t newest = 0;

	while (d && (e = folder_next(d, folder, &ignored)) != NULL) {
		uint64_t n = strtoull(e->d_name, NULL, 10);

		newest = n > newest ? n : newest;
	}
	if (d)
		closedir(d);
	return newest;
}

/* Attempts are only ever added, so their number is the state. */
static bool
find_state(struct wanted_lists *w, const struct unit *u, struct err *err)
{
	struct arena *a = w->cli->run;
	const char *db = db_of(u, a);
	uint64_t n;

	if (!db)
		return no_database(u, err);
	if (w->state && strcmp(w->db, db) == 0)
		return true;
	if (file_is_absent(db))
		n = newest_lists(w->folder);
	else if (!count_attempts(db, &n, a, err))
		return false;
	w->db = db;
	w->state = arena_printf(a, "%s/%" PRIu64, w->folder, n);
	return true;
}

static bool
make_list(struct wanted_lists *w, const struct unit *u, const char *path,
    int *exit, struct err *err)
{
	struct arena *a = w->cli->run;
	char **argv = arena_new(a, char *, u->nargs + 10);
	uint32_t n = 0;
	pid_t pid;

	argv[n++] = arena_str(a, "marq");
	argv[n++] = arena_str(a, "search");
	argv[n++] = arena_str(a, u->model);
	for (uint32_t i = 0; i < u->nargs; i++)
		argv[n++] = arena_str(a, u->arg[i]);
	argv[n++] = arena_str(a, "--want");
	argv[n++] = arena_str(a, path);
	argv[n++] = arena_str(a, "--force");
	argv[n++] = arena_str(a, "--quiet");
	argv[n++] = arena_str(a, "--no-progress");
	argv[n++] = arena_str(a, "--format=json");
	if (!child_start(&pid, argv, w->answer, NULL, err))
		return err_in(err, "unit '%s'", u->name);
	*exit = child_await(
	    pid, w->manifest->unit_timeout_ns, w->cli->stop, NULL, NULL);
	return true;
}

bool
wanted_list(struct wanted_lists *w, const struct unit *u, bool again,
    const char **path, int *exit, struct err *err)
{
	if (!find_state(w, u, err))
		return false;
	*exit = 0;
	*path = arena_printf(w->cli->run, "%s/%s.json", w->state, u->name);
	if (!again && access(*path, R_OK) == 0)
		return true;
	path_make_parents(*path);
	return make_list(w, u, *path, exit, err);
}

void
wanted_forget(const struct wanted_lists *w)
{
	folder_remove(w->folder);
}

bool
wanted_count(const char *path, uint32_t *n, struct err *err)
{
	const struct cJSON *list;
	struct cJSON *doc = jsonin_open(path, LIMIT_READ_WANT, err);
	bool ok;

	if (!doc)
		return false;
	ok = jsonin_array(doc, "subjects", &list, err)
	    || err_in(err, "%s", path);
	if (ok)
		*n = (uint32_t)cJSON_GetArraySize(list);
	jsonin_close(doc);
	return ok;
}
