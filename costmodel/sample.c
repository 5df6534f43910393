#include "costmodel/sample.h"

#include <assert.h>
#include <stdlib.h>

#include "costmodel/caches.h"
#include "costmodel/machine.h"
#include "costmodel/watch.h"
#include "ir/base/clock.h"
#include "ir/base/order.h"

/* TUNING: undisturbed shots of one block; more buys nothing, because blocks
 * differ by more than shots do. Neighbours are busy for seconds: behind a block that was
 * disturbed all along no more are tried until one is not. */
#define SHOTS 5
#define SHOTS_TRIED 12
/* TUNING: a block ends after this long when it has three shots, one of pairs when it has
 * four: what takes milliseconds, or as long to prepare for, differs little from run to run,
 * but by one to three per cent from one setup to the next, which is another block. */
#define BLOCK_NS UINT64_C(4000000)
#define BLOCK_PAIRS_NS UINT64_C(16000000)
#define SHOTS_LEAST 3
#define PAIRS_LEAST 4
/* TUNING: runs from here on are timed once a block. */
#define SLOW_NS UINT64_C(100000000)
/* TUNING: the first run makes what is made once; what takes longer than this has none of
 * its times from how warm it is. */
#define WARM_NS UINT64_C(1000000)
/* TUNING: a probe: so many undisturbed runs, or this long, and then so many
 * shots; one run and one shot of what takes half as long, two runs of what takes
 * long, one of what is so for certain. */
#define PROBE_RUNS 3
#define PROBE_SHOTS 2
#define PROBE_NS UINT64_C(2000000)
#define PROBE_LONG_NS UINT64_C(20000000)
#define PROBE_SLOW_NS UINT64_C(50000000)
/* TUNING: what a packed copy of weights takes of their bytes at most; Winograd's
 * of 3x3 weights, in 8x8 tiles. */
#define PACKED 8
/* TUNING: pairs of one block. */
#define PAIRS 7
#define PAIRS_TRIED 14

static uint64_t
shoot(const struct shot *s)
{
	uint64_t start = clock_ns();

	s->run(s->context);
	return clock_ns() - start;
}

/* Its first runs have made what it keeps. */
static void
settle_own(const struct shot *s)
{
	if (s->own)
		own_pages_end(s->own);
}

/* Does a run take so long that few are enough? *first: what it took. */
static bool
is_slow(const struct shot *s, uint64_t *first)
{
	*first = shoot(s);
	return *first > SLOW_NS && (!s->translates || shoot(s) > SLOW_NS);
}

/* Run once as in a plan. true: undisturbed. Of a long run the state of memory
 * and clock before it says little. */
static bool
fire(const struct shot *s, struct sweep *w, bool is_long, uint64_t *took)
{
	bool slow_clock = core_is_slow();
	bool slow_memory = caches_set(s, w);
	long before = machine_preemptions();
	const uint64_t ask = clock_cpu_ns(), cpu = clock_cpu_ns();
	uint64_t used;

	*took = shoot(s);
	used = clock_cpu_ns() - cpu;
	w->shot_cpu_ns = used > cpu - ask ? used - (cpu - ask) : 0;
	*took += caches_missed_ns(s);
	return machine_preemptions() == before
	    && (is_long || !(slow_clock || slow_memory));
}

/* (B1) What is kept was undisturbed; without any, disturbed shots count. (B2) The
 * median is not below the least. */
static void
settle(struct block *b, uint64_t *good, uint64_t *any, uint32_t nany)
{
	uint64_t *use = b->kept ? good : any;
	uint32_t n = b->kept ? b->kept : nany;

	assert(n > 0 && n <= SHOTS_MAX);
	assert(b->kept + b->dropped == nany); /* (B1) */
	qsort(use, n, sizeof *use, by_u64);
	b->min_ns = use[0];
	b->median_ns = n % 2 ? use[n / 2] : (use[n / 2 - 1] + use[n / 2]) / 2;
	assert(b->min_ns <= b->median_ns && b->median_ns <= use[n - 1]);
}

static uint32_t
shots_tried(const struct block *b, const struct sweep *w)
{
	return w->disturbed && b->kept == 0 ? SHOTS : SHOTS_TRIED;
}

struct block
sample_block(const struct shot *s, struct sweep *w)
{
	uint64_t good[SHOTS], any[SHOTS_TRIED], start;
	uint64_t first;
	struct block b = {.slow = is_slow(s, &first)};
	uint32_t tried = 0, want = b.slow ? 1 : SHOTS;

	if (!b.slow && (first < WARM_NS || s->translates))
		shoot(s);
	settle_own(s);
	caches_begin(w);
	start = clock_ns();
	while (b.kept < want && tried < shots_tried(&b, w)) {
		uint64_t took;
		bool good_one = fire(s, w, b.slow, &took);

		any[tried++] = took;
		b.cpu_ns += w->shot_cpu_ns;
		if (good_one)
			good[b.kept++] = took;
		else
			b.dropped++;
		if (clock_ns() - start > BLOCK_NS && b.kept >= SHOTS_LEAST)
			break;
		if (b.slow && tried == 2)
			break;
	}
	b.cpu_ns /= tried;
	w->disturbed = b.kept == 0;
	settle(&b, good, any, tried);
	return b;
}

