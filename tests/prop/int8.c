/* The 8-bit simulator against plain integers: random small chains of layers,
 * random bytes, every composite the target takes, bit by bit. The reference here
 * reads nodes, not layers, channel by channel in the order of ONNX, and works in
 * 64 bits; targets/mrvl/INT8.md is what both follow. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "targets/candidates.h"
#include "targets/quant.h"
#include "tests/support/make.h"
#include "tests/support/support.h"

static struct arena arena;
static struct maker m;
static struct mix mix;
static struct quant *quant;
static struct rng rng;

/* ---- networks ---- */

static int64_t
between(int64_t low, int64_t high)
{
	return low + rng_below(&rng, (uint32_t)(high - low + 1));
}

struct image {
	value_id v;
	int64_t channels, size;
};

static struct image
conv(struct image x)
{
	const int64_t k = between(1, 3), pad = between(0, k / 2 + 1);
	const int64_t stride = between(1, 2),
	              dilation = k > 1 ? between(1, 2) : 1;
	const bool depthwise = between(0, 3) == 0;
	const int64_t to = depthwise ? x.channels : between(1, 19);
	const int64_t reach = (k - 1) * dilation + 1;
	const struct attr a[] = {ATTR_OF_INTS("pads", pad, pad, pad, pad),
	    ATTR_OF_INTS("strides", stride, stride),
	    ATTR_OF_INTS("dilations", dilation, dilation),
	    ATTR_OF_INT("group", depthwise ? x.channels : 1)};
	value_id w, b;

	if (x.size + 2 * pad < reach)
		return x;
	w = make_constant(
	    &m, DIMS(to, depthwise ? 1 : x.channels, k, k), -0.4f, 0.5f);
	b = make_constant(&m, DIMS(to), -0.5f, 0.5f);
	x.v = between(0, 1) ? MAKE_WITH(&m, CONV, a, x.v, w, b)
	                    : MAKE_WITH(&m, CONV, a, x.v, w);
	if (between(0, 1))
		x.v = MAKE(&m, RELU, x.v);
	x.channels = to;
	x.size = (x.size + 2 * pad - reach) / stride + 1;
	return x;
}

static struct image
pool(struct image x)
{
	const struct attr a[] = {ATTR_OF_INTS("kernel_shape", 2, 2),
	    ATTR_OF_INTS("pads", 1, 0, 0, 1),
	    ATTR_OF_INT("count_include_pad", between(0, 1))};

	if (between(0, 1))
		x.v = MAKE_WITH(&m, AVERAGEPOOL, a, x.v);
	else
		x.v = make_node(
		    &m, OP_MAXPOOL, (const value_id[]){x.v, VALUE_LAST}, a, 2);
	return x;
}

static struct graph *
network(void)
{
	struct image x = {.channels = between(1, 5), .size = between(5, 9)};
	value_id flat, w;

	make_begin(&m, &arena);
	x.v = make_input(&m, DIMS(1, x.channels, x.size, x.size));
	for (int64_t i = between(1, 4); i > 0; i--) {
		struct image before = x;

		x = between(0, 3) ? conv(x) : pool(x);
		if (x.channels == before.channels && x.size == before.size
		    && x.v != before.v)
			x.v = MAKE(&m, RELU, MAKE(&m, ADD, x.v, before.v));
	}
	flat = MAKE(&m, FLATTEN, MAKE(&m, GLOBALAVERAGEPOOL, x.v));
	w = make_constant(&m, DIMS(x.channels, 7), -0.5f, 0.5f);
	make_output(
	    &m, MAKE(&m, GEMM, flat, w, make_constant(&m, DIMS(7), -1, 1)));
	make_end(&m);
	return m.graph;
}

/* ---- plain integers ---- */

struct plain {
	const struct graph *graph;
	const struct candidate *candidate;
	uint8_t *const *bytes; /* [nvalues] in the order of ONNX */
	const float *w, *b; /* of the anchor */
	bool relu;
	struct quant in, out;
};

static uint8_t
rounded(const struct plain *p, double steps)
{
	double y = rint(steps);

	if (p->relu && y < 0)
		y = 0;
	y += p->out.zero;
	return (uint8_t)(int8_t)(y < -128 ? -128 : y > 127 ? 127 : y);
}

static int64_t
steps(const struct quant *q, uint8_t byte)
{
	return (int64_t)(int8_t)byte - q->zero;
}

