/* The ONNX backend corpus through import, inference, folding, the host, and a
 * plan of the host's candidates run by the executor.
 *
 * usage: onnx CORPUS [NAME-PART]
 *
 * CORPUS holds folders (node, simple, pytorch-*) of tests: a model.onnx and
 * test_data_set_<k>/{input,output}_<i>.pb. Each test runs in a process of its
 * own. A test is passed, or refused (with operator, version and dtype named),
 * or failed: a wrong result, a crash, a hang, or a refusal that says less. */
#include <assert.h>
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/allowed.h"
#include "exec/executor.h"
#include "ir/base/sanitized.h"
#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/host/host.h"
#include "tests/support/compare.h"
#include "tests/support/force.h"

/* Of processor time for a test; the slowest takes about a second. */
#define TIME_LIMIT_S 20
#define MEMORY_LIMIT ((rlim_t)8 << 30)
#define MOST_VALUES 256u /* inputs or outputs of a model */

/* SOURCE: the corpus' own runner (onnx.backend.test.loader). */
static const struct tolerance tolerance = {.relative = 1e-3, .absolute = 1e-7};

/* Where that is not enough, and why. Listed, so that nothing else is loose. */
static const struct {
	const char *operator;
	struct tolerance tolerance;
	const char *why;
} looser[] = {
    {"DFT", {1e-3, 5e-7, 0},
        "sums that cancel to 0 carry 1.9e-7 of float32 noise as expected"},
};

enum verdict { PASSED, REFUSED, FAILED };

/* What the process of a test says. */
struct report {
	enum verdict verdict;
	char operator[64]; /* of a one-node model, else "(graphs)" */
	char text[700];
};

/* --- One test ------------------------------------------------------------ */

struct set {
	uint32_t nin, nout;
	struct tensor in[MOST_VALUES], want[MOST_VALUES], got[MOST_VALUES];
	bool drawn[MOST_VALUES]; /* random: of what type and shape is all */
};

static bool
read_values(const struct graph *g, const value_id *id, uint32_t n,
    const char *prefix, struct tensor *to, struct arena *a, struct err *err)
{
	char path[4300];

	if (n > MOST_VALUES)
		return err_set(err, ERR_INTERNAL, "too many values");
	for (uint32_t i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s_%u.pb", prefix, i);
		if (!onnx_read_value(
		        &to[i], &graph_value(g, id[i])->type, path, a, err))
			return false;
	}
	return true;
}

/* Data set k of a test; false without an error when there is none. */
static bool
read_set(struct set *s, const struct graph *g, const char *folder, uint32_t k,
    struct arena *a, struct err *err)
{
	char prefix[4200];

	snprintf(prefix, sizeof prefix, "%s/test_data_set_%u", folder, k);
	if (access(prefix, R_OK) != 0)
		return false;
	s->nin = g->ninputs;
	s->nout = g->noutputs;
	snprintf(prefix, sizeof prefix, "%s/test_data_set_%u/input", folder, k);
	if (!read_values(g, g->input, g->ninputs, prefix, s->in, a, err))
		return false;
	snprintf(
	    prefix, sizeof prefix, "%s/test_data_set_%u/output", folder, k);
	return read_values(g, g->output, g->noutputs, prefix, s->want, a, err);
}

static bool
as_wanted(const struct set *s, uint32_t i, const struct tolerance *t,
    char *text, size_t size)
{
	const struct tensor *got = &s->got[i], *want = &s->want[i];

	if (!s->drawn[i])
		return tensor_close(got, want, *t, text, size);
	snprintf(text, size, "is of another type or shape");
	return got->dtype == want->dtype && got->rank == want->rank
	    && memcmp(got->dim, want->dim, got->rank * sizeof *got->dim) == 0;
}

static void
judge(struct report *r, const struct set *s, const char *who)
{
	struct tolerance t = tolerance;
	char text[400];

	for (size_t i = 0; i < sizeof looser / sizeof *looser; i++)
		if (strcmp(looser[i].operator, r->operator) == 0)
			t = looser[i].tolerance;
	for (uint32_t i = 0; i < s->nout && r->verdict == PASSED; i++) {
		if (as_wanted(s, i, &t, text, sizeof text))
			continue;
		r->verdict = FAILED;
		snprintf(
		    r->text, sizeof r->text, "%soutput %u %s", who, i, text);
	}
}

