#include "costmodel/caches.h"

#include <assert.h>

#include "costmodel/icache_flush.h"
#include "costmodel/own_pages.h"
#include "costmodel/shot.h"
#include "ir/base/clock.h"
#include "targets/team.h"
#include "targets/threads.h"

/* TUNING: what a run streams besides its weights (packed copies are larger,
 * scratch, neighbours on the shared cache). Sweeping the weights alone predicts
 * small models 4 to 16 % too low, 96 MiB up to 13 % too high. */
#define SWEEP_BESIDE ((size_t)16 << 20)
#define SWEEP_MAX ((size_t)96 << 20)
/* TUNING: transformed weights are 1.8 to 7 times as many, and where one layer's are
 * kept so its neighbours' are: eight Winograd layers of 256 channels took 2.4 times
 * what they were priced at beside the plain weights alone. */
#define TRANSFORMED 4
#define SWEEP_LONG ((size_t)192 << 20)
/* TUNING: twice an inner cache: what was touched before is then further out. */
#define SWEEP_INNER ((size_t)2 << 20)
/* TUNING: what a plan has written and read of that size since the results' place was last
 * used, and keeps beside: operands of 8 to 13 MB that were just written are read
 * 1.5 to 2.3 times as long in a plan as where nothing else was. */
#define SWEEP_TIMES 2
/* TUNING: what has larger operands finds in the outer cache what a whole run leaves there: that
 * keeps what is used again soon. 4.8 MB that were just written are read in 97 us where nothing
 * but as much was streamed before, in 209 in MobileNetV2's plan. */
#define OPERANDS_LARGE ((size_t)4 << 20)
#define SWEEP_RUN ((size_t)32 << 20)
/* TUNING: twice the largest second cache of today: what was in it is further out. */
#define SWEEP_NEAR ((size_t)4 << 20)

/* TUNING: models read their weights and what they stream besides at 10 GB/s at most. */
#define PACE 8 /* bytes a ns and thread */
/* TUNING: neighbours on the shared cache take what is not read for long: of 24 MiB 0.1 to 0.4 came from memory in
 * rounds of 3 ms, 0.7 in such of 8, 0.8 of 16, 0.9 of 40. */
#define LONG_NS 3.2e7

static size_t
swept_bytes(size_t weights, size_t most)
{
	return weights > most - SWEEP_BESIDE ? most : weights + SWEEP_BESIDE;
}

/* How long a run takes, as far as caches are concerned. */
static double
round_ns(double run_ns, size_t streamed)
{
	const double least = (double)streamed / PACE / target_threads();

	if (run_ns < least)
		return least;
	return run_ns < LONG_NS ? run_ns : LONG_NS;
}

/* Few models have transformed weights, and memory that is new takes time. */
static void
need_words(struct sweep *w, size_t n)
{
	if (n <= w->nwords)
		return;
	if (w->words)
		arena_drop(w->arena, w->words, w->nwords * 8);
	w->words = arena_alloc(w->arena, n * 8);
	w->nwords = n;
	for (size_t i = 0; i < n; i += 512)
		w->words[i] = i; /* a page of its own, not the zero page */
}

struct sweep
sweep_new(size_t weights, double run_ns, struct arena *a)
{
	const size_t bytes = swept_bytes(weights, SWEEP_MAX);
	const size_t more = weights > SWEEP_LONG / TRANSFORMED
	    ? SWEEP_LONG
	    : swept_bytes(TRANSFORMED * weights, SWEEP_LONG);
	struct sweep w = {.plain.nwords = bytes / 8,
	    .transformed.nwords = more / 8,
	    .arena = a,
	    .run_ns = round_ns(run_ns, bytes),
	    .flush = line_flusher_new()};

	assert(bytes >= SWEEP_NEAR && bytes <= more && more <= SWEEP_LONG);
	need_words(&w, w.plain.nwords);
	return w;
}

/* Read one word of each line; the sum keeps the compiler from skipping it. */
static uint64_t
stream(const void *at, size_t bytes)
{
	const volatile uint64_t *word = at;
	uint64_t sum = 0;

	for (size_t i = 0; i < bytes / 8; i += 8)
		sum += word[i];
	return sum;
}

/* A thread's part of it. */
static struct rewritten
part_of(const struct rewritten *r, uint32_t i, uint32_t threads)
{
	const size_t from = r->bytes / threads * i / 8 * 8;
	const size_t end =
	    i + 1 < threads ? r->bytes / threads * (i + 1) / 8 * 8 : r->bytes;

	return (struct rewritten){(char *)r->at + from, end - from};
}

/* Each line is written, with what it holds. */
static void
write_over(const struct rewritten *r)
{
	volatile uint64_t *word = r->at;

	for (size_t i = 0; i < r->bytes / 8; i += 8)
		word[i] = word[i];
}

static uint64_t
stream_ns(const void *at, size_t bytes)
{
	const uint64_t start = clock_ns();

	stream(at, bytes);
	return clock_ns() - start;
}