/* Weights, and bias, of one channel as integers; `apart`: between its weights. */
struct channel {
	float scale;
	int64_t w[1024], bias;
};

static void
round_channel(struct channel *c, const struct plain *p, int64_t o, int64_t at,
    int64_t n, int64_t apart)
{
	float most = 0;

	for (int64_t i = 0; i < n; i++)
		most = fmaxf(most, fabsf(p->w[at + i * apart]));
	c->scale = most > 0 ? most / 127 : 1;
	for (int64_t i = 0; i < n; i++)
		c->w[i] = (int64_t)rintf(p->w[at + i * apart] / c->scale);
	c->bias = p->b == NULL ? 0
	                       : (int64_t)rint((double)p->b[o]
	                           / ((double)p->in.scale * (double)c->scale));
}

static uint8_t
finished(const struct plain *p, const struct channel *c, int64_t sum)
{
	const float times = p->in.scale * c->scale / p->out.scale;

	return rounded(p, (double)((float)(sum + c->bias) * times));
}

static int64_t
attr_at(const struct node *n, const char *name, uint32_t i, int64_t otherwise)
{
	uint32_t count;
	const int64_t *list = attr_ints(n, name, &count);

	return list && i < count ? list[i] : otherwise;
}

/* Every position of a window over one plane: calls for those inside. */
struct window {
	int64_t k, pad[2], stride, dilation;
};

static struct window
window_of_node(const struct graph *g, const struct node *n)
{
	const struct type *w =
	    n->op == OP_CONV ? &node_in(g, n, 1)->type : NULL;

	return (struct window){w ? w->dim[2] : attr_at(n, "kernel_shape", 0, 1),
	    {attr_at(n, "pads", 0, 0), attr_at(n, "pads", 1, 0)},
	    attr_at(n, "strides", 0, 1), attr_at(n, "dilations", 0, 1)};
}

static void
plain_conv(const struct plain *p, const struct node *n, uint8_t *out)
{
	const struct type *x = &node_in(p->graph, n, 0)->type;
	const struct type *y = &node_out(p->graph, n, 0)->type;
	const struct type *k = &node_in(p->graph, n, 1)->type;
	const uint8_t *in = p->bytes[n->input[0]];
	const struct window w = window_of_node(p->graph, n);
	const int64_t group = attr_int_or(n, "group", 1);
	const int64_t each = k->dim[1] * w.k * w.k;
	struct channel c;

	for (int64_t o = 0; o < y->dim[1]; o++) {
		const int64_t first = group > 1 ? o : 0;

		round_channel(&c, p, o, o * each, each, 1);
		for (int64_t at = 0; at < y->dim[2] * y->dim[3]; at++) {
			const int64_t oy = at / y->dim[3], ox = at % y->dim[3];
			int64_t sum = 0;

			for (int64_t i = 0; i < each; i++) {
				const int64_t ch = first + i / (w.k * w.k);
				const int64_t iy = oy * w.stride - w.pad[0]
				    + i / w.k % w.k * w.dilation;
				const int64_t ix = ox * w.stride - w.pad[1]
				    + i % w.k * w.dilation;

				if (iy >= 0 && iy < x->dim[2] && ix >= 0
				    && ix < x->dim[3])
					sum += c.w[i]
					    * steps(&p->in,
					        in[(ch * x->dim[2] + iy)
					                * x->dim[3]
					            + ix]);
			}
			out[o * y->dim[2] * y->dim[3] + at] =
			    finished(p, &c, sum);
		}
	}
}

static void
plain_gemm(const struct plain *p, const struct node *n, uint8_t *out)
{
	const struct type *k = &node_in(p->graph, n, 1)->type;
	const uint8_t *in = p->bytes[p->candidate->input[0].value];
	struct channel c;

	for (int64_t o = 0; o < k->dim[1]; o++) {
		int64_t sum = 0;

		round_channel(&c, p, o, o, k->dim[0], k->dim[1]);
		for (int64_t i = 0; i < k->dim[0]; i++)
			sum += c.w[i] * steps(&p->in, in[i]);
		out[o] = finished(p, &c, sum);
	}
}

