/* Random models; every candidate of every kind, in every implementation, is put
 * into a plan, which is run three times over two sets of inputs (0, 1, 0: what
 * is left of a run shows) and compared with the host; so are plans at random
 * prices. A fifth of the models goes through ONNX bytes, with open shapes, branches
 * and ONNX Runtime's operators; three in eight run as on older processors. Each
 * candidate also runs by itself beside unmapped pages. Each model has a process of its own. Usage:
 *	fuzz_candidates [-n MODELS] [-s FIRST SEED] [-e EACH] [-o FOLDER [-a]]
 *	                [-S] [-w] [-t TARGET]
 * -e takes each so many'th seed: -e 32 -s 13 models that begin with a recurrent
 * layer, -s 5 with attention.
 * -t tries this target beside the host and no other, a plug-in for example.
 * -S puts NaN and infinities among all inputs, not an eighth of them.
 * -w takes the models in which every value of values.def and every optional
 * output occurs, and fails when one occurs in none.
 * -o writes each model that fails or has a candidate that cannot be built, with
 * its inputs and what the host makes of them, as model.onnx and test_data_set_0;
 * -a: writes every model, and tries none (runtime.py compares what is there). */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "costmodel/seed.h"
#include "exec/perturbed.h"
#include "ir/halves.h"
#include "ir/onnx_write.h"
#include "targets/host/host.h"
#include "tests/fuzz/candidates/generate.h"
#include "tests/fuzz/candidates/walk.h"
#include "tests/support/check.h"
#include "tests/support/force.h"
#include "tests/support/guard.h"
#include "tests/support/leeway.h"

#define SETS 2
#define HALF_MOST 60000
#define FLOAT_MOST 1e36 /* sums beyond may overflow, in some order to NaN */
#define MIXTURES 4
#define SECONDS 60 /* of a model's on a processor; more is a hang */
#define WAITING 30 /* times as much on the clock: machines are shared */

struct options {
	uint32_t models, first, each;
	bool specials; /* NaN and infinities among the inputs of all models */
	const char *folder;
	bool walk;
	bool keep_all;
	const char *target; /* NULL: those that are built in */
};

/* What became of the models. */
struct tally {
	uint32_t models; /* of which so many were read from bytes: */
	uint32_t files, form[NFORMS];
	uint32_t candidates, refused, plans, guarded, wrong;
};

struct run {
	const struct options *options;
	uint32_t seed;
	const char *isa; /* the processor oneDNN is told of; NULL: this one */
	struct arena arena;
	struct generator g;
	struct rng r;
	struct check_set set[SETS];
	struct tally t;
};

/* ---- inputs and what they give ---- */

/* One model in eight. */
static bool
has_specials(const struct run *x)
{
	return x->options->specials || x->seed % 8 == 3;
}

static void
add_specials(float *data, size_t n, struct rng *r)
{
	static const float special[] = {NAN, INFINITY, -INFINITY, NAN, -0.f};

	for (uint32_t i = 0; i < 1 + n / 16; i++)
		data[rng_below(r, (uint32_t)n)] = special[rng_below(r, 5)];
}

static struct tensor *
random_inputs(struct run *x, uint32_t set)
{
	const struct graph *g = x->g.m.graph;
	struct tensor *in = arena_new(&x->arena, struct tensor, g->ninputs);

	for (uint32_t i = 0; i < g->ninputs; i++) {
		const struct type *t = &graph_value(g, g->input[i])->type;
		struct rng r = rng_seeded(x->seed * 31ull + set * 7ull + i + 1);
		size_t n, bytes;
		float *data;

		tensor_size(DT_FLOAT, t->dim, t->rank, &n, &bytes);
		data = seed_buffer(&x->arena, bytes);
		for (size_t k = 0; k < n; k++)
			data[k] = ((float)rng_below(&r, 1 << 20) * 0x1p-19f - 1)
			    * 1.5f;
		if (has_specials(x))
			add_specials(data, n, &r);
		if (dtype_is_half(t->dtype))
			halves_narrow(t->dtype, data, n, data);
		in[i] = tensor_view(t->dtype, t->rank, t->dim, data);
	}
	return in;
}

/* What the reference computes on the way over set k; NULL: it cannot be run. */
static const struct tensor *
values_over(struct run *x, uint32_t k)
{
	const struct graph *g = x->g.m.graph;
	const struct perturbation none = {.seed = 0};
	struct tensor *value = arena_new(&x->arena, struct tensor, g->nvalues);
	struct err err = {.kind = ERR_NONE};

	for (uint32_t i = 0; i < g->ninputs; i++)
		value[g->input[i]] = x->set[k].in[i];
	if (!reference_values(value, g, host_eval, &none, &x->arena, &err))
		return NULL;
	return value;
}

