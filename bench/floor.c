/* How few prices any sound lazy pricing can do with. For problems whose costs
 * are all prices (marq search --eager-pricing --dump-problem=FILE) and bounds
 * that are a share of them: prices asked for one at a time, always the costliest
 * of the cheapest cover that has none, until it has all. Arguments: files. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "search/problem_index.h"
#include "search/problem_json.h"
#include "search/solve.h"

static const uint32_t share[] = {100, 98, 95, 90, 80, 60};
#define NSHARES (sizeof share / sizeof *share)

/* A problem under way: classes whose price was asked for. */
struct state {
	struct problem p;
	cost_ns *truth; /* [ncandidates] */
	bool *asked; /* [by class] */
	uint32_t nkinds; /* the largest class, and one */
	uint32_t nclasses, nasked;
};

static void
set_costs(struct state *s, uint32_t percent, struct arena *a)
{
	for (uint32_t c = 0; c < s->p.ncandidates; c++) {
		cost_ns truth = s->truth[c];

		s->p.candidate[c].cost =
		    truth == COST_NEVER || s->asked[s->p.candidate[c].class]
		    ? truth
		    : truth * percent / 100;
	}
	problem_reindex(&s->p, a);
}

/* The costliest of the cover that was not asked for; UINT32_MAX: none. */
static uint32_t
next(const struct state *s, const struct cover *cover)
{
	uint32_t best = UINT32_MAX;

	for (uint32_t i = 0; i < cover->nsteps; i++) {
		uint32_t c = cover->step[i].candidate;

		if (!s->asked[s->p.candidate[c].class]
		    && (best == UINT32_MAX || s->truth[c] > s->truth[best]))
			best = c;
	}
	return best;
}

static bool
ask_all(struct state *s, uint32_t percent, struct arena *a, struct err *err)
{
	const struct search_options o = {0};
	struct search_result r;
	uint32_t c;

	do {
		struct arena_mark mark = arena_mark(a);

		set_costs(s, percent, a);
		if (!search_exact(&r, &s->p, &o, a, err))
			return false;
		c = r.found ? next(s, &r.cover) : UINT32_MAX;
		if (c != UINT32_MAX) {
			s->asked[s->p.candidate[c].class] = true;
			s->nasked++;
		}
		arena_back(a, mark);
	} while (c != UINT32_MAX);
	return true;
}

static void
count_classes(struct state *s, struct arena *a)
{
	bool *seen;

	for (uint32_t c = 0; c < s->p.ncandidates; c++)
		if (s->p.candidate[c].class >= s->nkinds)
			s->nkinds = s->p.candidate[c].class + 1;
	seen = arena_new(a, bool, s->nkinds);
	s->asked = arena_new(a, bool, s->nkinds);
	for (uint32_t c = 0; c < s->p.ncandidates; c++) {
		s->nclasses += !seen[s->p.candidate[c].class];
		seen[s->p.candidate[c].class] = true;
	}
}

/* Prints a row. */
static bool
run(const char *path, struct arena *a, struct err *err)
{
	struct state s = {.nasked = 0};

	if (!problem_read(&s.p, path, a, err))
		return false;
	s.truth = arena_new(a, cost_ns, s.p.ncandidates);
	for (uint32_t c = 0; c < s.p.ncandidates; c++)
		s.truth[c] = s.p.candidate[c].cost;
	count_classes(&s, a);
	printf("| %s | %" PRIu32 " |", path, s.nclasses);
	for (size_t i = 0; i < NSHARES; i++) {
		memset(s.asked, 0, s.nkinds * sizeof *s.asked);
		s.nasked = 0;
		if (!ask_all(&s, share[i], a, err))
			return false;
		printf(" %" PRIu32 " (%.1f %%) |", s.nasked,
		    100.0 * s.nasked / s.nclasses);
	}
	putchar('\n');
	return true;
}

int
main(int argc, char **argv)
{
	struct err err = {.kind = ERR_NONE};
	struct arena a;

	printf("| problem | distinct |");
	for (size_t i = 0; i < NSHARES; i++)
		printf(" %" PRIu32 " %% |", share[i]);
	printf("\n|---|---|---|---|---|---|---|---|\n");
	for (int i = 1; i < argc; i++) {
		arena_init(&a);
		if (!run(argv[i], &a, &err)) {
			fprintf(stderr, "%s: %s\n", argv[i], err.text);
			return 1;
		}
		arena_release(&a);
	}
	return 0;
}
