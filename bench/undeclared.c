/* Does what a key leaves out change the time? For each operator, each input
 * whose numbers are no part of the key is given other numbers, and each
 * attribute that the types tell is written in another way; the reference kernels
 * of both are timed in turn. Prints what lies outside the noise.
 * bench_undeclared [-a] [OPERATOR...]; -a prints all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "costmodel/content.h"
#include "costmodel/seed.h"
#include "ir/base/buf.h"
#include "ir/base/clock.h"
#include "ir/normalize.h"
#include "ir/text.h"
#include "targets/host/host.h"
#include "tests/support/support.h"

#define INPUTS 12
#define ROUNDS 15
/* TUNING: what a sample takes at least, and what is noise at most. */
#define SAMPLE_NS 150000
#define NOISE 0.15

struct walk {
	const char *op;
	uint32_t opset;
	const char *inputs, *constants;
	uint32_t noutputs;
	const char *ports, *attrs, *other; /* other NULL: no pair */
	const char *why; /* skipped; else NULL */
};

static const struct walk walks[] = {
#define WALK(op, opset, inputs, constants, nout, ports, attrs) \
	{op, opset, inputs, constants, nout, ports, attrs, NULL, NULL},
#define PAIR(op, opset, inputs, constants, nout, ports, attrs, other) \
	{op, opset, inputs, constants, nout, ports, attrs, other, NULL},
#define SKIP(op, why) {op, 0, "", "", 0, "", "", NULL, why},
#include "bench/undeclared.def"
#undef WALK
#undef PAIR
#undef SKIP
};

/* Which numbers an input gets. */
enum numbers { ORDINARY, ALSO_ORDINARY, ZEROS, ONES, NEGATIVE, NNUMBERS };

static const char *const words[NNUMBERS] = {
    "ordinary", "ordinary", "zeros", "ones", "negative"};

/* A model and its inputs, of which one has several. */
struct timed {
	struct arena a;
	struct graph *graph;
	struct tensor in[INPUTS];
	struct tensor other[NNUMBERS];
	uint32_t runs; /* of a sample */
};

struct tally {
	uint32_t operators, inputs, attributes, skipped, outside, broken;
	bool all;
};

/* ---- models ---- */

static void
put_list(struct buf *b, const char *list, const char *before, uint32_t *id)
{
	for (const char *s = list; *s != '\0'; ++*id) {
		size_t n = strcspn(s, ";"), type = strcspn(s, " ;");

		buf_printf(
		    b, "value %%%u \"v%u\" %.*s", *id, *id, (int)type, s);
		if (before[0])
			buf_printf(b, "%s%.*s", before, (int)n, s);
		buf_str(b, "\n");
		s += n + (s[n] == ';');
	}
}

static const char *
text_of(const struct walk *w, const char *attrs, struct arena *a)
{
	uint32_t id = 0, nin;
	const char *text;
	struct buf b;

	buf_init(&b);
	buf_str(&b, "graph \"g\" {\n");
	put_list(&b, w->inputs, "", &id);
	nin = id;
	put_list(&b, w->constants, " = ", &id);
	buf_str(&b, "in ");
	for (uint32_t i = 0; i < nin; i++)
		buf_printf(&b, "%s%%%u", i ? ", " : "", i);
	buf_str(&b, "\nnode ");
	for (uint32_t i = 0; i < w->noutputs; i++)
		buf_printf(&b, "%s%%%u \"v%u\" unknown", i ? ", " : "", id + i,
		    id + i);
	buf_printf(&b, " = \"%s\" %u \"\" \"\" (%s; ) %s\nout ", w->op,
	    w->opset, w->ports, attrs);
	for (uint32_t i = 0; i < w->noutputs; i++)
		buf_printf(&b, "%s%%%u", i ? ", " : "", id + i);
	buf_str(&b, "\n}\n");
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}

static bool
parse(struct graph **g, const struct walk *w, const char *attrs,
    struct arena *a, struct err *err)
{
	const char *text = text_of(w, attrs, a);

	return graph_parse(g, text, strlen(text), w->op, a, err);
}

/* ---- numbers ---- */

static float
number(enum numbers what, struct rng *r)
{
	float x = 0.5f + (float)rng_below(r, 1 << 20) * 0x1p-20f;

	switch (what) {
	case ZEROS:
		return 0;
	case ONES:
		return 1;
	case NEGATIVE:
		return -x;
	default:
		return x;
	}
}

