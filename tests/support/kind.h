/* Every candidate of one kind over a made graph, run and compared with the host
 * reference. Included by the test of each kernel library; `tested` is its kind. */
#ifndef TESTS_SUPPORT_KIND_H
#define TESTS_SUPPORT_KIND_H

#include <stdio.h>
#include <string.h>

#include "costmodel/reference.h"
#include "costmodel/seeded.h"
#include "costmodel/trial.h"
#include "targets/host/host.h"
#include "targets/widened.h"
#include "tests/support/found.h"
#include "tests/support/support.h"

extern const struct target_kind *const tested;

/* Something that no kernel leaves where it should have written. */
static void
spoil_outputs(struct trial *t)
{
	for (uint32_t i = 0;
	     t->kernel.in_place == 0 && i < t->candidate->noutputs; i++)
		memset(t->out[i], 0x5a, t->out_bytes[i]);
}

/* Channels beyond the last are zeros where they lie in blocks: what reads the tensor
 * next counts on it. */
static bool
pads_with_zeros(const struct trial *t, uint32_t i)
{
	const struct port *p = &t->candidate->output[i];
	const struct type *type = &graph_value(t->graph, p->value)->type;
	const enum layout l = t->mix->formats.format[p->format].layout;
	const size_t lanes = l == LAYOUT_BLK16 ? 16 : 8;
	const float *x = t->out[i];
	size_t channels, points;

	if ((l != LAYOUT_BLK8 && l != LAYOUT_BLK16) || type->dtype != DT_FLOAT
	    || type->rank != 4)
		return true;
	channels = (size_t)type->dim[1];
	points = (size_t)(type->dim[2] * type->dim[3]);
	for (size_t k = 0; k < t->out_bytes[i] / sizeof *x; k++) {
		const size_t blocks = (channels + lanes - 1) / lanes;
		const size_t block = k / lanes / points % blocks;

		if (k / lanes / points / blocks < (size_t)type->dim[0]
		    && block * lanes + k % lanes >= channels && x[k] != 0)
			return false;
	}
	return true;
}

/* Run one candidate and compare; true when the library took it. */
static bool
runs(const struct candidate *c, struct reference *r)
{
	struct err err = {.kind = ERR_NONE};
	double error, allowed;
	struct trial t;
	bool ok;

	if (!trial_open(&t, m.graph, &mix, c, &arena, &err)) {
		printf("  %s %s: %s\n", tested->rule[c->rule].name,
		    c->implementation_name, err.text);
		assert_int_equal(err.kind, ERR_UNSUPPORTED);
		return false;
	}
	spoil_outputs(&t);
	trial_run(&t);
	trial_run(&t);
	if (t.kernel.in_place == 0)
		trial_run(&t);
	ok = trial_check(&t, r, &error, &allowed, &arena, &err);
	for (uint32_t i = 0; i < c->noutputs; i++)
		if (!pads_with_zeros(&t, i))
			fail_msg(
			    "%s %s over %u nodes: channels beyond the last",
			    tested->rule[c->rule].name, c->implementation_name,
			    (unsigned)c->nnodes);
	trial_close(&t);
	if (!ok)
		fail_msg("%s", err.text);
	if (error > allowed)
		fail_msg("%s %s over %u nodes: error %g",
		    tested->rule[c->rule].name, c->implementation_name,
		    (unsigned)c->nnodes, error);
	return true;
}

/* Run all candidates of the kind; the number that ran, and whether one of the
 * rule over that many nodes did. */
static uint32_t
run_all(const char *rule, uint32_t nnodes, bool *seen)
{
	struct reference r;
	uint32_t n = 0;

	*seen = false;
	reference_init(&r, m.graph, host_eval);
	for (uint32_t i = 0; i < found.n; i++) {
		const struct candidate *c = &found.candidate[i];

		if (c->target != 0 || !runs(c, &r))
			continue;
		n++;
		*seen |= strcmp(tested->rule[c->rule].name, rule) == 0
		    && c->nnodes == nnodes;
	}
	reference_release(&r);
	return n;
}

/* Again on made-up weights, as they are measured: a kernel that is right on the
 * model's is right on those. */
static void
run_seeded(const char *rule, uint32_t nnodes, uint32_t n)
{
	struct seeded s;
	bool seen;

	seeded_init(&s, m.graph, &found, &arena);
	for (uint32_t i = 0; i < found.n; i++)
		seeded_take(&s, &found.candidate[i]);
	if (run_all(rule, nnodes, &seen) != n || !seen)
		fail_msg("%s: others run on made-up weights", rule);
	seeded_release(&s);
}

/* Find all candidates of the made graph and run those of the kind; the number
 * that ran. `rule` must have run over `nnodes` nodes at least once. */
