/* Programs that are not ours: none of what they start is left, whatever they
 * do about it, and what they say fills no disk. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/file.h"
#include "ir/base/folder.h"
#include "ir/base/limits.h"
#include "targets/process.h"

struct place {
	struct arena arena;
	struct process_job job;
};

static int
set_up(void **state)
{
	struct place *p = calloc(1, sizeof *p);
	struct err err = {.kind = ERR_NONE};

	arena_init(&p->arena);
	p->job.folder = folder_new(NULL, &p->arena, &err);
	p->job.log = "log";
	*state = p;
	return p->job.folder ? 0 : -1;
}

static int
tear_down(void **state)
{
	struct place *p = *state;

	folder_remove(p->job.folder);
	arena_release(&p->arena);
	free(p);
	return 0;
}

static struct process_end
run(struct place *p, const char *command, uint32_t timeout_ms)
{
	struct err err = {.kind = ERR_NONE};
	struct process_end end;

	p->job.command = command;
	assert_true(process_run(&end, &p->job, timeout_ms, &err));
	return end;
}

static const char *
read_in(struct place *p, const char *name)
{
	struct err err = {.kind = ERR_NONE};
	const char *text;
	size_t n;

	if (!file_read(&text, &n,
	        arena_printf(&p->arena, "%s/%s", p->job.folder, name),
	        LIMIT_READ_LOG, &p->arena, &err))
		fail_msg("%s", err.text);
	return arena_strn(&p->arena, text, n);
}

static void
expect_gone(struct place *p, unsigned n)
{
	const char *text = read_in(p, "pids");
	unsigned seen = 0;

	for (char *end; *text; text = end + 1, seen++) {
		long pid = strtol(text, &end, 10);

		assert_int_equal(kill((pid_t)pid, 0), -1);
		assert_int_equal(errno, ESRCH);
	}
	assert_int_equal(seen, n);
}

static void
rest(long ms)
{
	const struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void
statuses(void **state)
{
	struct place *p = *state;

	assert_int_equal(run(p, "true", 10000).how, ENDED_WELL);
	assert_int_equal(run(p, "(exit 7)", 10000).status, 7);
	assert_int_equal(run(p, "(kill -9 $$)", 10000).status, 128 + SIGKILL);
	assert_int_equal(run(p, "no-such-program", 10000).how, ENDED_MISSING);
	assert_int_equal(run(p, "sleep 1000", 100).how, ENDED_LATE);
	assert_int_equal(
	    run(p, "trap '' TERM INT; sleep 9 & wait", 100).how, ENDED_LATE);
}

/* In its group, in a session of its own, and without a parent; all of them
 * when process_run() is back, not some time later. */
static const char leave[] =
    "sleep 1000 & echo $! >>pids; "
    "setsid sh -c 'echo $$ >>pids; exec sleep 1000' & "
    "(setsid sh -c '(echo $$ >>pids; exec sleep 1000) &' &); "
    "while [ \"$(cat pids | wc -l)\" -lt 3 ]; do sleep 0.01; done; ";

/* Emulators that know no such thing leave orphans to init. */
static void
need_subreapers(void)
{
	int is_one;

	if (prctl(PR_GET_CHILD_SUBREAPER, &is_one) == 0)
		return;
	printf("skipped: no process takes in orphans here\n");
	skip();
}

static void
nothing_is_left(void **state)
{
	struct place *p = *state;

	need_subreapers();
	assert_int_equal(
	    run(p, arena_printf(&p->arena, "%sexit 3", leave), 60000).status,
	    3);
	expect_gone(p, 3);
	assert_int_equal(
	    run(p, arena_printf(&p->arena, "rm pids; %ssleep 99", leave), 2000)
	        .how,
	    ENDED_LATE);
	expect_gone(p, 3);
}

/* Nor when its reader dies: the keeper sees to it. */
static void
nothing_is_left_of_the_killed(void **state)
{
	struct place *p = *state;
	const char *pids = arena_printf(&p->arena, "%s/pids", p->job.folder);
	const char *done = arena_printf(&p->arena, "%s/done", p->job.folder);
	pid_t child;

	need_subreapers();
	child = fork();
	if (child == 0) {
		run(p, arena_printf(&p->arena, "%s>done; sleep 99", leave),
		    60000);
		_exit(0);
	}
	for (int i = 0; i < 6000 && access(done, F_OK) != 0; i++)
		rest(10);
	kill(child, SIGKILL);
	assert_int_equal(access(pids, F_OK), 0);
	for (int i = 0; i < 6000; i++) {
		long last = strtol(read_in(p, "pids"), NULL, 10);

		if (kill((pid_t)last, 0) != 0)
			break;
		rest(10);
	}
	rest(100);
	expect_gone(p, 3);
}

static void
much_is_said(void **state)
{
	struct place *p = *state;
	struct stat st;

	assert_int_equal(run(p,
	                     "echo first; yes 'so many words' | head -c "
	                     "50000000 >&2; echo; echo last",
	                     60000)
	                     .how,
	    ENDED_WELL);
	assert_int_equal(
	    stat(arena_printf(&p->arena, "%s/log", p->job.folder), &st), 0);
	assert_true((uint64_t)st.st_size <= limit_of(LIMIT_TOOL_LOG) + 70000);
	assert_memory_equal(read_in(p, "log"), "first\n", 6);
	assert_non_null(strstr(read_in(p, "log"), "bytes left out]"));
	assert_string_equal(process_last_words(&p->job, &p->arena), "last");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(statuses, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(nothing_is_left, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(
	        nothing_is_left_of_the_killed, set_up, tear_down),
	    cmocka_unit_test_setup_teardown(much_is_said, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
