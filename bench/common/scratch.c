#include "bench/common/scratch.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void
must(bool ok, const struct err *err)
{
	if (ok)
		return;
	fprintf(stderr, "%s\n", err->text);
	exit(1);
}

void
remove_db(const char *path)
{
	static const char *const suffix[] = {"", "-wal", "-shm"};
	char whole[256];

	for (int i = 0; i < 3; i++) {
		snprintf(whole, sizeof whole, "%s%s", path, suffix[i]);
		unlink(whole);
	}
}