static void
plain_pool(const struct plain *p, const struct node *n, uint8_t *out)
{
	const struct type *x = &node_in(p->graph, n, 0)->type;
	const struct type *y = &node_out(p->graph, n, 0)->type;
	const bool global = n->op == OP_GLOBALAVERAGEPOOL;
	const struct window w = global
	    ? (struct window){x->dim[2], {0, 0}, 1, 1}
	    : window_of_node(p->graph, n);
	const bool counts = attr_int_or(n, "count_include_pad", 0) != 0;
	const uint8_t *in = p->bytes[n->input[0]];

	for (int64_t at = 0; at < y->dim[1] * y->dim[2] * y->dim[3]; at++) {
		const int64_t ox = at % y->dim[3];
		const int64_t oy = at / y->dim[3] % y->dim[2];
		const int64_t ch = at / (y->dim[2] * y->dim[3]);
		int64_t sum = 0, best = INT64_MIN, inside = 0;
		float times = p->in.scale / p->out.scale;

		for (int64_t i = 0; i < w.k * w.k; i++) {
			const int64_t iy = oy * w.stride - w.pad[0] + i / w.k;
			const int64_t ix = ox * w.stride - w.pad[1] + i % w.k;
			int64_t s;

			if (iy < 0 || iy >= x->dim[2] || ix < 0
			    || ix >= x->dim[3])
				continue;
			s = steps(
			    &p->in, in[(ch * x->dim[2] + iy) * x->dim[3] + ix]);
			sum += s;
			best = s > best ? s : best;
			inside++;
		}
		if (n->op == OP_MAXPOOL)
			sum = best;
		else
			times /= (float)(counts ? w.k * w.k : inside);
		out[at] = rounded(p, (double)((float)sum * times));
	}
}

static void
plain_add(
    const struct plain *p, const struct node *n, size_t count, uint8_t *out)
{
	const struct quant *a = &quant[n->input[0]], *b = &quant[n->input[1]];
	const float at = a->scale / p->out.scale, bt = b->scale / p->out.scale;

	for (size_t i = 0; i < count; i++)
		out[i] = rounded(p,
		    (double)((float)steps(a, p->bytes[n->input[0]][i]) * at
		        + (float)steps(b, p->bytes[n->input[1]][i]) * bt));
}

static const float *
constant(const struct graph *g, const struct node *n, uint32_t i)
{
	const struct value *v = i < n->ninputs ? node_in(g, n, i) : NULL;

	return v && v->constant ? tensor_data(v->constant, &arena) : NULL;
}

static size_t
count_of(const struct graph *g, value_id v)
{
	size_t n = 1;

	for (uint32_t i = 0; i < graph_value(g, v)->type.rank; i++)
		n *= (size_t)graph_value(g, v)->type.dim[i];
	return n;
}

/* What the candidate should make. */
static void
plain_run(const struct graph *g, const struct candidate *c,
    uint8_t *const *bytes, uint8_t *out)
{
	struct plain p = {.graph = g, .candidate = c, .bytes = bytes};
	const struct node *anchor = NULL;

	for (uint32_t i = 0; i < c->nnodes; i++) {
		const struct node *n = graph_node(g, c->node[i]);

		p.relu |= n->op == OP_RELU;
		if (n->op != OP_RELU && n->op != OP_FLATTEN)
			anchor = n;
	}
	p.in = quant[c->input[0].value];
	p.out = quant[c->output[0].value];
	if (!anchor) { /* the same values in other steps */
		const float times = p.in.scale / p.out.scale;

		for (size_t i = 0; i < count_of(g, c->output[0].value); i++)
			out[i] = rounded(&p,
			    (double)((float)steps(
			                 &p.in, bytes[c->input[0].value][i])
			        * times));
		return;
	}
	p.w = constant(g, anchor, 1);
	p.b = constant(g, anchor, 2);
	switch (anchor->op) {
	case OP_CONV:
		plain_conv(&p, anchor, out);
		break;
	case OP_GEMM:
		plain_gemm(&p, anchor, out);
		break;
	case OP_ADD:
		plain_add(&p, anchor, count_of(g, c->output[0].value), out);
		break;
	default:
		plain_pool(&p, anchor, out);
	}
}

/* ---- the simulator ---- */

/* Bytes between the order of ONNX and channels last. */
static void
turn(const struct type *t, bool last, const uint8_t *from, uint8_t *to)
{
	const int64_t c = t->rank == 4 ? t->dim[1] : 1;
	const int64_t p =
	    t->rank == 4 ? t->dim[2] * t->dim[3] : t->dim[0] * t->dim[1];

	for (int64_t i = 0; i < c; i++)
		for (int64_t k = 0; k < p; k++)
			if (last)
				to[k * c + i] = from[i * p + k];
			else
				to[i * p + k] = from[k * c + i];
}

