#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "exec/apart.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/folder.h"
#include "ir/base/reap.h"

void *
apart_memory(size_t bytes)
{
	void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	return at == MAP_FAILED ? NULL : at;
}

void
apart_memory_end(void *at, size_t bytes)
{
	munmap(at, bytes);
}

static bool
run_in(const char *folder, void (*work)(void *context, struct arena *a),
    void *context, unsigned seconds, struct err *err)
{
	struct arena arena;
	pid_t child = fork();

	if (child < 0)
		return err_set(err, ERR_MEASURE, "no process to run a plan in");
	if (child == 0) {
		arena_init(&arena);
		setenv("TMPDIR", folder, 1);
		alarm(seconds);
		work(context, &arena);
		_exit(0);
	}
	reap(child);
	return true;
}

/* What runs there leaves nothing behind, even if it is killed. */
bool
apart_run(void (*work)(void *context, struct arena *a), void *context,
    unsigned seconds, struct err *err)
{
	struct arena scratch;
	const char *folder;
	bool ok;

	arena_init(&scratch);
	folder = folder_new(NULL, &scratch, err);
	ok = folder && run_in(folder, work, context, seconds, err);
	if (folder)
		folder_remove(folder);
	arena_release(&scratch);
	return ok;
}