/* Inputs whose shape the model leaves open are bound on the command line. */
static bool
has_open_input(const struct graph *g)
{
	for (uint32_t i = 0; i < g->ninputs; i++) {
		const struct type *t = &graph_value(g, g->input[i])->type;

		if (t->kind == TYPE_TENSOR && !type_is_static(t))
			return true;
	}
	return false;
}

static bool
run_as_plan(struct report *r, const struct graph *g, struct set *s,
    struct arena *a, struct err *err)
{
	static const char *const host[] = {"host", NULL};
	struct rng random = {.state = 1};
	struct force f;
	struct plan plan;
	struct executor *x;
	bool placed, ok;

	if (!force_open(&f, g, host, true, a, err)
	    || !force_plan(&plan, &f, FORCE_NONE, &random, &placed, a, err)
	    || !executor_open(&x, &plan, NULL, a, err))
		return false;
	ok = executor_run(x, s->in, s->got, err);
	if (ok)
		judge(r, s, "as a plan, ");
	executor_close(x);
	return ok;
}

static bool
run_set(struct report *r, const struct graph *g, struct set *s, struct arena *a,
    struct err *err)
{
	const bool *drawn = values_drawn(g, a);

	for (uint32_t i = 0; i < g->noutputs; i++)
		s->drawn[i] = drawn[g->output[i]];
	if (!host_run(g, s->in, s->got, a, err))
		return false;
	judge(r, s, "");
	return r->verdict != PASSED || g->nnodes == 0 || has_open_input(g)
	    || run_as_plan(r, g, s, a, err);
}

static bool
run_model(
    struct report *r, const char *folder, struct arena *a, struct err *err)
{
	static struct set sets[16];
	const struct onnx_options options = {.collect = false};
	const struct infer_options infer = {.eval = host_eval};
	struct model m;
	struct graph *g;
	char path[4200];
	uint32_t nsets = 0;

	snprintf(path, sizeof path, "%s/model.onnx", folder);
	if (!onnx_read(&m, path, &options, a, err))
		return false;
	g = m.graph;
	if (g->origin_table->n == 1)
		snprintf(r->operator, sizeof r->operator, "%s",
		    g->origin_table->node[0].op_type);
	while (nsets < 16 && read_set(&sets[nsets], g, folder, nsets, a, err))
		nsets++;
	if (err->kind != ERR_NONE || !normalize(g, &infer, err))
		return false;
	if (nsets == 0)
		return err_set(err, ERR_INPUT, "no test_data_set_0");
	for (uint32_t k = 0; k < nsets && r->verdict == PASSED; k++)
		if (!run_set(r, g, &sets[k], a, err))
			return false;
	return true;
}

/* "... Name (opset 13, float32): ..." */
static bool
names_all(const char *text)
{
	const char *at = strstr(text, " (opset ");

	return at && at > text && strchr(at, ',') && strchr(at, ')')
	    && !strstr(at, ", ?)");
}

static void
run_test(struct report *r, const char *folder)
{
	struct arena a;
	struct err err = {.kind = ERR_NONE};

	*r = (struct report){.verdict = PASSED, .operator= "(graphs)" };
	arena_init(&a);
	if (!run_model(r, folder, &a, &err)) {
		r->verdict = err.kind == ERR_UNSUPPORTED && names_all(err.text)
		    ? REFUSED
		    : FAILED;
		snprintf(r->text, sizeof r->text, "%s", err.text);
	}
	arena_release(&a);
}

/* --- In a process of its own --------------------------------------------- */

static void
died(struct report *r, int status)
{
	*r = (struct report){.verdict = FAILED, .operator= "(graphs)" };
	if (WIFSIGNALED(status))
		snprintf(r->text, sizeof r->text, "died of signal %d%s",
		    WTERMSIG(status),
		    WTERMSIG(status) == SIGALRM || WTERMSIG(status) == SIGXCPU
		        ? " (too slow)"
		        : "");
	else
		snprintf(r->text, sizeof r->text, "ended with status %d",
		    WEXITSTATUS(status));
}