static uint32_t
check_all(const char *rule, uint32_t nnodes)
{
	uint32_t n;
	bool seen;

	find(tested->name);
	n = run_all(rule, nnodes, &seen);
	if (!seen)
		fail_msg("%s over %u nodes never ran", rule, (unsigned)nnodes);
	run_seeded(rule, nnodes, n);
	return n;
}

/* Bytes of memory that all kernels of the kind keep. */
static inline size_t
kept_by_all(void)
{
	size_t kept = 0;

	for (uint32_t i = 0; i < found.n; i++) {
		struct kernel k = {.run = NULL};
		struct err err = {.kind = ERR_NONE};
		struct arena a;

		arena_init(&a);
		if (found.candidate[i].target == 0
		    && target_compile(&mix.target[0], m.graph,
		        &found.candidate[i], &a, &k, &err)) {
			kept += a.bytes;
			if (k.release)
				k.release(&k);
		}
		arena_release(&a);
	}
	return kept;
}

/* Weights as they lie in a model's file, at any address. */
static inline void
misalign_constants(void)
{
	for (value_id v = 0; v < m.graph->nvalues; v++) {
		struct value *value = graph_value(m.graph, v);
		struct tensor *t;
		char *at;

		if (!value->constant || value->constant->kind != TENSOR_VIEW
		    || value->constant->bytes < 1024)
			continue;
		t = arena_copy(&arena, value->constant, sizeof *t);
		at = arena_alloc(&arena, t->bytes + 1);
		t->data = memcpy(at + 1, value->constant->data, t->bytes);
		value->constant = t;
	}
}

/* Whatever is copied to be packed goes when it is. */
static inline void
check_no_copies(const char *target)
{
	size_t kept;

	find(target);
	kept = kept_by_all();
	assert_true(kept > 0);
	misalign_constants();
	assert_int_equal(kept_by_all(), kept);
}

static inline value_id
batch_norm(value_id x, int64_t channels)
{
	value_id gamma = make_constant(&m, DIMS(channels), 0.5f, 2);
	value_id beta = make_constant(&m, DIMS(channels), -1, 1);
	value_id mean = make_constant(&m, DIMS(channels), -1, 1);
	value_id variance = make_constant(&m, DIMS(channels), 0.5f, 2);

	return MAKE(&m, BATCHNORMALIZATION, x, gamma, beta, mean, variance);
}

/* Transposed convolutions: uneven padding and a Relu; grouped and dilated. */
static inline void
make_deconvs(void)
{
	const struct attr twice[] = {ATTR_OF_INTS("strides", 2, 2),
	    ATTR_OF_INTS("pads", 1, 1, 1, 0),
	    ATTR_OF_INTS("output_padding", 1, 0)};
	const struct attr grouped[] = {
	    ATTR_OF_INT("group", 4), ATTR_OF_INTS("dilations", 2, 1)};
	value_id x = make_input(&m, DIMS(2, 16, 7, 9));
	value_id w = make_constant(&m, DIMS(16, 24, 3, 3), -0.2f, 0.2f);
	value_id b = make_constant(&m, DIMS(24), -1, 1);
	value_id y = MAKE_WITH(&m, CONVTRANSPOSE, twice, x, w, b);
	value_id w2 = make_constant(&m, DIMS(24, 5, 2, 3), -0.2f, 0.2f);

	y = MAKE(&m, RELU, y);
	make_output(&m, MAKE_WITH(&m, CONVTRANSPOSE, grouped, y, w2));
}

/* One whose weights are kept as integers, a scale for each filter, which are its second
 * dimension. */
static inline value_id
make_integer_deconv(void)
{
	const struct attr second[] = {ATTR_OF_INT("axis", 1)};
	const struct attr twice[] = {ATTR_OF_INTS("strides", 2, 2)};
	value_id x = make_input(&m, DIMS(1, 16, 9, 9));
	value_id w = MAKE_WITH(&m, DEQUANTIZELINEAR, second,
	    make_int8(&m, DIMS(16, 24, 2, 2)),
	    make_constant(&m, DIMS(24), 0.001f, 0.01f),
	    make_int8(&m, DIMS(24)));
	value_id b = MAKE(&m, DEQUANTIZELINEAR, make_int8(&m, DIMS(24)),
	    make_scalar(&m, 0.1f));

	return MAKE_WITH(&m, CONVTRANSPOSE, twice, x, w, b);
}

/* A slope for each channel. */
static inline void
make_slopes(void)
{
	value_id x = make_input(&m, DIMS(2, 18, 5, 6));
	value_id s = make_constant(&m, DIMS(18, 1, 1), -0.2f, 0.2f);

	make_output(&m, MAKE(&m, PRELU, x, s));
}

#endif
