#include "cli/paths.h"

#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The user's folder, from the environment or the password database; NULL when
 * neither names one. */
static const char *
home_folder(void)
{
	const char *home = getenv("HOME");
	const struct passwd *user;

	if (home && *home == '/')
		return home;
	user = getpwuid(getuid());
	return user && user->pw_dir && *user->pw_dir == '/' ? user->pw_dir
	                                                    : NULL;
}

const char *
path_default_db(struct arena *a)
{
	const char *db = getenv("MARQ_DB"), *data = getenv("XDG_DATA_HOME");
	const char *home = home_folder();

	if (db && *db)
		return strcmp(db, "none") == 0 ? NULL : db;
	if (data && *data == '/')
		return arena_printf(a, "%s/marq/tuning.db", data);
	if (!home)
		return NULL;
	return arena_printf(a, "%s/.local/share/marq/tuning.db", home);
}

const char *
path_default_result(const char *model, struct arena *a)
{
	const char *slash = strrchr(model, '/'), *dot;
	const char *stem = slash ? slash + 1 : model;

	if (strcmp(model, "-") == 0)
		return "stdin.marq";
	/* every zoo calls its file model.onnx: its folder's name says more */
	if (slash && strcmp(stem, "model.onnx") == 0 && slash > model) {
		const char *start = slash;

		while (start > model && start[-1] != '/')
			start--;
		if (start < slash && *start != '.')
			return arena_printf(
			    a, "%.*s.marq", (int)(slash - start), start);
	}
	dot = strrchr(stem, '.');
	if (!dot || dot == stem)
		dot = stem + strlen(stem);
	return arena_printf(a, "%.*s.marq", (int)(dot - stem), stem);
}

void
path_make_parents(const char *file)
{
	char path[4096];
	size_t n = strlen(file);

	if (n >= sizeof path)
		return;
	memcpy(path, file, n + 1);
	for (char *s = path + 1; (s = strchr(s, '/')); *s++ = '/') {
		*s = '\0';
		mkdir(path, 0777);
	}
}