/* ---- what is left of the weights ---- */

#define PIECE ((size_t)256 << 10)
/* Caches learn what to keep: the first rounds find hardly anything there. */
#define ROUNDS_LEAST 12
#define ROUNDS_MOST 32
#define ROUNDS_SAME 4 /* so many after the best one: it does not get better */
#define EXTREME ((size_t)4 << 20)
#define EXTREMES 5

/* Least time to read a stretch from memory, and from the outer cache where it was
 * read more than once. */
static void
extremes(const struct sweep *w, double *memory, double *cache)
{
	const uint64_t *at = w->words, *other = at + EXTREME / 8;
	uint64_t far = UINT64_MAX, near = UINT64_MAX, took;

	for (uint32_t i = 0; i < EXTREMES; i++) {
		stream(at, EXTREME);
		stream(at, EXTREME);
		stream(other, SWEEP_NEAR);
		took = stream_ns(at, EXTREME);
		near = took < near ? took : near;
		line_flush(&w->flush, at, EXTREME);
		line_flush_wait(&w->flush);
		stream(other, SWEEP_NEAR);
		took = stream_ns(at, EXTREME);
		far = took < far ? took : far;
	}
	*memory = (double)far / (double)EXTREME;
	*cache = (double)near / (double)EXTREME;
}

/* TUNING: less is not slept: going to sleep and waking takes some 10 us. */
#define SLEEP_LEAST UINT64_C(100000)

/* Whoever is ahead by enough sleeps: others may have the processor. */
static void
wait_until(uint64_t due)
{
	const uint64_t now = clock_ns();

	if (due > now + SLEEP_LEAST)
		nanosleep(
		    &(struct timespec){.tv_nsec = (long)(due - now)}, NULL);
}

/* Read all once, piece by piece, as slowly as a model does that computes in between;
 * what reading a byte took. A piece that took longer than from memory was disturbed. */
static double
go_round(const struct sweep *w, size_t bytes, double piece_ns, double memory)
{
	const double most = memory * (double)PIECE;
	const size_t pieces = bytes / PIECE;
	const uint64_t begin = clock_ns();
	double sum = 0;

	for (size_t i = 0; i < pieces; i++) {
		const double took =
		    (double)stream_ns(w->words + i * (PIECE / 8), PIECE);

		sum += took < most ? took : most;
		wait_until(begin + (uint64_t)((double)(i + 1) * piece_ns));
	}
	return sum / (double)(pieces * PIECE);
}

/* What reading a byte takes when all has been read many times. */
static double
settled_ns(const struct sweep *w, size_t bytes, double memory)
{
	const size_t pieces = bytes / PIECE;
	const double piece_ns = w->run_ns / (double)pieces;
	double least = memory;
	uint32_t best = 0;

	for (uint32_t i = 0; i < ROUNDS_MOST; i++) {
		const double took = go_round(w, bytes, piece_ns, memory);

		if (i >= ROUNDS_LEAST && i > best + ROUNDS_SAME)
			break;
		if (took < least) {
			least = took;
			best = i;
		}
	}
	return least;
}

/* Caches keep what was read twice in short time, so a sweep before each of some runs
 * does not drive out what a model, which reads it once a run, does not find
 * there: eleven layers of 9 MiB later nothing of the first is left in a cache
 * of 480, and after sweeping over 96 MiB nearly all. So it is tried out. */
static void
look(struct sweep *w, struct lasting *l)
{
	double memory, cache;

	if (l->byte_ns > 0)
		return;
	need_words(w, l->nwords);
	extremes(w, &memory, &cache);
	l->byte_ns = settled_ns(w, l->nwords * 8, memory);
	l->flushed =
	    memory > cache ? (l->byte_ns - cache) / (memory - cache) : 1;
	l->flushed = l->flushed < 0 ? 0 : l->flushed > 1 ? 1 : l->flushed;
}

double
caches_byte_ns(struct sweep *w)
{
	if (w->flush.how == LINE_FLUSH_NONE)
		return (double)w->best_ns / (double)w->plain.nwords / 8;
	look(w, &w->plain);
	return w->plain.byte_ns;
}

/* ---- before a shot ---- */

struct settling {
	const struct shot *shot;
	const struct sweep *sweep;
	uint32_t n;
	uint64_t took;
};

static void
push_out(void *of, uint32_t i)
{
	struct settling *t = of;
	const uint64_t took = stream_ns(t->sweep->words, SWEEP_NEAR);

	if (i == 0)
		t->took = took;
}

