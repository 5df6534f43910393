/* A runtime's library: where it is looked for, and loaded. */
#ifndef PLUGINS_COMMON_RUNTIME_H
#define PLUGINS_COMMON_RUNTIME_H

struct runtime {
	const char *soname; /* as the loader finds it */
	const char *packaged; /* a pattern below the folder of pip's packages */
};

/* `path` and nothing else where it is given. Else what the loader finds; else
 * what pip installed for the first python3 on PATH: in PREFIX/lib or
 * PREFIX/local/lib where that is PREFIX/bin/python3, or for this user alone in
 * ~/.local/lib. NULL: nowhere. It is never unloaded: runtimes leave threads and
 * destructors behind. */
void *runtime_load(const struct runtime *r, const char *path);

#endif
