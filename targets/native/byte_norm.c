/* BatchNormalization, perhaps a Relu behind it, between quantisers: a multiple and an
 * offset of each channel. */
#include <math.h>

#include "targets/native/codes.h"
#include "targets/native/native.h"
#include "targets/need.h"
#include "targets/team.h"
#include "targets/weights.h"

#define NEED why_need

struct byte_norm {
	const struct native_version *version;
	struct byte_channels channels;
	uint8_t (
	    *table)[256]; /* [n], where channels lie one behind the other */
	size_t n, batch, positions;
	uint32_t threads;
	const uint8_t *from; /* of this run */
	uint8_t *to;
};

/* A table of one channel: computed as rows of it are. */
static void
channel_table(const struct byte_norm *k, size_t c)
{
	struct byte_channels one = k->channels;
	uint8_t all[256];

	one.scale += c;
	one.shift += c;
	for (size_t i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	k->version->bytes_channels(k->table[c], all, 256, 1, &one);
}

/* More than 2^21 of a step is no code; half of what can be rounded by BYTE_ROUNDER. */
#define FAR 0x1p21f

/* scale and shift, in steps of the result. */
static bool
norm_factors(struct byte_norm *k, const struct graph *g,
    const struct byte_enclosed *b, struct arena *a)
{
	struct norm_line line;
	struct byte_code x, y;
	float *scale, *shift;
	bool ok = true;

	if (!byte_code_of(&x, g, graph_producer(g, b->middle->input[0]))
	    || !byte_code_of(&y, g, b->quantiser))
		return false;
	norm_line_of(&line, b->middle, g, a);
	scale = arena_new(a, float, line.n);
	shift = arena_new(a, float, line.n);
	for (size_t i = 0; i < line.n; i++) {
		const double by = line.scale[i] * (double)x.scale;

		scale[i] = (float)(by / (double)y.scale);
		shift[i] = (float)((line.shift[i] - by * (double)x.zero)
		    / (double)y.scale);
		ok = ok && fabsf(scale[i]) * 256 + fabsf(shift[i]) < FAR;
	}
	k->channels = (struct byte_channels){scale, shift, y.zero,
	    b->rectified ? y.zero : -128, x.is_unsigned, y.is_unsigned};
	k->n = line.n;
	return ok;
}

bool
accept_byte_norm(const struct match_in *m, struct why *why)
{
	const struct byte_enclosed b = byte_enclosed_of(m->graph, m->match);
	const struct type *t = matched_type(m, b.middle->input[0]);
	struct byte_norm k = {.n = 0};
	struct arena scratch;
	bool ok = need_byte_codes(m, why);

	ok = need_inference(why, b.middle) && ok;
	ok = NEED(why, t->rank >= 2, "rank", "2 or more", "less") && ok;
	if (!ok)
		return false;
	arena_init(&scratch);
	ok = norm_factors(&k, m->graph, &b, &scratch);
	arena_release(&scratch);
	return NEED(
	    why, ok, "factors", "that make less than 2^21 of a byte", "others");
}

/* All channels of some positions. */
static void
norm_last(const struct byte_norm *k, size_t first, size_t end)
{
	k->version->bytes_channels(k->to + first * k->n, k->from + first * k->n,
	    end - first, k->n, &k->channels);
}

/* All positions of some channels, of all images one behind the other. */
static void
norm_plain(const struct byte_norm *k, size_t first, size_t end)
{
	for (size_t i = first; i < end; i++)
		k->version->bytes_table(k->to + i * k->positions,
		    k->from + i * k->positions, k->positions,
		    k->table[i % k->n]);
}

static void
norm_share(void *of, uint32_t i)
{
	const struct byte_norm *k = of;
	const size_t all = k->batch * (k->table ? k->n : k->positions);
	const size_t first = all * i / k->threads;
	const size_t end = all * (i + 1) / k->threads;

	if (k->table)
		norm_plain(k, first, end);
	else
		norm_last(k, first, end);
}

static void
run_norm(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct byte_norm *k = kernel->state;

	k->from = in[0];
	k->to = out[0];
	team_run(k->threads, norm_share, k);
}

bool
compile_byte_norm(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct byte_norm *k = arena_new(a, struct byte_norm, 1);
	const struct byte_enclosed b = byte_enclosed_of(g, c->match);
	const struct type *x = &node_out(g, b.quantiser, 0)->type;

	k->version = native_version_of(t);
	if (!norm_factors(k, g, &b, a))
		return err_set(err, ERR_INTERNAL, "native: codes are lost");
	k->batch = (size_t)x->dim[0];
	k->positions = type_elements(x, 2);
	k->threads = team_for(type_elements(x, 0));
	if (c->implementation == 0) {
		k->table = arena_alloc(a, k->n * sizeof *k->table);
		for (size_t i = 0; i < k->n; i++)
			channel_table(k, i);
	}
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_norm, .state = k};
	return true;
}