static bool
passes(double x, double most)
{
	if (isnan(most))
		return isnan(x);
	return fabs(x) > most && (isfinite(x) || most >= FLOAT_MOST);
}

/* Is some computed float larger than `most` over set k? Infinities are only where
 * `most` is large. NaN: is some NaN? */
static bool
overflows(struct run *x, uint32_t k, double most)
{
	const struct graph *g = x->g.m.graph;
	const struct tensor *value = values_over(x, k);

	for (value_id v = 0; value && v < g->nvalues; v++) {
		const struct tensor *t = &value[v];

		for (size_t i = 0; !g->value[v].constant && i < t->count; i++)
			if ((t->dtype == DT_FLOAT || dtype_is_half(t->dtype))
			    && passes(tensor_real(t, i), most))
				return true;
	}
	return !value;
}

/* Is some value too large for half precision? The simulator then has infinities
 * where the reference goes on; so has the device. */
static bool
overflows_half(struct run *x)
{
	return overflows(x, 0, HALF_MOST) || overflows(x, 1, HALF_MOST);
}

static bool
make_set(struct run *x, uint32_t k)
{
	const struct graph *g = x->g.m.graph;
	struct tensor *in = random_inputs(x, k);
	struct tensor *want = arena_new(&x->arena, struct tensor, g->noutputs);
	struct err err = {.kind = ERR_NONE};

	if (!host_run(g, in, want, &x->arena, &err))
		return false;
	x->set[k] = (struct check_set){.in = in, .want = want};
	x->set[k].more_nan = has_specials(x) || overflows(x, k, FLOAT_MOST);
	return true;
}

/* ---- keeping a model that fails ---- */

static bool
write_tensor(const char *path, const struct tensor *t)
{
	struct err err = {.kind = ERR_NONE};
	FILE *f = fopen(path, "wb");
	bool ok = f && onnx_write_tensor(f, "", t, &err);

	return f && fclose(f) == 0 && ok;
}

static void
keep_model(struct run *x)
{
	const char *dir = arena_printf(&x->arena, "%s/seed_%u",
	    x->options->folder ? x->options->folder : "", (unsigned)x->seed);
	const struct graph *g = x->g.m.graph;
	const struct onnx_opset opset = {"", x->g.m.opset};
	const struct onnx_out out = {
	    .graph = g, .ir_version = 8, .nopsets = 1, .opset = &opset};
	struct err err = {.kind = ERR_NONE};
	FILE *f;

	if (!x->options->folder)
		return;
	mkdir(x->options->folder, 0777);
	mkdir(dir, 0777);
	f = fopen(arena_printf(&x->arena, "%s/model.onnx", dir), "wb");
	if (f == NULL || !onnx_write(f, &out, &err) || fclose(f) != 0)
		fprintf(stderr, "%s: %s\n", dir, err.text);
	dir = arena_printf(&x->arena, "%s/test_data_set_0", dir);
	mkdir(dir, 0777);
	for (uint32_t i = 0; i < g->ninputs; i++)
		write_tensor(arena_printf(&x->arena, "%s/input_%u.pb", dir, i),
		    &x->set[0].in[i]);
	for (uint32_t i = 0; i < g->noutputs; i++)
		write_tensor(arena_printf(&x->arena, "%s/output_%u.pb", dir, i),
		    &x->set[0].want[i]);
}

/* ---- plans ---- */

static bool
check(struct run *x, const struct plan *p, uint32_t threads, struct err *err)
{
	static const uint32_t order[] = {0, 1, 0};
	const bool half = check_has_half(p);
	bool wrong;

	for (uint32_t k = 0; k < SETS; k++) {
		x->set[k].slack = NULL;
		x->set[k].nalso = 0;
	}
	if (check_plan(p, threads, x->set, order, 3, &wrong, err))
		return true;
	if (!wrong)
		return false;
	for (uint32_t k = 0; k < SETS; k++)
		leeway_give(&x->set[k], p->graph, half, &x->arena);
	err_clear(err);
	return check_plan(p, threads, x->set, order, 3, &wrong, err);
}

static void
say_wrong(
    struct run *x, const char *what, const struct err *err, const char *how)
{
	x->t.wrong++;
	printf("seed %u: %s: %s%s%s%s\n", (unsigned)x->seed, what, err->text,
	    how, x->isa ? " as " : "", x->isa ? x->isa : "");
	if (x->t.wrong == 1)
		keep_model(x);
}

