/* Preloaded into a program: when it starts itself anew, the signal whose number
 * EXEC_SIGNAL is comes just before. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_NEXT */
#endif
#include <dlfcn.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int
execv(const char *path, char *const argv[])
{
	const char *number = getenv("EXEC_SIGNAL");
	void *found = dlsym(RTLD_NEXT, "execv");
	int (*real)(const char *, char *const[]);

	memcpy(&real, &found, sizeof real);
	if (number)
		raise(atoi(number));
	return real(path, argv);
}