/* Whole numbers are places, classes or quanta: 0 to 3. */
static struct tensor
numbers_of(
    struct arena *a, const struct type *t, enum numbers what, uint64_t seed)
{
	struct rng r = rng_seeded(seed * NNUMBERS + what + 1);
	size_t n, bytes;
	void *data;

	tensor_size(t->dtype, t->dim, t->rank, &n, &bytes);
	data = seed_buffer(a, bytes);
	for (size_t i = 0; i < n; i++)
		if (t->dtype == DT_FLOAT)
			((float *)data)[i] = number(what, &r);
		else if (t->dtype == DT_INT64)
			((int64_t *)data)[i] = what == ZEROS ? 0
			    : what >= ONES                   ? 1
			                                     : rng_below(&r, 4);
		else
			((uint8_t *)data)[i] = (uint8_t)(what == ZEROS ? 0
			        : what >= ONES
			        ? 1
			        : rng_below(&r, t->dtype == DT_BOOL ? 2 : 4));
	return tensor_view(t->dtype, t->rank, t->dim, data);
}

/* ---- time ---- */

static double
sample(struct timed *t, uint32_t slot, enum numbers what, struct err *err)
{
	struct tensor kept = t->in[slot];
	uint64_t start;

	t->in[slot] = t->other[what];
	start = clock_ns();
	for (uint32_t i = 0; i < t->runs && err->kind == ERR_NONE; i++) {
		struct arena_mark mark = arena_mark(&t->a);
		struct tensor out[INPUTS];

		(void)host_run(t->graph, t->in, out, &t->a, err);
		arena_back(&t->a, mark);
	}
	t->in[slot] = kept;
	return (double)(clock_ns() - start) / t->runs;
}

static int
by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double
median(double *x, uint32_t n)
{
	qsort(x, n, sizeof *x, by_size);
	return x[n / 2];
}

static void
calibrate(struct timed *t, uint32_t slot, struct err *err)
{
	for (t->runs = 1; t->runs < 4096; t->runs *= 2)
		if (sample(t, slot, ORDINARY, err) * t->runs >= SAMPLE_NS)
			break;
}

/* Every sort of numbers in turn; the ratio of each to the first. */
static bool
time_input(struct timed *t, uint32_t slot, double ratio[NNUMBERS],
    double *noise, struct err *err)
{
	double r[NNUMBERS][ROUNDS], first;

	calibrate(t, slot, err);
	for (int round = 0; round < ROUNDS; round++) {
		first = sample(t, slot, ORDINARY, err);
		for (int k = 0; k < NNUMBERS; k++)
			r[k][round] =
			    sample(t, slot, (enum numbers)k, err) / first;
	}
	*noise = 0;
	for (int k = 0; k < NNUMBERS; k++) {
		ratio[k] = median(r[k], ROUNDS);
		if (k <= ALSO_ORDINARY)
			*noise = fmax(*noise, fabs(log(ratio[k])));
	}
	return err->kind == ERR_NONE;
}

static void
report(struct tally *c, const char *op, const char *what, double ratio,
    double noise)
{
	bool outside = fabs(log(ratio)) > fmax(NOISE, 3 * noise);

	c->outside += outside;
	if (outside || c->all)
		printf("%-28s %-22s %6.2f times as long (noise %4.1f %%)%s\n",
		    op, what, ratio, 100 * noise, outside ? "" : ", within");
}

/* ---- one operator ---- */

static bool
open_timed(
    struct timed *t, const struct walk *w, const char *attrs, struct err *err)
{
	struct infer_options o = {.eval = host_eval};
	struct notes *notes = arena_new(&t->a, struct notes, 1);

	notes_init(notes, &t->a);
	o.notes = notes;
	if (!parse(&t->graph, w, attrs, &t->a, err)
	    || !normalize(t->graph, &o, err))
		return false;
	for (uint32_t i = 0; i < t->graph->ninputs; i++)
		t->in[i] = numbers_of(&t->a,
		    &graph_value(t->graph, t->graph->input[i])->type, ORDINARY,
		    i);
	return true;
}

/* Is the input that value is part of no key? */
static bool
is_undeclared(const struct graph *g, value_id v)
{
	const struct node *n = graph_node(g, 0);
	struct tensor t = {.dtype = graph_value(g, v)->type.dtype,
	    .rank = graph_value(g, v)->type.rank,
	    .count = 2};

	for (uint32_t i = 0; i < n->ninputs; i++)
		if (n->input[i] == v)
			switch (content_of(n, i, &t)) {
			case CONTENT_WEIGHTS:
			case CONTENT_KEPT:
				break;
			default:
				return false;
			}
	return true;
}

