/* What a convolution is priced at, with the caches swept and with its own lines flushed,
 * against what it takes in a chain of layers with weights of their own.
 * `bench_caches [ROUNDS] [FIRST]`, from which shape. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/common/contest.h"
#include "bench/common/scratch.h"
#include "costmodel/machine.h"
#include "costmodel/roofline.h"
#include "costmodel/sample.h"
#include "costmodel/trial.h"
#include "ir/base/clock.h"
#include "ir/base/order.h"
#include "targets/candidates.h"
#include "targets/threads.h"
#include "tests/support/make.h"

struct shape {
	int64_t channels, size, kernel;
	uint32_t layers;
};

static const struct shape shapes[] = {
    {64, 56, 3, 8},
    {128, 28, 3, 8},
    {256, 14, 3, 8},
    {512, 7, 3, 6},
    {512, 7, 3, 12},
    {256, 14, 1, 8},
    {512, 14, 1, 16},
    {1024, 7, 1, 8},
    {1024, 7, 1, 24},
};

#define NSHAPES (sizeof shapes / sizeof *shapes)
#define LAYERS_MAX 24
#define ROUNDS_MAX 25
#define WARM 12 /* rounds of the chain until caches keep what they will keep */

/* The chain, a swept block, another, a flushed one, another. */
enum { CHAIN, SWEPT, SWEPT_AGAIN, FLUSHED, FLUSHED_AGAIN, NWAYS };

struct field {
	struct maker maker;
	struct mix mix;
	struct candidates found;
	struct arena arena;
	struct sweep swept, flushed;
	uint32_t layers, rounds;
};

static void
make(struct field *f, const struct shape *s)
{
	const int64_t pad = s->kernel / 2;
	const struct attr same[] = {ATTR_OF_INTS("pads", pad, pad, pad, pad)};
	struct maker *m = &f->maker;
	const int64_t c = s->channels, k = s->kernel;
	value_id x;

	make_begin(m, &f->arena);
	x = make_input(m, DIMS(1, c, s->size, s->size));
	for (uint32_t i = 0; i < s->layers; i++) {
		value_id w = make_constant(m, DIMS(c, c, k, k), -.1f, .1f);
		value_id b = make_constant(m, DIMS(c), -1, 1);

		x = MAKE(m, RELU, MAKE_WITH(m, CONV, same, x, w, b));
	}
	make_output(m, x);
	make_end(m);
}

static void
open_field(struct field *f, const struct shape *s)
{
	static const char *const targets[] = {
	    "native", "dnnl", "xnnpack", "blas"};
	const size_t weights = (size_t)(s->layers * s->channels * s->channels
	    * s->kernel * s->kernel * 4);
	struct err err = {.kind = ERR_NONE};
	double run_ns;

	arena_init(&f->arena);
	make(f, s);
	must(mix_open(&f->mix, targets, 4, &f->arena, &err)
	        && candidates_find(
	            &f->found, f->maker.graph, &f->mix, NULL, &f->arena, &err),
	    &err);
	f->layers = s->layers;
	run_ns = roofline_expect_ns(f->maker.graph, target_threads());
	f->swept = sweep_new(weights, run_ns, &f->arena);
	f->flushed = sweep_new(weights, run_ns, &f->arena);
	f->swept.flush.how = LINE_FLUSH_NONE;
}

/* The candidate for layer i that does what c does for the first; NULL: none. */
static const struct candidate *
of_layer(const struct field *f, const struct candidate *c, uint32_t i)
{
	for (uint32_t k = 0; k < f->found.n; k++) {
		const struct candidate *d = &f->found.candidate[k];

		if (d->target == c->target && d->nnodes == 2
		    && d->implementation == c->implementation
		    && d->input[0].format == c->input[0].format
		    && d->output[0].format == c->output[0].format
		    && d->node[0] == 2 * i)
			return d;
	}
	return NULL;
}

static void
run_trial(void *context)
{
	trial_run(context);
}

static struct shot
shot_of(struct trial *t, struct own_pages *own, struct rewritten *from,
    struct rewritten *to)
{
	const union {
		const void *read;
		void *at;
	} in = {.read = t->in[0]};

	*from = (struct rewritten){in.at, t->in_bytes[0]};
	*to = (struct rewritten){t->out[0], t->out_bytes[0]};
	return (struct shot){.run = run_trial,
	    .context = t,
	    .fresh = from,
	    .nfresh = 1,
	    .stale = to,
	    .nstale = 1,
	    .own = own,
	    .transforms = t->candidate->transforms};
}

static cost_ns
run_chain(struct trial *t, uint32_t n)
{
	cost_ns start;

	for (uint32_t r = 0; r < WARM; r++)
		for (uint32_t i = 0; i < n; i++)
			trial_run(&t[i]);
	start = clock_ns();
	for (uint32_t i = 0; i < n; i++)
		trial_run(&t[i]);
	return (clock_ns() - start) / n;
}

