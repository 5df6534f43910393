/* The exact search against an integer linear program solved by cbc: the same
 * optimum on random problems and on networks. Skipped where there is no cbc.
 * Arguments: number of random problems (default 80), first seed. Or files of
 * problems ("marq.problem/1"), which are solved without what runs cost: a table
 * of both answers, with CPU seconds. MARQ_CBC_SECONDS: for each program, of CPU
 * time (default 60).
 *
 * The program: pick candidates x (each node once), formats y that a value is
 * had in, conversions z (each format that is not made is converted into from
 * one that is had before it: levels forbid circles), runs counted by levels. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "search/problem_index.h"
#include "search/problem_json.h"
#include "search/solve.h"
#include "tests/support/nets.h"
#include "tests/support/problems.h"

/* No launches here: in the program they need an order of all candidates, which
 * makes it hopeless; brute force covers them. No taps: covers could be cyclic,
 * which the program does not forbid. */
static const struct problem_mix mix = {
    14, 30, 4, 3, .launches = false, .resources = true};

static void
write_cost(
    FILE *f, cost_ns cost, const char *name, uint32_t a, uint32_t b, uint32_t c)
{
	fprintf(f, " + %" PRIu64 " %s%" PRIu32 "_%" PRIu32 "_%" PRIu32 "\n",
	    cost, name, a, b, c);
}

static bool
converts(const struct problem *p, uint32_t v, uint32_t from, uint32_t to)
{
	return from != to
	    && conversion_cost(p, p->value[v].class, from, to) != COST_NEVER;
}

static void
write_objective(FILE *f, const struct problem *p)
{
	fprintf(f, "Minimize\n cost:\n");
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (candidate_usable(&p->candidate[c]))
			write_cost(f, p->candidate[c].cost, "x", c, 0, 0);
	for (uint32_t v = 0; v < p->nvalues; v++)
		for (uint32_t i = 0; i < p->nformats; i++)
			for (uint32_t k = 0; k < p->nformats; k++)
				if (converts(p, v, i, k))
					write_cost(f,
					    conversion_cost(
					        p, p->value[v].class, i, k),
					    "z", v, i, k);
	fprintf(f, " + 0 one\n");
}

/* Each node once; capacities. */
static void
write_cover(FILE *f, const struct problem *p)
{
	for (uint32_t n = 0; n < p->nnodes; n++) {
		fprintf(f, " n%" PRIu32 ": 0 one", n);
		for (uint32_t c = 0; c < p->ncandidates; c++)
			for (uint32_t i = 0; candidate_usable(&p->candidate[c])
			     && i < p->candidate[c].nnodes;
			     i++)
				if (p->candidate[c].node[i] == n)
					fprintf(f, "\n + x%" PRIu32 "_0_0", c);
		fprintf(f, " = 1\n");
	}
	for (uint32_t t = 0; t < p->ntargets; t++) {
		if (p->target[t].capacity == UINT64_MAX)
			continue;
		fprintf(f, " t%" PRIu32 ": 0 one", t);
		for (uint32_t c = 0; c < p->ncandidates; c++)
			if (p->candidate[c].target == t
			    && candidate_usable(&p->candidate[c]))
				fprintf(f, "\n + %" PRIu64 " x%" PRIu32 "_0_0",
				    p->candidate[c].resource, c);
		fprintf(f, " <= %" PRIu64 "\n", p->target[t].capacity);
	}
}

static bool
has_port(const struct problem_port *port, uint32_t n, uint32_t v, uint32_t f)
{
	for (uint32_t i = 0; i < n; i++)
		if (port[i].value == v && port[i].format == f)
			return true;
	return false;
}

/* A value is had in a format when it is fed or made in it, or converted into
 * it: y <= initial + sum x + sum z, and z(i, k) <= y(i), level(k) > level(i). */
static void
write_format(FILE *f, const struct problem *p, uint32_t v, uint32_t k)
{
	fprintf(f, " y%" PRIu32 "_%" PRIu32 "_0", v, k);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (candidate_usable(&p->candidate[c])
		    && has_port(
		        p->candidate[c].output, p->candidate[c].noutputs, v, k))
			fprintf(f, "\n - x%" PRIu32 "_0_0", c);
	for (uint32_t i = 0; i < p->nformats; i++)
		if (converts(p, v, i, k))
			fprintf(f, "\n - z%" PRIu32 "_%" PRIu32 "_%" PRIu32, v,
			    i, k);
	fprintf(f, " <= %u\n", p->value[v].initial >> k & 1);
	for (uint32_t i = 0; i < p->nformats; i++) {
		if (!converts(p, v, i, k))
			continue;
		fprintf(f,
		    " z%" PRIu32 "_%" PRIu32 "_%" PRIu32 " - y%" PRIu32
		    "_%" PRIu32 "_0 <= 0\n",
		    v, i, k, v, i);
		fprintf(f,
		    " l%" PRIu32 "_%" PRIu32 " - l%" PRIu32 "_%" PRIu32
		    " + %u z%" PRIu32 "_%" PRIu32 "_%" PRIu32 " <= %u\n",
		    v, i, v, k, p->nformats + 1, v, i, k, p->nformats);
	}
	if (p->value[v].required >> k & 1)
		fprintf(f, " y%" PRIu32 "_%" PRIu32 "_0 = 1\n", v, k);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (candidate_usable(&p->candidate[c])
		    && has_port(
		        p->candidate[c].input, p->candidate[c].ninputs, v, k))
			fprintf(f,
			    " x%" PRIu32 "_0_0 - y%" PRIu32 "_%" PRIu32
			    "_0 <= 0\n",
			    c, v, k);
}