/* What other layers had of the outer cache, those of that size or all. */
static size_t
others_bytes(const struct settling *t)
{
	const size_t all = t->sweep->plain.nwords * 8;
	const size_t most = (all < SWEEP_RUN ? all : SWEEP_RUN) - SWEEP_INNER;
	size_t bytes = 0;

	for (uint32_t k = 0; k < t->shot->nfresh; k++)
		bytes += t->shot->fresh[k].bytes;
	for (uint32_t k = 0; k < t->shot->nstale; k++)
		bytes += t->shot->stale[k].bytes;
	return bytes > OPERANDS_LARGE || bytes > most / SWEEP_TIMES
	    ? most
	    : SWEEP_TIMES * bytes;
}

/* One thread's inner caches: emptied, and what it has just made of the operands in them, which
 * is another's part: kernels divide their work differently, so what one thread makes
 * another mostly reads. And what code it ran. */
static void
settle_thread(void *of, uint32_t i)
{
	const struct settling *t = of;
	const struct rewritten others =
	    part_of(&(struct rewritten){t->sweep->words
	                    + SWEEP_INNER / sizeof *t->sweep->words,
	                others_bytes(t)},
	        i, t->n);
	volatile uint64_t sum;

	stream(others.at, others.bytes);
	stream(t->sweep->words, SWEEP_INNER);
	for (uint32_t k = 0; k < t->shot->nfresh; k++) {
		const struct rewritten part =
		    part_of(&t->shot->fresh[k], (i + 1) % t->n, t->n);

		write_over(&part);
	}
	sum = icache_flush(i);
	(void)sum;
}

/* TUNING: caches lose lines here and there; four in a row are as good in the tries made,
 * and take a quarter of the bookkeeping. */
#define LINES 4

static void
flush_part(const struct sweep *w, const struct touched *piece, double part)
{
	const size_t step = LINES * w->flush.line;
	const char *at = piece->at;
	double due = 0;

	if (part >= 1) {
		line_flush(&w->flush, at, piece->bytes);
		return;
	}
	for (size_t i = 0; i < piece->bytes; i += step) {
		due += part;
		if (due < 1)
			continue;
		due -= 1;
		line_flush(&w->flush, at + i,
		    piece->bytes - i < step ? piece->bytes - i : step);
	}
}

/* What the kernel keeps comes from where a model finds it. */
static uint64_t
flush_own(const struct shot *s, struct sweep *w, struct settling *t)
{
	struct lasting *l = s->transforms ? &w->transformed : &w->plain;

	look(w, l);
	for (uint32_t i = 0; i < s->own->n; i++)
		if (own_pages_mapped(&s->own->piece[i]))
			flush_part(w, &s->own->piece[i], l->flushed);
	line_flush_wait(&w->flush);
	team_each(t->n, push_out, t);
	return t->took;
}

static uint64_t
sweep_all(const struct shot *s, struct sweep *w)
{
	if (s->transforms) {
		need_words(w, w->transformed.nwords);
		stream(w->words + w->plain.nwords,
		    (w->transformed.nwords - w->plain.nwords) * 8);
	}
	return stream_ns(w->words, w->plain.nwords * 8);
}

void
caches_begin(struct sweep *w)
{
	w->best_near_ns = 0;
}

bool
caches_set(const struct shot *s, struct sweep *w)
{
	const bool flushes =
	    w->flush.how != LINE_FLUSH_NONE && s->own && s->own->found;
	struct settling t = {s, w, s->team ? s->team : 1, 0};
	uint64_t *best = flushes ? &w->best_near_ns : &w->best_ns;
	const uint64_t took = flushes ? flush_own(s, w, &t) : sweep_all(s, w);

	if (*best == 0 || took < *best)
		*best = took;
	for (uint32_t i = 0; i < s->nstale; i++)
		write_over(&s->stale[i]);
	team_each(t.n, settle_thread, &t);
	/* SOURCE: measuring.md 3.4: below 70 % of the best bandwidth. */
	return took * 7 > *best * 10;
}

/* ---- behind a shot ---- */

/* TUNING: what reading less takes is not worth mentioning, and noise. */
#define AWAY_LEAST ((size_t)16 << 10)

static void
read_results(void *of, uint32_t i)
{
	const struct settling *t = of;

	for (uint32_t k = 0; k < t->shot->nstale; k++) {
		const struct rewritten part =
		    part_of(&t->shot->stale[k], i, t->n);

		stream(part.at, part.bytes);
	}
}

static uint64_t
read_results_ns(struct settling *t)
{
	const uint64_t start = clock_ns();

	team_each(t->n, read_results, t);
	return clock_ns() - start;
}

/* What threads of a library's own hold is read by some of them again. */
uint64_t
caches_missed_ns(const struct shot *s)
{
	struct settling t = {s, NULL, s->team ? s->team : 1, 0};
	size_t bytes = 0;
	uint64_t first, again;

	for (uint32_t i = 0; i < s->nstale; i++)
		bytes += s->stale[i].bytes;
	if (bytes < AWAY_LEAST || s->in_place
	    || (s->team == 0 && target_threads() > 1))
		return 0;
	first = read_results_ns(&t);
	again = read_results_ns(&t);
	return first > again ? first - again : 0;
}
