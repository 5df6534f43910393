/* Random models; every candidate of every kind, in every implementation, is put
 * into a plan, which is run three times over two sets of inputs (0, 1, 0: what
 * is left of a run shows) and compared with the host; so are plans at random
 * prices. Each model has a process of its own. Usage:
 *	fuzz_candidates [-n MODELS] [-s FIRST SEED] [-o FOLDER] [-S]
 * -S puts NaN and infinities among all inputs, not an eighth of them.
 * -o writes each model that fails, with its inputs and what the host makes of
 * them, as model.onnx and test_data_set_0. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "costmodel/seed.h"
#include "ir/onnx_write.h"
#include "targets/host/host.h"
#include "tests/fuzz/candidates/generate.h"
#include "tests/support/check.h"
#include "tests/support/force.h"

#define SETS 2
#define MIXTURES 4
#define SECONDS 60 /* a model's; more is a hang */

struct options {
	uint32_t models, first;
	bool specials; /* NaN and infinities among the inputs of all models */
	const char *folder;
	bool verbose;
};

/* What became of the models. */
struct tally {
	uint32_t models, plans, wrong, refused, candidates;
};

struct run {
	const struct options *options;
	uint32_t seed;
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
		struct rng r = rng_seeded(x->seed * 31ull + set * 7 + i + 1);
		size_t n, bytes;
		float *data;

		tensor_size(DT_FLOAT, t->dim, t->rank, &n, &bytes);
		data = seed_buffer(&x->arena, bytes);
		for (size_t k = 0; k < n; k++)
			data[k] = ((float)rng_below(&r, 1 << 20) * 0x1p-19f - 1)
			    * 1.5f;
		if (has_specials(x))
			add_specials(data, n, &r);
		in[i] = tensor_view(DT_FLOAT, t->rank, t->dim, data);
	}
	return in;
}

/* The same, each element a millionth off: what comes out then tells how far
 * rounding may take a right result. */
static struct tensor *
shaken(struct run *x, const struct tensor *in)
{
	const struct graph *g = x->g.m.graph;
	struct tensor *out = arena_new(&x->arena, struct tensor, g->ninputs);

	for (uint32_t i = 0; i < g->ninputs; i++) {
		const float *from = tensor_data(&in[i], &x->arena);
		float *to = seed_buffer(&x->arena, in[i].bytes);

		for (size_t k = 0; k < in[i].count; k++)
			to[k] = from[k]
			    * (one_in(&x->g, 2) ? 1.000001f : 0.999999f);
		out[i] = tensor_view(DT_FLOAT, in[i].rank, in[i].dim, to);
	}
	return out;
}

/* Ten times what shaking did. TUNING: sums of hundreds of terms round about as
 * much as that. */
static double
slack(const struct tensor *want, const struct tensor *other)
{
	double most = 0;

	for (size_t i = 0; i < want->count; i++) {
		double d = fabs(tensor_real(want, i) - tensor_real(other, i));

		most = isfinite(d) && d > most ? d : most;
	}
	return 10 * most;
}

/* Of maxima over windows and dimensions the text leaves open what NaN does. */
static bool
has_maxima(const struct graph *g)
{
	for (node_id i = 0; i < g->nnodes; i++)
		switch (graph_node(g, i)->op) {
		case OP_MAXPOOL:
		case OP_GLOBALMAXPOOL:
		case OP_REDUCEMAX:
		case OP_REDUCEMIN:
			return true;
		default:
			break;
		}
	return false;
}