static void
write_program(FILE *f, const struct problem *p)
{
	write_objective(f, p);
	fprintf(f, "Subject To\n");
	write_cover(f, p);
	for (uint32_t v = 0; v < p->nvalues; v++)
		for (uint32_t k = 0; k < p->nformats; k++)
			write_format(f, p, v, k);
	fprintf(f, "Bounds\n one = 1\n");
	for (uint32_t v = 0; v < p->nvalues; v++)
		for (uint32_t k = 0; k < p->nformats; k++)
			fprintf(f, " 0 <= l%" PRIu32 "_%" PRIu32 " <= %u\n", v,
			    k, p->nformats);
	fprintf(f, "Binaries\n");
	for (uint32_t c = 0; c < p->ncandidates; c++)
		fprintf(f, " x%" PRIu32 "_0_0\n", c);
	for (uint32_t v = 0; v < p->nvalues; v++)
		for (uint32_t k = 0; k < p->nformats; k++) {
			fprintf(f, " y%" PRIu32 "_%" PRIu32 "_0\n", v, k);
			for (uint32_t i = 0; i < p->nformats; i++)
				if (converts(p, v, i, k))
					fprintf(f,
					    " z%" PRIu32 "_%" PRIu32 "_%" PRIu32
					    "\n",
					    v, i, k);
		}
	fprintf(f, "End\n");
}

static double
seconds_of_children(void)
{
	struct rusage u;

	getrusage(RUSAGE_CHILDREN, &u);
	return (double)u.ru_utime.tv_sec + 1e-6 * (double)u.ru_utime.tv_usec;
}

static double
seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int
seconds_allowed(void)
{
	const char *s = getenv("MARQ_CBC_SECONDS");

	return s ? atoi(s) : 60;
}

/* cbc's optimum; COST_NEVER: infeasible; false: it did not finish, and *cost is
 * the best it found, or COST_NEVER. */
static bool
run_cbc(const struct problem *p, const char *folder, cost_ns *cost)
{
	char lp[4096], sol[4096], command[10000], line[256] = "";
	double value = 0;
	FILE *f;

	*cost = COST_NEVER;

	snprintf(lp, sizeof lp, "%s/p.lp", folder);
	snprintf(sol, sizeof sol, "%s/p.sol", folder);
	f = fopen(lp, "w");
	if (!f)
		return false;
	write_program(f, p);
	fclose(f);
	snprintf(command, sizeof command,
	    "cbc '%s' sec %d ratio 0 allow 0.5 solve solu '%s' >/dev/null 2>&1",
	    lp, seconds_allowed(), sol);
	if (system(command) != 0)
		return false;
	f = fopen(sol, "r");
	if (!f)
		return false;
	if (!fgets(line, sizeof line, f))
		line[0] = '\0';
	fclose(f);
	if (strncmp(line, "Infeasible", 10) == 0
	    || strncmp(line, "Integer infeasible", 18) == 0)
		return true;
	if (sscanf(line, "Stopped on time - objective value %lf", &value) == 1
	    && value < 1e18)
		*cost = (cost_ns)(value + 0.5);
	if (sscanf(line, "Optimal - objective value %lf", &value) != 1)
		return false;
	*cost = (cost_ns)(value + 0.5);
	return true;
}

static bool
agree(const struct problem *p, const char *folder, const char *what,
    uint64_t seed, struct arena *a)
{
	struct search_options o = {0};
	struct search_result r;
	struct err err = {0};
	cost_ns cost;

	if (!search_exact(&r, p, &o, a, &err)) {
		printf("%s %" PRIu64 ": %s\n", what, seed, err.text);
		return false;
	}
	if (!run_cbc(p, folder, &cost)) {
		printf("%s %" PRIu64 ": cbc did not finish\n", what, seed);
		return true;
	}
	if (r.proven && cost == (r.found ? r.cover.cost : COST_NEVER))
		return true;
	printf("%s %" PRIu64 ": search %" PRIu64 " (proven %d), cbc %" PRIu64
	       "\n",
	    what, seed, r.found ? r.cover.cost : COST_NEVER, r.proven, cost);
	return false;
}