struct block
sample_pair(const struct shot *x, const struct shot *y, struct sweep *w)
{
	uint64_t good[PAIRS], any[PAIRS_TRIED], start;
	uint64_t warm;
	struct block b = {.slow = is_slow(x, &warm)};
	uint32_t tried = 0, want = b.slow ? 3 : PAIRS;

	shoot(y);
	settle_own(x);
	settle_own(y);
	caches_begin(w);
	start = clock_ns();
	while (b.kept < want && tried < PAIRS_TRIED) {
		uint64_t a, c;
		bool turn = tried % 2, first, second;

		first = fire(turn ? y : x, w, b.slow, turn ? &c : &a);
		second = fire(turn ? x : y, w, b.slow, turn ? &a : &c);
		any[tried] = a ? c * 1000000u / a : 1000000u;
		if (first && second)
			good[b.kept++] = any[tried];
		else
			b.dropped++;
		tried++;
		if (clock_ns() - start > BLOCK_PAIRS_NS && tried >= PAIRS_LEAST)
			break;
	}
	settle(&b, good, any, tried);
	b.slow = false;
	return b;
}

/* What a run may take longer than one that finds everything in the caches: all
 * it reads and writes comes from memory, as fast as the sweep did. */
static uint64_t
allowance(const struct shot *s, struct sweep *w)
{
	double bytes = (double)s->weights * PACKED;

	for (uint32_t i = 0; i < s->nfresh; i++)
		bytes += (double)s->fresh[i].bytes;
	for (uint32_t i = 0; i < s->nstale; i++)
		bytes += (double)s->stale[i].bytes;
	return (uint64_t)(bytes * caches_byte_ns(w));
}

/* Least of a few runs back to back. The first one may load and translate code,
 * so it counts only where that is little, or the second takes long, too. */
static struct block
run_warm(const struct shot *s, uint64_t first)
{
	const uint64_t start = clock_ns();
	struct block b = {.min_ns = UINT64_MAX,
	    .slow =
	        first > PROBE_SLOW_NS && first < UINT64_MAX && !s->translates};

	b.kept = b.slow;
	for (uint32_t i = 0; i < 2 * PROBE_RUNS && !b.slow; i++) {
		long before = machine_preemptions();
		uint64_t took = shoot(s);

		b.slow = took > PROBE_LONG_NS;
		b.kept += b.slow || machine_preemptions() == before;
		b.min_ns = took < b.min_ns ? took : b.min_ns;
		if (b.kept >= PROBE_RUNS
		    || (b.kept && clock_ns() - start > PROBE_NS))
			break;
	}
	if (b.slow && first < b.min_ns)
		b.min_ns = first;
	return b;
}

/* Of what takes long for once a shot says whether that was so. */
static struct block
first_run(const struct shot *s)
{
	const uint64_t took = shoot(s);

	if (took < WARM_NS || took > PROBE_LONG_NS || s->translates)
		return run_warm(s, took);
	return (struct block){.kept = 1, .min_ns = took};
}

/* The lesser of shots; *disturbed: of none was the machine as it should be. */
static uint64_t
few_shots(const struct shot *s, struct sweep *w, uint32_t n, bool *disturbed)
{
	uint64_t least = UINT64_MAX, took;

	*disturbed = true;
	for (uint32_t i = 0; i < n; i++) {
		*disturbed &= !fire(s, w, false, &took);
		least = took < least ? took : least;
	}
	return least;
}

/* A first run that took twice as long as a shot loaded or translated code. */
static void
probe_shots(struct block *b, const struct shot *s, struct sweep *w)
{
	const bool is_long = b->min_ns > WARM_NS;
	bool disturbed;
	uint64_t least = few_shots(s, w, is_long ? 1 : PROBE_SHOTS, &disturbed);

	if (is_long && (disturbed || least < b->min_ns / 2)) {
		const uint64_t again = few_shots(s, w, 1, &disturbed);

		*b = run_warm(s, UINT64_MAX);
		least = again < least ? again : least;
	}
	b->min_ns += allowance(s, w);
	b->min_ns = least < b->min_ns ? least : b->min_ns;
}

struct block
sample_probe(const struct shot *s, struct sweep *w)
{
	struct block b = first_run(s);

	settle_own(s);
	caches_begin(w);
	if (!b.slow)
		probe_shots(&b, s, w);
	b.median_ns = b.min_ns;
	return b;
}