static bool
make_set(struct run *x, uint32_t k)
{
	const struct graph *g = x->g.m.graph;
	struct tensor *in = random_inputs(x, k), *off = shaken(x, in);
	struct tensor *want = arena_new(&x->arena, struct tensor, g->noutputs);
	struct tensor *other = arena_new(&x->arena, struct tensor, g->noutputs);
	double *allowed = arena_new(&x->arena, double, g->noutputs);
	struct err err = {.kind = ERR_NONE};

	if (has_specials(x) && has_maxima(g))
		return false;
	if (!host_run(g, in, want, &x->arena, &err)
	    || !host_run(g, off, other, &x->arena, &err))
		return false;
	for (uint32_t i = 0; i < g->noutputs; i++)
		allowed[i] = slack(&want[i], &other[i]);
	x->set[k] = (struct check_set){.in = in,
	    .want = want,
	    .allowed = allowed,
	    .more_nan = has_specials(x)};
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
	const char *dir = arena_printf(
	    &x->arena, "%s/seed_%u", x->options->folder, (unsigned)x->seed);
	const struct graph *g = x->g.m.graph;
	const struct onnx_opset opset = {"", x->g.m.opset};
	const struct onnx_out out = {
	    .graph = g, .ir_version = 8, .nopsets = 1, .opset = &opset};
	struct err err = {.kind = ERR_NONE};
	FILE *f;

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

static void
try_plan(struct run *x, struct force *f, uint32_t wanted)
{
	static const uint32_t order[] = {0, 1, 0};
	const uint32_t threads = x->t.plans % 5 == 4 ? 2 : 1;
	struct err err = {.kind = ERR_NONE};
	bool placed, wrong = false;
	struct arena scratch;
	struct plan p;

	arena_init(&scratch);
	x->t.plans++;
	if (!force_plan(&p, f, wanted, &x->r, &placed, &scratch, &err)
	    || !check_plan(&p, threads, x->set, order, 3, &wrong, &err)) {
		x->t.wrong++;
		printf("seed %u: %s: %s%s\n", (unsigned)x->seed,
		    wanted == FORCE_NONE ? "random prices"
		                         : force_text(f, wanted, &scratch),
		    err.text, threads > 1 ? " (2 threads)" : "");
		if (x->options->folder && x->t.wrong == 1)
			keep_model(x);
	}
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
try_mix(struct run *x, const char *const *target)
{
	struct err err = {.kind = ERR_NONE};
	const bool keep_nan = has_specials(x) || one_in(&x->g, 2);
	struct force f;

	if (!force_open(&f, x->g.m.graph, target, keep_nan, &x->arena, &err)) {
		if (err.kind != ERR_TARGET && err.kind != ERR_NO_COVER) {
			x->t.wrong++;
			printf("seed %u: %s\n", (unsigned)x->seed, err.text);
		}
		return;
	}
	for (uint32_t k = 0; k < SETS; k++)
		x->set[k].no_nan = !keep_nan;
	x->t.candidates += f.found.n;
	x->t.refused += f.nrefused;
	for (uint32_t i = 0; i < f.found.n; i++)
		if (f.refused[i])
			printf("seed %u: %s: cannot be built\n",
			    (unsigned)x->seed, force_text(&f, i, &x->arena));
		else if (is_worth_forcing(x, &f, i))
			try_plan(x, &f, i);
	for (uint32_t i = 0; i < MIXTURES; i++)
		try_plan(x, &f, FORCE_NONE);
}

static struct tally
try_model(const struct options *o, uint32_t seed)
{
	static const char *const here[] = {
	    "dnnl", "xnnpack", "blas", "host", NULL};
	static const char *const there[] = {"mrvl", "dnnl", "host", NULL};
	struct run x = {.options = o, .seed = seed, .r = rng_seeded(seed + 1)};

	arena_init(&x.arena);
	if (generate(&x.g, seed, &x.arena) && make_set(&x, 0)
	    && make_set(&x, 1)) {
		x.t.models = 1;
		if (one_in(&x.g, 6))
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
		alarm(SECONDS);
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
	sum->plans += t.plans;
	sum->wrong += t.wrong;
	sum->refused += t.refused;
	sum->candidates += t.candidates;
}

int
main(int argc, char **argv)
{
	struct options o = {.models = 200};
	struct tally t = {0};
	struct arena arena;
	const char *missing;
	int c;

	while ((c = getopt(argc, argv, "n:s:o:S")) != -1)
		if (c == 'n')
			o.models = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 's')
			o.first = (uint32_t)strtoul(optarg, NULL, 10);
		else if (c == 'o')
			o.folder = optarg;
		else if (c == 'S')
			o.specials = true;
		else
			return 2;
	arena_init(&arena);
	missing = attribute_without_values(&arena);
	if (missing)
		printf("%s is never tried: values.def has no row\n", missing);
	t.wrong += missing != NULL;
	arena_release(&arena);
	for (uint32_t i = 0; i < o.models; i++)
		try_apart(&o, o.first + i, &t);
	printf("%u models of %u seeds from %u: %u candidates, %u plans, %u "
	       "wrong; %u candidates cannot be built\n",
	    (unsigned)t.models, (unsigned)o.models, (unsigned)o.first,
	    (unsigned)t.candidates, (unsigned)t.plans, (unsigned)t.wrong,
	    (unsigned)t.refused);
	return t.plans == 0 || t.wrong != 0;
}
