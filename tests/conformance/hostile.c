/* Malformed models against the verdict expected of an importer.
 * usage: conformance_hostile FOLDER [-v]
 * FOLDER/index.json lists {file, expect: accept|reject|either, why};
 * FOLDER/setup.sh makes file-system traps, in a copy made for this run. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cJSON.h>

#include "ir/base/arena.h"
#include "ir/base/jsonin.h"
#include "tests/support/trial.h"

/* A verdict is due in a second; sanitizers and a busy machine get slack. */
#define SECONDS_DUE 1.0
#define SECONDS_LIMIT 20.0

/* Run a shell script with two arguments. */
static bool
shell(const char *script, const char *x, const char *y)
{
	pid_t pid = fork();
	int status = 0;

	if (pid == 0) {
		execl("/bin/sh", "sh", "-c", script, "sh", x, y, (char *)NULL);
		_exit(127);
	}
	return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}

/* A private copy of the data with its traps set. */
static bool
copy_data(const char *from, char *to)
{
	static const char script[] =
	    "cp -R \"$1\"/. \"$2\" && chmod -R u+w \"$2\" && "
	    "if [ -e \"$2/setup.sh\" ]; then sh \"$2/setup.sh\"; fi";

	if (!mkdtemp(to) || !shell(script, from, to)) {
		perror(to);
		return false;
	}
	return true;
}

static bool
run_case(const char *folder, const struct cJSON *entry, bool verbose)
{
	struct err err = {.kind = ERR_NONE};
	const char *file, *expect;
	char path[4096];
	struct trial t;
	bool ok;

	if (!jsonin_str(entry, "file", &file, &err)
	    || !jsonin_str(entry, "expect", &expect, &err)) {
		printf("index.json: %s\n", err.text);
		return false;
	}
	snprintf(path, sizeof path, "%s/%s", folder, file);
	trial_apart(&t, path, SECONDS_LIMIT, trial_import);
	ok = t.verdict == VERDICT_ACCEPT || t.verdict == VERDICT_REJECT;
	if (ok && strcmp(expect, "either") != 0)
		ok = strcmp(expect, trial_word(t.verdict)) == 0;
	if (!ok || verbose)
		printf("%s %s: expected %s, got %s in %.2f s: %s\n",
		    ok ? "ok  " : "FAIL", file, expect, trial_word(t.verdict),
		    t.seconds, t.text);
	if (ok && t.seconds > SECONDS_DUE)
		printf("slow %s: %.2f s\n", file, t.seconds);
	return ok;
}

int
main(int argc, char **argv)
{
	char copy[] = "/tmp/marq-hostile-XXXXXX", index[4096];
	struct err err = {.kind = ERR_NONE};
	unsigned passed = 0, failed = 0;
	const struct cJSON *entry;
	struct cJSON *doc;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FOLDER [-v]\n", argv[0]);
		return 2;
	}
	snprintf(index, sizeof index, "%s/index.json", argv[1]);
	doc = jsonin_open(index, LIMIT_READ_RESULT, &err);
	if (!doc || !copy_data(argv[1], copy)) {
		fprintf(stderr, "%s\n", err.text);
		return 2;
	}
	cJSON_ArrayForEach(entry, doc)
	{
		if (run_case(copy, entry, argc > 2))
			passed++;
		else
			failed++;
	}
	jsonin_close(doc);
	shell("rm -rf \"$1\"", copy, "");
	printf("%u passed, %u failed\n", passed, failed);
	return failed != 0;
}
