#include "plugins/common/runtime.h"

#include <dlfcn.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* In the folder of packages of any version of Python below `root`. */
static void *
load_below(const char *root, const char *packaged)
{
	static const char *const folders[] = {"site-packages", "dist-packages"};
	char pattern[8192];
	void *library = NULL;

	for (size_t i = 0; library == NULL && i < 2; i++) {
		glob_t found;

		snprintf(pattern, sizeof pattern, "%s/python3*/%s/%s", root,
		    folders[i], packaged);
		if (glob(pattern, 0, NULL, &found) != 0)
			continue;
		/* the newest, where they are told apart by it */
		for (size_t k = found.gl_pathc; library == NULL && k-- > 0;)
			library =
			    dlopen(found.gl_pathv[k], RTLD_NOW | RTLD_LOCAL);
		globfree(&found);
	}
	return library;
}

/* The folder of the first python3 on PATH, which decides, as in a virtual
 * environment. */
static int
find_python(char *bin, size_t room)
{
	const char *at = getenv("PATH");
	char program[4096];

	while (at != NULL && *at != '\0') {
		int n = (int)strcspn(at, ":");

		snprintf(program, sizeof program, "%.*s/python3", n, at);
		if (access(program, X_OK) == 0) {
			snprintf(bin, room, "%.*s", n, at);
			return 1;
		}
		at += n + (at[n] == ':');
	}
	return 0;
}

static void *
load_packaged(const char *packaged)
{
	static const char *const beside[] = {"../lib", "../local/lib"};
	const char *home = getenv("HOME");
	char bin[4096], root[4200];
	void *library = NULL;

	if (!find_python(bin, sizeof bin))
		return NULL;
	for (size_t i = 0; library == NULL && i < 2; i++) {
		snprintf(root, sizeof root, "%s/%s", bin, beside[i]);
		library = load_below(root, packaged);
	}
	if (library == NULL && home != NULL && *home != '\0') {
		snprintf(root, sizeof root, "%s/.local/lib", home);
		library = load_below(root, packaged);
	}
	return library;
}

void *
runtime_load(const struct runtime *r, const char *path)
{
	void *library;

	if (*path != '\0')
		return dlopen(path, RTLD_NOW | RTLD_LOCAL);
	library = dlopen(r->soname, RTLD_NOW | RTLD_LOCAL);
	return library != NULL ? library : load_packaged(r->packaged);
}
