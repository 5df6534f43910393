/* Abstract problems with known answers. Argument: a folder with small.jsonl (a
 * problem and its optimum a line) and repro/: hang*.json are solved and proven
 * (in a third of a second of CPU time; the deadline is for loaded machines), phantom* and unread_port* are refused, with the candidate and the
 * port that nothing feeds. */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/clock.h"
#include "ir/base/file.h"
#include "ir/base/jsonin.h"
#include "search/problem_json.h"

static unsigned passed, failed;

static void
judge(bool ok, const char *name, const char *what)
{
	passed += ok;
	failed += !ok;
	if (!ok)
		printf("%s: %s\n", name, what);
}

/* One line: {"seed", "optimum", "problem"}. */
static void
solve_line(const char *line, const char *name, struct arena *a)
{
	struct search_options o = {.threads = 1};
	struct err err = {.kind = ERR_NONE};
	cJSON *doc = jsonin_parse(line, strlen(line), name, &err);
	struct search_result r = {.found = false};
	uint64_t optimum = COST_NEVER;
	struct problem p;
	const cJSON *item;
	char *text;

	if (!doc) {
		judge(false, name, err.text);
		return;
	}
	item = cJSON_GetObjectItemCaseSensitive(doc, "optimum");
	if (item && !cJSON_IsNull(item) && !jsonin_is_u62(item, &optimum))
		judge(false, name, "no optimum");
	text = cJSON_PrintUnformatted(
	    cJSON_GetObjectItemCaseSensitive(doc, "problem"));
	if (text && problem_parse(&p, text, strlen(text), name, a, &err)
	    && search_exact(&r, &p, &o, a, &err))
		judge(r.proven && r.found == (optimum != COST_NEVER)
		        && (!r.found || r.cover.cost == optimum),
		    name, "not the optimum, or not proven");
	else
		judge(false, name, err.text);
	free(text);
	jsonin_close(doc);
}

static void
solve_lines(char *text, struct arena *a)
{
	char *save = NULL, name[32];
	unsigned number = 0;

	for (char *line = strtok_r(text, "\n", &save); line;
	     line = strtok_r(NULL, "\n", &save)) {
		struct arena_mark mark = arena_mark(a);

		snprintf(name, sizeof name, "line %u", ++number);
		solve_line(line, name, a);
		arena_back(a, mark);
	}
}

static void
refuse_or_solve(const char *folder, const char *name, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct search_options o = {
	    .deadline_ns = clock_ns() + UINT64_C(60000000000)};
	bool hangs = strncmp(name, "hang", 4) == 0;
	struct search_result r;
	char path[4096];
	struct problem p;
	bool ok;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	ok = problem_read(&p, path, a, &err);
	if (!hangs) {
		judge(!ok && err.kind == ERR_INPUT
		        && strstr(err.text, "candidate")
		        && strstr(err.text, "inputs["),
		    name, ok ? "not refused" : err.text);
		return;
	}
	ok = ok && search_exact(&r, &p, &o, a, &err);
	judge(ok && r.found && r.proven, name, ok ? "not proven" : err.text);
}

static void
run_repro(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	struct arena a;

	while (dir && (entry = readdir(dir))) {
		if (!strstr(entry->d_name, ".json"))
			continue;
		arena_init(&a);
		refuse_or_solve(folder, entry->d_name, &a);
		arena_release(&a);
	}
	if (dir)
		closedir(dir);
}

int
main(int argc, char **argv)
{
	struct err err = {.kind = ERR_NONE};
	char path[4096];
	const char *text;
	struct arena a;
	size_t n;

	if (argc != 2) {
		fprintf(stderr, "usage: solve FOLDER\n");
		return 2;
	}
	arena_init(&a);
	snprintf(path, sizeof path, "%s/small.jsonl", argv[1]);
	if (file_read(&text, &n, path, LIMIT_READ_PROBLEM, &a, &err)) {
		char *copy = arena_alloc(&a, n + 1);

		memcpy(copy, text, n);
		copy[n] = '\0';
		solve_lines(copy, &a);
	} else {
		judge(false, path, err.text);
	}
	snprintf(path, sizeof path, "%s/repro", argv[1]);
	run_repro(path);
	arena_release(&a);
	printf("%u passed, %u failed\n", passed, failed);
	return failed > 0;
}