static void
run_apart(struct report *r, const char *folder)
{
	int ends[2], status = 0;
	pid_t pid;
	ssize_t n;

	fflush(stdout);
	if (pipe(ends) != 0 || (pid = fork()) < 0) {
		perror("onnx");
		exit(2);
	}
	if (pid == 0) {
		struct rlimit memory = {MEMORY_LIMIT, MEMORY_LIMIT};
		struct rlimit time = {TIME_LIMIT_S, TIME_LIMIT_S + 1};

		close(ends[0]);
		alarm(30 * TIME_LIMIT_S);
		setrlimit(RLIMIT_CPU, &time);
		if (!SANITIZED)
			setrlimit(RLIMIT_DATA, &memory);
		run_test(r, folder);
		n = write(ends[1], r, sizeof *r);
		_exit(n == (ssize_t)sizeof *r ? 0 : 1);
	}
	close(ends[1]);
	n = read(ends[0], r, sizeof *r);
	close(ends[0]);
	waitpid(pid, &status, 0);
	if (n != (ssize_t)sizeof *r || status != 0)
		died(r, status);
}

/* --- All tests ----------------------------------------------------------- */

struct row {
	char operator[64];
	uint32_t count[3]; /* by verdict */
};

static struct row rows[1024];
static uint32_t nrows;
static uint32_t total[3], node_total[3];

static void
count(const struct report *r, bool is_node)
{
	uint32_t i = 0;

	while (i < nrows && strcmp(rows[i].operator, r->operator) != 0)
		i++;
	if (i == nrows) {
		assert(nrows < sizeof rows / sizeof *rows);
		snprintf(rows[i].operator, sizeof rows[i].operator, "%s",
		    r->operator);
		nrows++;
	}
	rows[i].count[r->verdict]++;
	total[r->verdict]++;
	if (is_node)
		node_total[r->verdict]++;
}

static void
test_folder(const char *folder)
{
	static const char *const word[] = {"passed", "refused", "failed"};
	struct report r;
	bool is_node = strstr(folder, "/node/") != NULL;

	run_apart(&r, folder);
	count(&r, is_node);
	if (r.verdict != PASSED)
		printf("%s %s: %s\n", word[r.verdict], strrchr(folder, '/') + 1,
		    r.text);
}

static int
by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The names in a folder, sorted; *n of them. */
static char **
names_in(const char *folder, size_t *n)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	char **name = NULL;

	*n = 0;
	while (d && (e = readdir(d))) {
		if (e->d_name[0] == '.')
			continue;
		if (*n % 256 == 0)
			name = realloc(name, (*n + 256) * sizeof *name);
		if (!name || !(name[(*n)++] = strdup(e->d_name)))
			exit(2);
	}
	if (d)
		closedir(d);
	if (*n)
		qsort(name, *n, sizeof *name, by_name);
	return name;
}

/* Every test at most two folders below. */
static void
test_all(const char *folder, const char *part, int depth)
{
	char path[4096];
	size_t n;
	char **name = names_in(folder, &n);

	for (size_t i = 0; i < n; i++) {
		snprintf(
		    path, sizeof path, "%s/%s/model.onnx", folder, name[i]);
		if (access(path, R_OK) == 0) {
			*strrchr(path, '/') = '\0';
			if (!part || strstr(name[i], part))
				test_folder(path);
		} else if (depth < 2) {
			snprintf(path, sizeof path, "%s/%s", folder, name[i]);
			test_all(path, part, depth + 1);
		}
		free(name[i]);
	}
	free(name);
}

static int
row_order(const void *a, const void *b)
{
	return strcmp(((const struct row *)a)->operator,((const struct row *)b)
	                                                    ->
	                                                    operator);
}

int
main(int argc, char **argv)
{
	if (argc < 2) {
		fprintf(stderr, "usage: onnx CORPUS [NAME-PART]\n");
		return 2;
	}
	test_all(argv[1], argc > 2 ? argv[2] : NULL, 0);
	qsort(rows, nrows, sizeof *rows, row_order);
	printf(
	    "%-28s %7s %7s %7s\n", "operator", "passed", "refused", "failed");
	for (uint32_t i = 0; i < nrows; i++)
		printf("%-28s %7u %7u %7u\n", rows[i].operator,
		    rows[i].count[PASSED], rows[i].count[REFUSED],
		    rows[i].count[FAILED]);
	for (size_t i = 0; i < sizeof looser / sizeof *looser; i++)
		printf("looser for %s (atol %g): %s\n", looser[i].operator,
		    looser[i].tolerance.absolute, looser[i].why);
	printf("node tests: %u passed, %u refused, %u failed\n",
	    node_total[PASSED], node_total[REFUSED], node_total[FAILED]);
	printf("%u refused\n", total[REFUSED]);
	printf("%u passed, %u failed\n", total[PASSED], total[FAILED]);
	return total[FAILED] == 0 && total[PASSED] > 0 ? 0 : 1;
}
