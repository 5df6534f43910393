/* Models as today's exporters write them, run as a user runs them: `marq run`
 * in every mix of targets, with prices measured and without.
 *
 * usage: exports [--no-measure | --measure] FOLDER [NAME-PART]
 *
 * FOLDER holds folders with a model.onnx and perhaps test_data_set_<k>. Without
 * data the plan is compared with the host on seeded inputs. A run is passed, or
 * refused (status 3, and a line that says why), or failed: a wrong output, a
 * crash, a hang, another status. Each run is a process group of its own. */
#include <cjson/cJSON.h>
#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/jsonin.h"
#include "ir/base/sanitized.h"
#include "ir/onnx_read.h"
#include "exec/allowed.h"
#include "tests/support/family.h"

/* Of the program and its workers. */
static const struct family_limits limits = {
    .cpu_ms = SANITIZED ? 5400000 : 900000, .idle_ms = 600000};
#define MOST_SETS 16u

static const char *const mixes[][6] = {
    {"host"},
    {"dnnl", "host"},
    {"dnnl", "xnnpack", "blas", "native", "host"},
    {"mrvl", "dnnl", "host"},
};
#define NMIXES (sizeof mixes / sizeof *mixes)

enum verdict { PASSED, REFUSED, FAILED };
static const char *const word[] = {"passed", "refused", "FAILED"};

/* One `marq run`. */
struct trial {
	const char *marq, *folder, *database; /* NULL: nothing is measured */
	const char *const *target; /* ends in NULL */
	struct arena *a;
	const char *out, *log; /* files its output goes to */
};

struct report {
	enum verdict verdict;
	char text[700];
};

static void
say(struct report *r, enum verdict v, const char *what, const char *detail)
{
	r->verdict = v;
	snprintf(r->text, sizeof r->text, "%s%s", what, detail);
}

/* --- What it prints ------------------------------------------------------ */

/* The last line of what went to standard error. */
static const char *
last_line(const struct trial *t)
{
	char *text = arena_alloc(t->a, 65536), *at;
	FILE *f = fopen(t->log, "r");
	size_t n = 0;

	if (f) {
		if (fseek(f, -65535L, SEEK_END) != 0)
			rewind(f);
		n = fread(text, 1, 65535, f);
		fclose(f);
	}
	while (n > 0 && text[n - 1] == '\n')
		n--;
	text[n] = '\0';
	at = strrchr(text, '\n');
	return at ? at + 1 : text;
}

static value_id
output_named(const struct graph *g, const char *name)
{
	for (uint32_t i = 0; i < g->noutputs; i++)
		if (strcmp(graph_value(g, g->output[i])->name, name) == 0)
			return g->output[i];
	return VALUE_NONE;
}

/* One output against one reference, as the model's arithmetic allows. */
static bool
is_close(const struct allowance *allowed, value_id v, const struct cJSON *check)
{
	const struct cJSON *e = cJSON_GetObjectItem(check, "max_error");
	const struct cJSON *range = cJSON_GetObjectItem(check, "range");
	enum dtype type = graph_value(allowed->graph, v)->type.dtype;

	if (cJSON_IsTrue(cJSON_GetObjectItem(check, "matches")))
		return true;
	if (!cJSON_IsNumber(e) || !cJSON_IsNumber(range)
	    || !(e->valuedouble > 0)) /* another shape, or no numbers */
		return false;
	if (type == DT_UINT8 || type == DT_INT8)
		return allowed->requantises && e->valuedouble <= 1;
	return dtype_is_float(type)
	    && e->valuedouble <= output_allowed(allowed, v, range->valuedouble);
}

static void
judge_checks(struct report *r, const struct graph *g,
    const struct cJSON *checks, struct arena *a)
{
	const struct allowance allowed = allowance_of(g);
	const struct cJSON *check;

	cJSON_ArrayForEach(check, checks)
	{
		const char *name =
		    cJSON_GetStringValue(cJSON_GetObjectItem(check, "output"));
		const char *against =
		    cJSON_GetStringValue(cJSON_GetObjectItem(check, "against"));
		const struct cJSON *e = cJSON_GetObjectItem(check, "max_error");
		value_id v = name ? output_named(g, name) : VALUE_NONE;

		if (v != VALUE_NONE && against && is_close(&allowed, v, check))
			continue;
		say(r, FAILED, "output ",
		    arena_printf(a, "%s differs from the %s by %g",
		        name ? name : "?", against ? against : "?",
		        cJSON_IsNumber(e) ? e->valuedouble : (double)NAN));
		return;
	}
}

