#include "exec/apart.h"

#include <stdlib.h>
#include <unistd.h>

#include "ir/base/folder.h"
#include "ir/base/reap.h"

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
