/* Problem files on their way in and out: what is written is read back, a port that
 * nothing feeds is refused wherever it stands, costs from 0 to 2^62 are exact,
 * the search agrees with brute force on what was read, and the constraints named
 * for a problem without a cover are an irreducible infeasible subset.
 * Argument: number of cases (default 4000). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/json.h"
#include "search/infeasible.h"
#include "search/problem_index.h"
#include "search/problem_json.h"
#include "tests/support/problems.h"

static const struct problem_mix everything = {5, 8, 3, 3, .launches = true,
    .limits = true, .marks = true, .taps = true, .resources = true,
    .parts = true, .local = true};

static uint32_t refused, infeasible, explained, dropped;

static char *
to_text(const struct problem *p, size_t *n)
{
	char *text = NULL;
	FILE *f = open_memstream(&text, n);
	struct json j;

	json_init(&j, f, 1);
	problem_write(p, &j);
	fclose(f);
	return text;
}

static bool
parse(struct problem *out, const struct problem *p, struct arena *a,
    struct err *err)
{
	size_t n;
	char *text = to_text(p, &n);
	bool ok = problem_parse(out, text, n, "p", a, err);

	free(text);
	return ok;
}

/* ---- what is valid, but rare ---- */

static cost_ns
rare_cost(struct rng *r)
{
	switch (rng_below(r, 6)) {
	case 0:
		return 0;
	case 1:
		return (UINT64_C(1) << 53) + rng_below(r, 3);
	case 2:
		return (UINT64_C(1) << 60) - rng_below(r, 3);
	default:
		return rng_below(r, 4);
	}
}

/* Every third problem has odd costs, some a target that cannot launch, more bans
 * and tighter capacities than random problems have. */
static void
make_rare(struct problem *p, struct rng *r, struct arena *a)
{
	static const char *const name[] = {"t0", "t1", "t2"};
	bool odd = rng_below(r, 3) == 0, tight = rng_below(r, 2) == 0;

	for (uint32_t t = 0; t < p->ntargets; t++) {
		p->target[t].name = name[t];
		if (rng_below(r, 12) == 0)
			p->target[t].launch = COST_NEVER;
		if (tight && !p->target[t].part_of && rng_below(r, 2))
			p->target[t].capacity = rng_below(r, 4);
	}
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		struct problem_candidate *x = &p->candidate[c];

		if (odd && x->cost != COST_NEVER)
			x->cost = rare_cost(r);
		if (tight && rng_below(r, 6) == 0)
			x->banned = true;
	}
	(void)a;
}

/* ---- ports that nothing feeds ---- */

static bool
phantoms_are_refused(
    const struct problem *p, uint64_t seed, struct rng *r, struct arena *a)
{
	struct problem bad = *p, back;
	struct err err = {.kind = ERR_NONE};
	uint32_t which = rng_below(r, p->ncandidates), port = 0;
	char want[64];

	bad.candidate =
	    arena_copy(a, p->candidate, p->ncandidates * sizeof *p->candidate);
	if (!problem_spoil(&bad, which, &port, r, a))
		return true;
	refused++;
	snprintf(want, sizeof want,
	    "candidate %" PRIu32 ": inputs[%" PRIu32 "]: value", which, port);
	if (!parse(&back, &bad, a, &err) && err.kind == ERR_INPUT
	    && strstr(err.text, want))
		return true;
	printf("seed %" PRIu64 ": want '%s', '%s'\n", seed, want, err.text);
	return false;
}

/* ---- why there is no cover ---- */

/* Without any constraint. */
static struct problem
relaxed(const struct problem *p, struct arena *a)
{
	struct problem out = *p;

	out.candidate =
	    arena_copy(a, p->candidate, p->ncandidates * sizeof *p->candidate);
	out.value = arena_copy(a, p->value, p->nvalues * sizeof *p->value);
	out.target = arena_copy(a, p->target, p->ntargets * sizeof *p->target);
	for (uint32_t c = 0; c < p->ncandidates; c++)
		out.candidate[c].banned = false;
	for (uint32_t v = 0; v < p->nvalues; v++)
		out.value[v].mark = false;
	for (uint32_t t = 0; t < p->ntargets; t++) {
		struct problem_target *x = &out.target[t];

		x->capacity = UINT64_MAX;
		x->max_runs = x->max_run_nodes = NO_LIMIT;
		x->fed_only = false;
		if (x->launch == COST_NEVER)
			x->launch = 0;
	}
	return out;
}