static void
judge_document(struct report *r, const struct trial *t, struct err *err)
{
	const char *path = arena_printf(t->a, "%s/model.onnx", t->folder);
	const struct onnx_options options = {.collect = false};
	struct cJSON *doc = jsonin_open(t->out, LIMIT_READ_RESULT, err);
	const struct cJSON *checks;
	struct model m;

	if (!doc)
		return;
	if (onnx_read(&m, path, &options, t->a, err)
	    && jsonin_array(doc, "checks", &checks, err)) {
		if (cJSON_GetArraySize(checks) == 0)
			say(r, FAILED, "nothing was compared", "");
		judge_checks(r, m.graph, checks, t->a);
	}
	jsonin_close(doc);
}

/* Status 0, or that of outputs that differ from what `marq run` allows; its
 * tolerance is for float32, so the outputs are judged here. */
static void
judge(struct report *r, const struct trial *t, int status)
{
	struct err err = {.kind = ERR_NONE};

	if (WIFSIGNALED(status)) {
		say(r, FAILED, "died of ",
		    arena_printf(t->a, "signal %d", WTERMSIG(status)));
		return;
	}
	status = WEXITSTATUS(status);
	if (status == 0 || status == err_exit(ERR_VERDICT)) {
		judge_document(r, t, &err);
		if (err.kind != ERR_NONE)
			say(r, FAILED, err.text,
			    arena_printf(t->a, " (%s)", last_line(t)));
		return;
	}
	say(r, status == err_exit(ERR_UNSUPPORTED) ? REFUSED : FAILED, "",
	    arena_printf(t->a, "status %d: %s", status, last_line(t)));
}

/* --- Running it ---------------------------------------------------------- */

static const char **
arguments(const struct trial *t)
{
	const char **arg = arena_new(t->a, const char *, 32 + 2 * MOST_SETS);
	uint32_t n = 0;

	arg[n++] = t->marq;
	arg[n++] = "run";
	arg[n++] = arena_printf(t->a, "%s/model.onnx", t->folder);
	for (uint32_t i = 0; t->target[i]; i++) {
		arg[n++] = "-t";
		arg[n++] = t->target[i];
	}
	for (unsigned k = 0; k < MOST_SETS; k++) {
		const char *set =
		    arena_printf(t->a, "%s/test_data_set_%u", t->folder, k);

		if (access(set, R_OK) != 0)
			break;
		arg[n++] = "--data";
		arg[n++] = set;
	}
	arg[n++] = "--format";
	arg[n++] = "json";
	arg[n++] = "--runs";
	arg[n++] = "1";
	arg[n++] = "--db";
	arg[n++] = t->database ? t->database : "none";
	if (!t->database)
		arg[n++] = "--no-measure";
	arg[n] = NULL;
	return arg;
}

static void
send_to(const char *path, int fd)
{
	int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (file < 0 || dup2(file, fd) < 0)
		_exit(127);
	close(file);
}

/* The argument list of a child as execv() wants it. */
static void
become(const char *const *arg)
{
	execv(arg[0], (char *const *)(uintptr_t)arg);
	perror(arg[0]);
	_exit(127);
}

static pid_t
start(const struct trial *t, const char *const *arg)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid < 0) {
		perror("fork");
		exit(2);
	}
	if (pid == 0) {
		setpgid(0, 0);
		send_to(t->out, 1);
		send_to(t->log, 2);
		become(arg);
	}
	setpgid(pid, pid);
	return pid;
}

static void
run(struct report *r, const struct trial *t)
{
	int status = 0;

	*r = (struct report){.verdict = PASSED};
	switch (family_wait(start(t, arguments(t)), limits, &status)) {
	case FAMILY_ENDED:
		judge(r, t, status);
		break;
	case FAMILY_BUSY:
		say(r, FAILED, "no answer within the time limit", "");
		break;
	case FAMILY_STUCK:
		say(r, FAILED, "it waits for nothing", "");
	}
}

/* Judging reads the model too, and may not survive it. */
static void
run_apart(struct report *r, const struct trial *t)
{
	int ends[2], status = 0;
	ssize_t n;
	pid_t pid;

	fflush(stdout);
	if (pipe(ends) != 0 || (pid = fork()) < 0) {
		perror("exports");
		exit(2);
	}
	if (pid == 0) {
		close(ends[0]);
		run(r, t);
		n = write(ends[1], r, sizeof *r);
		_exit(n == (ssize_t)sizeof *r ? 0 : 1);
	}
	close(ends[1]);
	n = read(ends[0], r, sizeof *r);
	close(ends[0]);
	waitpid(pid, &status, 0);
	if (n != (ssize_t)sizeof *r || status != 0)
		say(r, FAILED, "judging it died", "");
}

