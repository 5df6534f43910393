#include "targets/mrvl/probe.h"

#include <inttypes.h>
#include <string.h>

#include "targets/mrvl/codegen.h"
#include "targets/mrvl/layer.h"

static const char *const op_name[NPROBE_OP] = {
    [PROBE_CONV] = "conv",
    [PROBE_FC] = "fc",
    [PROBE_POOL] = "pool",
};

#define SIDE_MOST 100000 /* of a size in a name: products stay exact */

/* ---- the sweep ---- */

struct probe_sweep {
	struct arena *arena;
	struct probe *probe;
	uint32_t n, cap;
};

static void
add(struct probe_sweep *s, struct probe p)
{
	s->probe = (struct probe *)arena_grow(
	    s->arena, s->probe, &s->cap, s->n + 1, sizeof p);
	s->probe[s->n++] = p;
}

static struct probe
conv(int64_t side, int64_t c, int64_t o, int64_t kernel)
{
	return (struct probe){.op = PROBE_CONV,
	    .h = side,
	    .w = side,
	    .c = c,
	    .o = o,
	    .kernel = kernel,
	    .groups = 1,
	    .tiles = 8,
	    .pinned = true};
}

/* Channels around every likely width of the MAC array, on all and on one tile:
 * peak rate, its width, how tiles scale. */
static void
add_convs(struct probe_sweep *s)
{
	static const int64_t channels[] = {
	    16, 24, 32, 40, 48, 64, 80, 96, 128, 192, 256};

	for (size_t i = 0; i < sizeof channels / sizeof channels[0]; i++)
		for (uint32_t way = 0; way < 4; way++) {
			struct probe p = conv(28, channels[i], channels[i], 3);

			p.tiles = way & 1 ? 1 : 8;
			p.int8 = way & 2;
			add(s, p);
		}
}

/* Weights that stream, data that passes: rates of memory. Pools of one pixel are
 * copies, wide ones work; small layers show what one costs at least. */
static void
add_others(struct probe_sweep *s)
{
	for (int64_t c = 256; c <= 2048; c *= 2) {
		struct probe p = conv(1, c, 1024, 1);

		p.op = PROBE_FC;
		p.pinned = false;
		add(s, p);
	}
	for (int64_t side = 7; side <= 112; side *= 2) {
		struct probe p = conv(side, 64, 64, 1);

		p.op = PROBE_POOL;
		add(s, p);
		p.kernel = 5;
		add(s, p);
		p = conv(side, 16, 16, 1);
		add(s, p);
	}
	for (int64_t c = 32; c <= 256; c *= 2) {
		struct probe p = conv(28, c, c, 3);

		p.groups = c;
		add(s, p);
	}
}

const struct probe *
probes(uint32_t *n, struct arena *a)
{
	struct probe_sweep s = {.arena = a};

	add_convs(&s);
	add_others(&s);
	*n = s.n;
	return s.probe;
}

/* ---- names ---- */

const char *
probe_name(const struct probe *p, struct arena *a)
{
	return arena_printf(a,
	    "%s_h%" PRIi64 "w%" PRIi64 "c%" PRIi64 "o%" PRIi64 "k%" PRIi64
	    "g%" PRIi64 "_t%u_%s_%s",
	    op_name[p->op], p->h, p->w, p->c, p->o, p->kernel, p->groups,
	    p->tiles, p->int8 ? "int8" : "fp16", p->pinned ? "pin" : "stream");
}

static bool
take_word(const char **at, const char *word)
{
	size_t n = strlen(word);

	if (strncmp(*at, word, n) != 0)
		return false;
	*at += n;
	return true;
}

static bool
take_size(const char **at, const char *key, int64_t *out)
{
	*out = 0;
	if (!take_word(at, key))
		return false;
	while (**at >= '0' && **at <= '9' && *out <= SIDE_MOST)
		*out = *out * 10 + (*(*at)++ - '0');
	return *out >= 1 && *out <= SIDE_MOST;
}

static bool
take_op(const char **at, enum probe_op *out)
{
	for (uint32_t i = 0; i < NPROBE_OP; i++)
		if (take_word(at, op_name[i])) {
			*out = (enum probe_op)i;
			return true;
		}
	return false;
}