/* Put back the constraint of p that a phrase names. */
static void
restore(struct problem *out, const struct problem *p, const char *phrase)
{
	const struct problem_target *from;
	struct problem_target *to;
	uint32_t id;

	if (sscanf(phrase, "candidate %" SCNu32 " is banned", &id) == 1) {
		out->candidate[id].banned = p->candidate[id].banned;
		return;
	}
	if (sscanf(phrase, "value %" SCNu32 " has a mark", &id) == 1) {
		out->value[id].mark = p->value[id].mark;
		return;
	}
	if (sscanf(phrase, "target 't%" SCNu32, &id) != 1)
		abort();
	from = &p->target[id];
	to = &out->target[id];
	if (strstr(phrase, "capacity"))
		to->capacity = from->capacity;
	else if (strstr(phrase, "max_runs"))
		to->max_runs = from->max_runs;
	else if (strstr(phrase, "max_run_nodes"))
		to->max_run_nodes = from->max_run_nodes;
	else if (strstr(phrase, "fed_only"))
		to->fed_only = from->fed_only;
	else
		to->launch = from->launch;
}

#define PHRASES_MAX 8

/* Is there a cover with all constraints named but one (n: with all)? */
static bool
has_cover(const struct problem *p, char *const *phrase, uint32_t n,
    uint32_t without, struct arena *a)
{
	struct problem with = relaxed(p, a);
	struct search_options o = {0};
	struct err err = {.kind = ERR_NONE};
	struct search_result r;

	dropped++;
	for (uint32_t i = 0; i < n; i++)
		if (i != without)
			restore(&with, p, phrase[i]);
	return problem_index(&with, a, &err)
	    && search_exhaustive(&r, &with, &o, a, &err) && r.found;
}

/* "A and B and C", cut in place. */
static uint32_t
cut_phrases(char *text, char **phrase)
{
	uint32_t n = 0;

	for (char *next; text; text = next) {
		next = strstr(text, " and ");
		if (next) {
			*next = '\0';
			next += strlen(" and ");
		}
		if (n == PHRASES_MAX)
			abort();
		phrase[n++] = text;
	}
	return n;
}

static bool
explanation_holds(const struct problem *p, uint64_t seed, struct arena *a)
{
	static const char start[] = "no cover while ";
	struct search_options o = {0};
	char text[INFEASIBLE_TEXT], *phrase[PHRASES_MAX];
	uint32_t n;

	infeasible++;
	infeasible_explain(text, p, &o, a);
	if (strncmp(text, start, strlen(start)) != 0)
		return text[0] != '\0';
	if (strstr(text, "more constraints"))
		return true;
	explained++;
	n = cut_phrases(text + strlen(start), phrase);
	for (uint32_t i = 0; i <= n; i++)
		if (has_cover(p, phrase, n, i, a) != (i < n)) {
			printf("seed %" PRIu64 ": %s '%s'\n", seed,
			    i < n ? "no cover without" : "a cover with all of",
			    phrase[i < n ? i : 0]);
			return false;
		}
	return true;
}

/* ---- cases ---- */

static bool
same_as_brute(const struct problem *p, uint64_t seed, struct arena *a)
{
	struct search_options o = {0};
	struct search_result x, y;
	struct err err = {.kind = ERR_NONE};

	if (!search_exact(&x, p, &o, a, &err)
	    || !search_exhaustive(&y, p, &o, a, &err)) {
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return false;
	}
	if (!x.proven || x.found != y.found
	    || (x.found && x.cover.cost != y.cover.cost)) {
		printf("seed %" PRIu64 ": %d %" PRIu64 " (proven %d), brute "
		       "force %d %" PRIu64 "\n",
		    seed, x.found, x.found ? x.cover.cost : 0, x.proven,
		    y.found, y.found ? y.cover.cost : 0);
		return false;
	}
	return x.found || explanation_holds(p, seed, a);
}

static bool
holds(uint64_t seed, struct arena *a)
{
	struct rng r = rng_seeded(seed);
	struct problem *p = problem_random(&r, &everything, a), back;
	struct err err = {.kind = ERR_NONE};

	make_rare(p, &r, a);
	if (!problem_index(p, a, &err) || !parse(&back, p, a, &err)) {
		printf("seed %" PRIu64 ": %s\n", seed, err.text);
		return false;
	}
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (back.candidate[c].cost != p->candidate[c].cost)
			return false;
	return phantoms_are_refused(p, seed, &r, a)
	    && same_as_brute(&back, seed, a);
}

int
main(int argc, char **argv)
{
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 4000, bad = 0;

	for (uint64_t seed = 0; seed < n && bad < 10; seed++) {
		struct arena a;

		arena_init(&a);
		bad += !holds(seed, &a);
		arena_release(&a);
	}
	printf("%" PRIu64 " cases, %" PRIu64 " failed; %" PRIu32
	       " ports refused, %" PRIu32 " without a cover, %" PRIu32
	       " with constraints named, %" PRIu32 " of these dropped\n",
	    n, bad, refused, infeasible, explained, dropped);
	return bad > 0;
}