/* A network without its launches. */
static bool
net_agrees(const char *kind, uint32_t size, const char *folder)
{
	struct arena a;
	struct problem *p;
	struct err err = {0};
	bool ok;

	arena_init(&a);
	p = net_make(kind, size, &a);
	for (uint32_t t = 0; t < p->ntargets; t++)
		p->target[t].launch = 0;
	ok = problem_index(p, &a, &err) && agree(p, folder, kind, size, &a);
	arena_release(&a);
	return ok;
}

/* A row of the table. */
static bool
compare(const struct problem *p, const char *folder, const char *path,
    struct arena *a)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	double from = seconds(), took, program;
	struct search_options o = {0};
	struct search_result r;
	struct err err = {0};
	cost_ns cost;
	bool done;

	if (!search_exact(&r, p, &o, a, &err)) {
		printf("%s: %s\n", path, err.text);
		return false;
	}
	took = seconds() - from;
	from = seconds_of_children();
	done = run_cbc(p, folder, &cost);
	program = seconds_of_children() - from;
	printf("| %.*s | %" PRIu32 " | %" PRIu64 " | %" PRIu64
	       " | %s | %.3f | ",
	    (int)strcspn(name, "."), name, p->nnodes,
	    r.found ? r.cover.cost : COST_NEVER, r.lower_bound,
	    r.proven ? "yes" : "no", took);
	if (cost != COST_NEVER)
		printf("%" PRIu64 "%s", cost, done ? "" : ", not proven");
	else
		printf("%s", done ? "no cover" : "none found");
	printf(" | %.1f |\n", program);
	return !done
	    || (r.proven && cost == (r.found ? r.cover.cost : COST_NEVER));
}

/* A problem of a file without its launches and as if no format were local; what has
 * other limits on runs is not for the program. */
static bool
file_agrees(const char *path, const char *folder)
{
	struct arena a;
	struct problem p;
	struct err err = {0};
	bool ok, fits = true;

	arena_init(&a);
	ok = problem_read(&p, path, &a, &err);
	p.local = 0;
	for (uint32_t t = 0; ok && t < p.ntargets; t++) {
		p.target[t].launch = 0;
		fits = fits && p.target[t].max_runs == NO_LIMIT
		    && p.target[t].max_run_nodes == NO_LIMIT
		    && !p.target[t].fed_only;
	}
	ok = ok && problem_index(&p, &a, &err);
	if (ok && !fits)
		printf("%s: limits on runs, passed over\n", path);
	else if (ok)
		ok = compare(&p, folder, path, &a);
	else
		printf("%s\n", err.text);
	arena_release(&a);
	fflush(stdout);
	return ok;
}

static const struct {
	const char *kind;
	uint32_t size;
} nets[] = {{"resnet", 1}, {"randwire", 4}};

static uint64_t
random_disagree(uint64_t first, uint64_t n, const char *folder)
{
	uint64_t bad = 0;

	for (uint64_t seed = first; seed < first + n; seed++) {
		struct rng r = rng_seeded(seed);
		struct arena a;

		arena_init(&a);
		bad += !agree(
		    problem_random(&r, &mix, &a), folder, "seed", seed, &a);
		arena_release(&a);
	}
	return bad;
}

int
main(int argc, char **argv)
{
	bool files = argc > 1 && strstr(argv[1], ".json");
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : cases_of(80);
	uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 0, bad = 0;
	char folder[] = "/tmp/marq-ilp-XXXXXX";
	char command[64];

	if (system("command -v cbc >/dev/null 2>&1") != 0) {
		printf("skipped: no cbc\n");
		return TEST_SKIPPED;
	}
	if (!mkdtemp(folder))
		return 2;
	if (files) {
		n = (uint64_t)argc - 1;
		printf(
		    "| problem | nodes | cost | bound | proven | s | cbc | s "
		    "|\n|---|---|---|---|---|---|---|---|\n");
	}
	for (int i = 1; files && i < argc; i++)
		bad += !file_agrees(argv[i], folder);
	if (!files)
		bad += random_disagree(first, n, folder);
	for (size_t i = 0; argc <= 1 && i < sizeof nets / sizeof nets[0]; i++)
		bad += !net_agrees(nets[i].kind, nets[i].size, folder);
	snprintf(command, sizeof command, "rm -rf '%s'", folder);
	bad += system(command) != 0;
	printf("%" PRIu64 " problems, %" PRIu64 " disagree\n", n, bad);
	return bad > 0;
}