/* One block each, in turn; what swept and flushed ones took of the processor. */
static void
race(struct field *f, struct trial *t, const struct shot *s,
    cost_ns time[NWAYS][ROUNDS_MAX], cost_ns cpu[2])
{
	cpu[0] = cpu[1] = 0;
	for (uint32_t r = 0; r < f->rounds; r++) {
		for (uint32_t k = 0; k < NWAYS; k++) {
			const uint32_t way = (k + r) % NWAYS;
			const bool flushed = way >= FLUSHED;
			const cost_ns start = clock_cpu_ns();

			if (way == CHAIN) {
				time[way][r] = run_chain(t, f->layers);
				continue;
			}
			time[way][r] =
			    sample_block(s, flushed ? &f->flushed : &f->swept)
			        .median_ns;
			cpu[flushed] += clock_cpu_ns() - start;
		}
	}
}

/* Median and quartiles of a / b, round by round. */
static void
print_ratio(const cost_ns *a, const cost_ns *b, uint32_t n)
{
	const uint32_t low = n / 4, middle = n / 2, high = n * 3 / 4;
	double ratio[ROUNDS_MAX];

	for (uint32_t i = 0; i < n; i++)
		ratio[i] = (double)a[i] / (double)b[i];
	qsort(ratio, n, sizeof *ratio, by_double);
	printf(" %.2f [%.2f %.2f] |", ratio[middle], ratio[low], ratio[high]);
}

static void
print(const struct field *f, const struct shape *s, const struct candidate *c,
    cost_ns time[NWAYS][ROUNDS_MAX], const cost_ns cpu[2])
{
	const struct lasting *l =
	    c->transforms ? &f->flushed.transformed : &f->flushed.plain;
	cost_ns chain[ROUNDS_MAX];

	memcpy(chain, time[CHAIN], sizeof chain);
	printf("| %d, %dx%d, %dx%d, %u | %s %s | %.0f |", (int)s->channels,
	    (int)s->kernel, (int)s->kernel, (int)s->size, (int)s->size,
	    (unsigned)s->layers, f->mix.target[c->target].kind->name,
	    c->implementation_name,
	    (double)cost_median(chain, f->rounds) / 1e3);
	print_ratio(time[SWEPT], time[CHAIN], f->rounds);
	print_ratio(time[FLUSHED], time[CHAIN], f->rounds);
	print_ratio(time[SWEPT_AGAIN], time[SWEPT], f->rounds);
	print_ratio(time[FLUSHED_AGAIN], time[FLUSHED], f->rounds);
	printf(" %.2f | %.2f |\n", l->flushed, (double)cpu[1] / (double)cpu[0]);
	fflush(stdout);
}

static void
measure(struct field *f, const struct shape *s, const struct candidate *c)
{
	cost_ns time[NWAYS][ROUNDS_MAX], cpu[2];
	struct trial trial[LAYERS_MAX];
	struct rewritten from, to;
	struct own_pages own;
	struct err err = {.kind = ERR_NONE};
	uint32_t n = 0;
	struct shot shot;

	own_pages_init(&own);
	own_pages_begin(&own);
	while (n < f->layers) {
		const struct candidate *d = of_layer(f, c, n);

		if (!d
		    || !trial_open(
		        &trial[n], f->maker.graph, &f->mix, d, &f->arena, &err))
			break;
		n++;
		trial_run(&trial[n - 1]);
		own_pages_end(&own); /* the first one's alone */
	}
	if (n == f->layers) {
		shot = shot_of(&trial[0], &own, &from, &to);
		machine_urgent(true);
		race(f, trial, &shot, time, cpu);
		machine_urgent(false);
		print(f, s, c, time, cpu);
	}
	while (n > 0)
		trial_close(&trial[--n]);
	own_pages_release(&own);
}

int
main(int argc, char **argv)
{
	const int rounds = argc > 1 ? atoi(argv[1]) : 9;
	uint32_t core[CORES_MAX], ncores = machine_cores(core);

	machine_clean_environment(argv, false);
	machine_own_session();
	machine_pin(&core[ncores - 1], 1);
	target_threads_set(1);
	printf("| channels, kernel, image, layers | way | chain, us a layer "
	       "| swept / chain | flushed / chain | A/A swept | A/A flushed "
	       "| part from memory | CPU, flushed / swept |\n"
	       "|---|---|---|---|---|---|---|---|---|\n");
	for (size_t i = argc > 2 ? (size_t)atoi(argv[2]) : 0; i < NSHAPES;
	     i++) {
		struct field f = {.rounds = rounds < 1 ? 1
		        : rounds > ROUNDS_MAX          ? ROUNDS_MAX
		                                       : (uint32_t)rounds};

		open_field(&f, &shapes[i]);
		for (uint32_t k = 0; k < f.found.n; k++) {
			const struct candidate *c = &f.found.candidate[k];

			if (c->nnodes == 2 && c->node[0] == 0)
				measure(&f, &shapes[i], c);
		}
		arena_release(&f.arena);
	}
	return 0;
}