static void
try_plan(struct run *x, struct force *f, uint32_t wanted)
{
	const uint32_t threads = x->t.plans % 5 == 4 ? 2 : 1;
	struct err err = {.kind = ERR_NONE};
	struct arena scratch;
	struct plan p;
	bool placed;

	arena_init(&scratch);
	x->t.plans++;
	if (!force_plan(&p, f, wanted, &x->r, &placed, &scratch, &err)
	    || !check(x, &p, threads, &err))
		say_wrong(x,
		    wanted == FORCE_NONE ? "random prices"
		                         : force_text(f, wanted, &scratch),
		    &err, threads > 1 ? " (2 threads)" : "");
	arena_release(&scratch);
}

/* By itself, beside unmapped pages. */
static void
try_guarded(struct run *x, struct force *f, uint32_t wanted,
    struct reference *reference)
{
	struct err err = {.kind = ERR_NONE};
	struct arena scratch;

	arena_init(&scratch);
	x->t.guarded++;
	if (!guard_run(f->graph, &f->mix, &f->found.candidate[wanted],
	        reference, &scratch, &err))
		say_wrong(x, force_text(f, wanted, &scratch), &err, "");
	arena_release(&scratch);
}

/* Host candidates compute what the reference does, by the same code. */
static bool
is_worth_forcing(struct run *x, const struct force *f, uint32_t i)
{
	const struct candidate *c = &f->found.candidate[i];

	return strcmp(f->mix.target[c->target].kind->name, "host") != 0
	    || one_in(&x->g, 8);
}

static void
try_candidates(struct run *x, struct force *f)
{
	struct reference r;

	reference_init(&r, f->graph, host_eval);
	for (uint32_t i = 0; i < f->found.n; i++) {
		if (f->refused[i]) {
			printf("seed %u: %s: cannot be built: %s\n",
			    (unsigned)x->seed, force_text(f, i, &x->arena),
			    f->refused[i]);
			keep_model(x);
		} else if (is_worth_forcing(x, f, i)) {
			try_plan(x, f, i);
			if (!x->g.halves || f->found.candidate[i].widened)
				try_guarded(x, f, i, &r);
		}
	}
	reference_release(&r);
	for (uint32_t i = 0; i < MIXTURES; i++)
		try_plan(x, f, FORCE_NONE);
}

static void
try_mix(struct run *x, const char *const *target)
{
	struct err err = {.kind = ERR_NONE};
	const bool keep_nan = has_specials(x) || one_in(&x->g, 2);
	struct force f;

	if (!force_open(&f, x->g.m.graph, target, keep_nan, &x->arena, &err)) {
		if (err.kind != ERR_TARGET && err.kind != ERR_NO_COVER
		    && err.kind != ERR_UNSUPPORTED)
			say_wrong(x, "candidates", &err, "");
		return;
	}
	for (uint32_t k = 0; k < SETS; k++) {
		x->set[k].no_nan = !keep_nan;
		/* nobody says how far it spreads then */
		x->set[k].more_nan |= !keep_nan && overflows(x, k, (double)NAN);
	}
	x->t.candidates += f.found.n;
	x->t.refused += f.nrefused;
	try_candidates(x, &f);
}

/* As older processors, as far as oneDNN goes; NULL: what there is. It asks when it
 * is first called, which in this process is later. */
static const char *
choose_isa(uint32_t seed)
{
	static const char *const isa[] = {"SSE41", "AVX2", "AVX512_CORE"};
	const char *name = seed % 8 < 3 ? isa[seed % 8] : NULL;

	if (getenv("ONEDNN_MAX_CPU_ISA") || !name)
		return NULL;
	setenv("ONEDNN_MAX_CPU_ISA", name, 1);
	return name;
}

static struct tally
try_model(const struct options *o, uint32_t seed)
{
	static const char *const here[] = {
	    "dnnl", "xnnpack", "blas", "native", "host", NULL};
	static const char *const there[] = {"mrvl", "dnnl", "host", NULL};
	const char *const told[] = {o->target, "host", NULL};
	struct run x = {.options = o,
	    .seed = seed,
	    .isa = choose_isa(seed),
	    .r = rng_seeded(seed + 1)};

	arena_init(&x.arena);
	if (generate(&x.g, seed, &x.arena) && make_set(&x, 0) && make_set(&x, 1)
	    && !(x.g.halves && overflows_half(&x))) {
		x.t.models = 1;
		x.t.files = x.g.was_file;
		for (uint32_t i = 0; i < NFORMS; i++)
			x.t.form[i] = x.g.has[i];
		if (o->keep_all)
			keep_model(&x);
		else if (o->target)
			try_mix(&x, told);
		else if (one_in(&x.g, 6) && !overflows_half(&x))
			try_mix(&x, there);
		else
			try_mix(&x, here);
	}
	arena_release(&x.arena);
	return x.t;
}