static void
simulate(const struct graph *g, const struct candidate *c,
    uint8_t *const *bytes, uint8_t *out)
{
	const struct target *t = &mix.target[c->target];
	struct err err = {.kind = ERR_NONE};
	const void *in[4];
	void *to[1];
	struct kernel k;

	if (!t->kind->compile(t, g, c, &arena, &k, &err)) {
		printf("%s\n", err.text);
		exit(1);
	}
	for (uint32_t i = 0; i < c->ninputs; i++) {
		const value_id v = c->input[i].value;
		uint8_t *at = arena_new(&arena, uint8_t, count_of(g, v) + 64);

		turn(&graph_value(g, v)->type, true, bytes[v], at);
		in[i] = at;
	}
	to[0] =
	    arena_new(&arena, uint8_t, count_of(g, c->output[0].value) + 64);
	k.run(&k, in, to);
	turn(&graph_value(g, c->output[0].value)->type, false, to[0], out);
}

/* ---- cases ---- */

static struct quant
random_quant(void)
{
	const double low = -(double)rng_below(&rng, 1000) / 500;
	const double high = (double)(1 + rng_below(&rng, 1000)) / 400;

	return quant_of_range(low, high);
}

static uint32_t
check_candidate(const struct graph *g, const struct candidate *c,
    uint8_t **bytes, uint64_t seed)
{
	const value_id v = c->output[0].value;
	const size_t n = count_of(g, v);
	uint8_t *got = arena_new(&arena, uint8_t, n);
	uint8_t *want = arena_new(&arena, uint8_t, n);

	simulate(g, c, bytes, got);
	plain_run(g, c, bytes, want);
	if (!bytes[v])
		bytes[v] = want;
	for (size_t i = 0; i < n; i++)
		if (got[i] != want[i]) {
			printf("seed %llu: %s of %s: element %zu is %d, not "
			       "%d\n",
			    (unsigned long long)seed,
			    mix.target[c->target].kind->rule[c->rule].name,
			    graph_value(g, v)->name, i, (int8_t)got[i],
			    (int8_t)want[i]);
			return 1;
		}
	return 0;
}

static bool
is_ready(const struct candidate *c, uint8_t *const *bytes)
{
	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!bytes[c->input[i].value])
			return false;
	return true;
}

/* Candidates by their last node: what one reads was made by an earlier one. */
static uint32_t
check_network(uint64_t seed, uint32_t *checked)
{
	const char *const text[] = {"mrvl:quantize=int8"};
	struct err err = {.kind = ERR_NONE};
	struct graph *g = network();
	struct candidates found;
	uint8_t **bytes = arena_new(&arena, uint8_t *, g->nvalues);
	const size_t n = count_of(g, g->input[0]);
	uint32_t failed = 0;

	quant = arena_new(&arena, struct quant, g->nvalues);
	for (value_id v = 0; v < g->nvalues; v++)
		quant[v] = random_quant();
	bytes[g->input[0]] = arena_new(&arena, uint8_t, n);
	for (size_t i = 0; i < n; i++)
		bytes[g->input[0]][i] = (uint8_t)rng_next(&rng);
	if (!mix_open(&mix, text, 1, &arena, &err))
		return 1;
	mix.formats.quant = quant;
	if (!candidates_find(&found, g, &mix, NULL, &arena, &err)) {
		printf("%s\n", err.text);
		return 1;
	}
	for (node_id id = 0; id < g->nnodes; id++)
		for (uint32_t i = 0; i < found.n; i++) {
			const struct candidate *c = &found.candidate[i];

			if (!mix.target[c->target].quantises
			    || c->node[c->nnodes - 1] != id
			    || !is_ready(c, bytes))
				continue;
			failed += check_candidate(g, c, bytes, seed);
			++*checked;
		}
	return failed;
}

int
main(int argc, char **argv)
{
	const uint64_t cases =
	    argc > 1 ? strtoull(argv[1], NULL, 10) : cases_of(400);
	uint32_t failed = 0, checked = 0;

	for (uint64_t seed = 1; seed <= cases && failed == 0; seed++) {
		arena_init(&arena);
		rng = rng_seeded(seed);
		failed += check_network(seed, &checked);
		arena_release(&arena);
	}
	printf("%u composites of %llu networks, %u failed\n", checked,
	    (unsigned long long)cases, failed);
	return failed > 0 || checked < cases;
}