/* --- All of them --------------------------------------------------------- */

struct plan_of_runs {
	const char *marq, *root, *part;
	bool measured, unmeasured;
	char scratch[64];
	uint32_t count[3];
};

static const char *
mix_text(const char *const *target, struct arena *a)
{
	const char *text = target[0];

	for (uint32_t i = 1; target[i]; i++)
		text = arena_printf(a, "%s+%s", text, target[i]);
	return text;
}

static void
test_run(struct plan_of_runs *p, const char *name, uint32_t mix, bool measured)
{
	struct arena a;
	struct report r;
	struct trial t = {.marq = p->marq, .target = mixes[mix], .a = &a};
	uint64_t begun = clock_ns();

	arena_init(&a);
	t.folder = arena_printf(&a, "%s/%s", p->root, name);
	t.out = arena_printf(&a, "%s/out.json", p->scratch);
	t.log = arena_printf(&a, "%s/log", p->scratch);
	if (measured)
		t.database = arena_printf(&a, "%s/prices.db", p->scratch);
	run_apart(&r, &t);
	p->count[r.verdict]++;
	printf("%-7s %-32s %-23s %-12s %5.1fs  %s\n", word[r.verdict], name,
	    mix_text(mixes[mix], &a), measured ? "measured" : "--no-measure",
	    (double)(clock_ns() - begun) / 1e9, r.text);
	fflush(stdout);
	arena_release(&a);
}

static void
test_model(struct plan_of_runs *p, const char *name)
{
	for (uint32_t mix = 0; mix < NMIXES; mix++) {
		if (p->unmeasured)
			test_run(p, name, mix, false);
		if (p->measured)
			test_run(p, name, mix, true);
	}
}

static void
test_all(struct plan_of_runs *p)
{
	struct dirent **e;
	int n = scandir(p->root, &e, NULL, alphasort);
	char path[PATH_MAX];

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s/model.onnx", p->root,
		    e[i]->d_name);
		if (access(path, R_OK) == 0 && strstr(e[i]->d_name, p->part))
			test_model(p, e[i]->d_name);
		free(e[i]);
	}
	if (n >= 0)
		free(e);
}

/* $MARQ, or the program of this build. */
static const char *
find_marq(struct arena *a)
{
	const char *marq = getenv("MARQ");
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

	if (marq || n < 0)
		return marq ? marq : "marq";
	self[n] = '\0';
	for (int up = 0; up < 2 && strrchr(self, '/'); up++)
		*strrchr(self, '/') = '\0';
	return arena_printf(a, "%s/cli/marq", self);
}

static void
remove_scratch(const struct plan_of_runs *p)
{
	struct dirent **e;
	int n = scandir(p->scratch, &e, NULL, NULL);
	char path[PATH_MAX];

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s", p->scratch, e[i]->d_name);
		unlink(path);
		free(e[i]);
	}
	if (n >= 0)
		free(e);
	rmdir(p->scratch);
}

int
main(int argc, char **argv)
{
	struct plan_of_runs p = {.part = "",
	    .measured = true,
	    .unmeasured = true,
	    .scratch = "/tmp/exports.XXXXXX"};
	struct arena a;
	int i = 1;

	if (i < argc && strcmp(argv[i], "--no-measure") == 0) {
		p.measured = false;
		i++;
	} else if (i < argc && strcmp(argv[i], "--measure") == 0) {
		p.unmeasured = false;
		i++;
	}
	if (i >= argc || !mkdtemp(p.scratch)) {
		fprintf(stderr,
		    "usage: exports [--no-measure | --measure] "
		    "FOLDER [NAME-PART]\n");
		return 2;
	}
	p.root = argv[i++];
	p.part = i < argc ? argv[i] : "";
	arena_init(&a);
	p.marq = find_marq(&a);
	test_all(&p);
	remove_scratch(&p);
	arena_release(&a);
	printf("%u refused\n", p.count[REFUSED]);
	printf("%u passed, %u failed\n", p.count[PASSED], p.count[FAILED]);
	return p.count[FAILED] || p.count[PASSED] == 0 ? 1 : 0;
}