/* ---- processes ---- */

/* Read what a child has to say; false: it ended without a word. */
static bool
read_all(int from, void *to, size_t n)
{
	ssize_t got;

	do
		got = read(from, to, n);
	while (got < 0 && errno == EINTR);
	return got == (ssize_t)n;
}

static void
try_apart(const struct options *o, uint32_t seed, struct tally *sum)
{
	struct tally t = {0};
	int ends[2], status = 0;
	pid_t child;

	fflush(stdout);
	if (pipe(ends) != 0 || (child = fork()) < 0) {
		perror("fork");
		exit(1);
	}
	if (child == 0) {
		setrlimit(RLIMIT_CPU, &(const struct rlimit){SECONDS, SECONDS});
		alarm(WAITING * SECONDS);
		t = try_model(o, seed);
		fflush(stdout);
		_exit(write(ends[1], &t, sizeof t) != (ssize_t)sizeof t);
	}
	close(ends[1]);
	if (!read_all(ends[0], &t, sizeof t)) {
		t = (struct tally){.models = 1, .wrong = 1};
		waitpid(child, &status, 0);
		printf("seed %u: ended by signal %d\n", (unsigned)seed,
		    WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	} else {
		waitpid(child, &status, 0);
	}
	close(ends[0]);
	sum->models += t.models;
	sum->files += t.files;
	for (uint32_t i = 0; i < NFORMS; i++)
		sum->form[i] += t.form[i];
	sum->plans += t.plans;
	sum->guarded += t.guarded;
	sum->wrong += t.wrong;
	sum->refused += t.refused;
	sum->candidates += t.candidates;
}

/* Threads that wait shall not spin: most of the time would go into that. The
 * runtime reads it when it is loaded. */
static void
wait_passively(char **argv)
{
	if (getenv("OMP_WAIT_POLICY"))
		return;
	setenv("OMP_WAIT_POLICY", "passive", 1);
	execv("/proc/self/exe", argv);
}

/* -w: the models in which every attribute value and optional output occurs. */
static void
try_walk(const struct options *o, struct tally *t)
{
	struct arena a;
	const char *missing;
	const uint32_t *seed;
	uint32_t n, nmissing;

	arena_init(&a);
	missing = attribute_without_values(&a);
	if (missing)
		printf("%s is never tried: values.def has no row\n", missing);
	seed = walk_seeds(&n, &nmissing, &a);
	t->wrong += nmissing + (missing != NULL);
	for (uint32_t i = 0; i < n; i++)
		try_apart(o, seed[i], t);
	arena_release(&a);
}

static void
read_options(struct options *o, int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:s:e:o:aSwt:")) != -1)
		switch (c) {
		case 'n':
			o->models = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 's':
			o->first = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'e':
			o->each = (uint32_t)strtoul(optarg, NULL, 10);
			break;
		case 'o':
			o->folder = optarg;
			break;
		case 'a':
			o->keep_all = true;
			break;
		case 'S':
			o->specials = true;
			break;
		case 't':
			o->target = optarg;
			break;
		case 'w':
			o->walk = true;
			o->models = 0;
			break;
		default:
			exit(2);
		}
}

static void
say_tally(const struct options *o, const struct tally *t)
{
	static const char *const form[NFORMS] = {
	    "fused", "If", "Loop", "Scan", "open"};

	printf("%u models (%u read from bytes:", (unsigned)t->models,
	    (unsigned)t->files);
	for (uint32_t i = 0; i < NFORMS; i++)
		printf(" %u %s", (unsigned)t->form[i], form[i]);
	printf(") of %u seeds from %u: %u candidates, %u plans, %u run beside "
	       "unmapped pages, %u wrong; %u candidates cannot be built\n",
	    (unsigned)o->models, (unsigned)o->first, (unsigned)t->candidates,
	    (unsigned)t->plans, (unsigned)t->guarded, (unsigned)t->wrong,
	    (unsigned)t->refused);
}

int
main(int argc, char **argv)
{
	struct options o = {.models = 200, .each = 1};
	struct tally t = {0};

	wait_passively(argv);
	read_options(&o, argc, argv);
	if (o.walk)
		try_walk(&o, &t);
	for (uint32_t i = 0; i < o.models; i++)
		try_apart(&o, o.first + i * o.each, &t);
	say_tally(&o, &t);
	return (t.plans == 0 && !o.keep_all) || t.wrong != 0;
}