bool
probe_read(struct probe *out, const char *name, size_t n)
{
	struct probe p = {0};
	char copy[128];
	const char *at = copy;
	int64_t tiles;

	if (n >= sizeof copy)
		return false;
	memcpy(copy, name, n);
	copy[n] = '\0';
	if (!take_op(&at, &p.op) || !take_size(&at, "_h", &p.h)
	    || !take_size(&at, "w", &p.w) || !take_size(&at, "c", &p.c)
	    || !take_size(&at, "o", &p.o) || !take_size(&at, "k", &p.kernel)
	    || !take_size(&at, "g", &p.groups) || !take_size(&at, "_t", &tiles))
		return false;
	p.int8 = take_word(&at, "_int8");
	if (!p.int8 && !take_word(&at, "_fp16"))
		return false;
	p.pinned = take_word(&at, "_pin");
	if (!p.pinned && !take_word(&at, "_stream"))
		return false;
	p.tiles = (uint32_t)tiles;
	*out = p;
	return *at == '\0'
	    && (tiles == 1 || tiles == 2 || tiles == 4 || tiles == 8)
	    && (p.groups == 1 || (p.groups == p.c && p.c == p.o));
}

/* ---- as a layer ---- */

static const struct packed *
filled(const struct dims *d, struct arena *a)
{
	struct tensor *t = arena_new(a, struct tensor, 1);
	struct packed *k = arena_new(a, struct packed, 1);
	int64_t *dim = (int64_t *)arena_copy(a, d->dim, d->rank * sizeof *dim);
	float x = 0.01F;

	*t = tensor_fill(DT_FLOAT, d->rank, dim, &x);
	*k = (struct packed){
	    .dims = *d, .tensor = t, .scale = 1, .value = VALUE_NONE};
	return k;
}

static void
set_shapes(struct layer *l, const struct probe *p, struct dims *in)
{
	int64_t pad = p->kernel / 2;

	if (p->op == PROBE_FC) {
		*in = (struct dims){2, {1, p->c}};
		l->out = (struct dims){2, {1, p->o}};
		return;
	}
	*in = (struct dims){4, {1, p->h, p->w, p->c}};
	l->out = (struct dims){4, {1, p->h, p->w, p->o}};
	for (int i = 0; i < 2; i++) {
		l->kernel[i] = p->kernel;
		l->stride[i] = l->dilation[i] = 1;
		l->pad[i] = l->pad[2 + i] = pad;
	}
}

static struct layers
layers_of(const struct probe *p, struct arena *a)
{
	static const enum layer_kind kind[NPROBE_OP] = {
	    [PROBE_CONV] = LAYER_CONV,
	    [PROBE_FC] = LAYER_FC,
	    [PROBE_POOL] = LAYER_MAXPOOL,
	};
	static const struct layer_ref input = {true, 0};
	struct region_input *in = arena_new(a, struct region_input, 1);
	struct region_output *out = arena_new(a, struct region_output, 1);
	struct layer *l = arena_new(a, struct layer, 1);
	struct dims weight = {
	    4, {p->o, p->kernel, p->kernel, p->c / p->groups}};

	if (p->op == PROBE_FC)
		weight = (struct dims){2, {p->o, p->c}};
	*l = (struct layer){.kind = kind[p->op],
	    .ninputs = 1,
	    .input = &input,
	    .groups = p->groups,
	    .channels = p->o,
	    .result = VALUE_NONE};
	set_shapes(l, p, &in->dims);
	l->in = &in->dims;
	if (p->op != PROBE_POOL)
		l->constant[CONST_KERNEL] = filled(&weight, a);
	in->value = out->value = VALUE_NONE;
	return (struct layers){.symbol = probe_name(p, a),
	    .ninputs = 1,
	    .nlayers = 1,
	    .noutputs = 1,
	    .input = in,
	    .layer = l,
	    .output = out};
}

struct tool_sample
probe_sample(const struct probe *p)
{
	struct tool_sample s = {.kind = SAMPLE_LAYER,
	    .tiles = p->tiles,
	    .int8 = p->int8,
	    .pinned = p->pinned};
	struct arena scratch;
	struct layers l;

	arena_init(&scratch);
	l = layers_of(p, &scratch);
	s.work = work_of(&l.layer[0], p->int8);
	arena_release(&scratch);
	return s;
}

void
probe_write_nodes(FILE *f, const struct probe *p, struct arena *a)
{
	struct layers l = layers_of(p, a);

	mrvl_write_nodes(f, &l, a);
}

void
probe_write_consts(FILE *f, const struct probe *p, struct arena *a)
{
	struct layers l = layers_of(p, a);

	mrvl_write_consts(f, &l, a);
}

const char *
probe_command(const struct probe *p, struct arena *a)
{
	const char *name = probe_name(p, a);

	return arena_printf(a,
	    "mrvl-tmlc -mn %s -f1 %s-nodes.json -f2 %s-consts.json -arch=mlip "
	    "-quantize=%s -wb_pin_ocm=%d -num_tiles=%u -b 1",
	    name, name, name, p->int8 ? "int8" : "fp16", p->pinned, p->tiles);
}