static void
walk_input(struct tally *c, const struct walk *w, struct timed *t, uint32_t i)
{
	struct err err = {.kind = ERR_NONE};
	double ratio[NNUMBERS], noise;
	char what[40];

	for (int k = 0; k < NNUMBERS; k++)
		t->other[k] = numbers_of(&t->a,
		    &graph_value(t->graph, t->graph->input[i])->type,
		    (enum numbers)k, i);
	if (!time_input(t, i, ratio, &noise, &err)) {
		printf("%-28s %s\n", w->op, err.text);
		c->broken++;
		return;
	}
	c->inputs++;
	for (int k = ZEROS; k < NNUMBERS; k++) {
		snprintf(what, sizeof what, "input %u: %s", i, words[k]);
		report(c, w->op, what, ratio[k], noise);
	}
}

static void
walk_inputs(struct tally *c, const struct walk *w)
{
	struct err err = {.kind = ERR_NONE};
	struct graph *written;
	struct timed t;

	arena_init(&t.a);
	if (!parse(&written, w, w->attrs, &t.a, &err)
	    || !open_timed(&t, w, w->attrs, &err)) {
		printf("%-28s %s\n", w->op, err.text);
		c->broken++;
	}
	for (uint32_t i = 0; err.kind == ERR_NONE && i < t.graph->ninputs; i++)
		if (is_undeclared(written, written->input[i]))
			walk_input(c, w, &t, i);
	arena_release(&t.a);
}

static void
walk_attributes(struct tally *c, const struct walk *w)
{
	struct err err = {.kind = ERR_NONE};
	struct timed t[2];
	double r[2][ROUNDS];

	for (int k = 0; k < 2; k++) {
		arena_init(&t[k].a);
		if (err.kind == ERR_NONE
		    && open_timed(&t[k], w, k ? w->other : w->attrs, &err)) {
			t[k].other[ORDINARY] = t[k].in[0];
			calibrate(&t[k], 0, &err);
		}
	}
	for (int i = 0; err.kind == ERR_NONE && i < ROUNDS; i++) {
		double first = sample(&t[0], 0, ORDINARY, &err);

		r[1][i] = sample(&t[1], 0, ORDINARY, &err) / first;
		r[0][i] = sample(&t[0], 0, ORDINARY, &err) / first;
	}
	if (err.kind == ERR_NONE) {
		double noise = fabs(log(median(r[0], ROUNDS)));

		c->attributes++;
		report(c, w->op, "attributes", median(r[1], ROUNDS), noise);
	} else {
		printf("%-28s %s\n", w->op, err.text);
		c->broken++;
	}
	for (int k = 0; k < 2; k++)
		arena_release(&t[k].a);
}

static bool
is_wanted(const char *op, int n, char **names)
{
	for (int i = 0; i < n; i++)
		if (strcmp(names[i], op) == 0)
			return true;
	return n == 0;
}

/* An operator of the table without a row here would go unseen. */
static uint32_t
count_missing(void)
{
	uint32_t n = 0;

	for (int i = OP_CUSTOM + 1; i < NOP; i++) {
		const char *type = op_get((enum op)i)->type;
		bool found = op_find(type, strlen(type)) != (enum op)i;

		for (size_t k = 0; k < sizeof walks / sizeof *walks; k++)
			found |= strcmp(walks[k].op, type) == 0;
		if (!found)
			printf("%-28s has no row in undeclared.def\n", type);
		n += !found;
	}
	return n;
}

int
main(int argc, char **argv)
{
	struct tally c = {.broken = count_missing()};
	int first = 1;

	if (argc > 1 && strcmp(argv[1], "-a") == 0) {
		c.all = true;
		first = 2;
	}
	for (size_t i = 0; i < sizeof walks / sizeof *walks; i++) {
		const struct walk *w = &walks[i];

		if (!is_wanted(w->op, argc - first, argv + first))
			continue;
		c.operators += w->why == NULL;
		c.skipped += w->why != NULL;
		if (w->why && c.all)
			printf("%-28s not timed: %s\n", w->op, w->why);
		if (w->why)
			continue;
		walk_inputs(&c, w);
		if (w->other)
			walk_attributes(&c, w);
		fflush(stdout);
	}
	printf("%u operators, %u not timed: %u inputs in %d ways and %u "
	       "attributes; %u outside the noise, %u that cannot be run\n",
	    c.operators, c.skipped, c.inputs, NNUMBERS - ZEROS, c.attributes,
	    c.outside, c.broken);
	return c.broken != 0;
}
