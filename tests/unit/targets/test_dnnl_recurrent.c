/* Recurrent layers of every small size that oneDNN accepts, against the host
 * reference: what does not fill its vectors is where it was wrong. */
#include <stdio.h>
#include <stdlib.h>

#include "costmodel/reference.h"
#include "costmodel/trial.h"
#include "targets/host/host.h"
#include "tests/support/found.h"
#include "tests/support/support.h"

extern const struct target_kind target_dnnl;

static const struct form {
	const char *name;
	enum op op;
	int64_t gates, apart;
} form[] = {
    {"LSTM", OP_LSTM, 4, 0},
    {"GRU", OP_GRU, 3, 0},
    {"GRU, linear before reset", OP_GRU, 3, 1},
    {"RNN", OP_RNN, 1, 0},
};

static const char *const direction[] = {"forward", "reverse", "bidirectional"};

struct layer {
	const struct form *form;
	uint32_t direction;
	int64_t hidden, in, batch, length;
	bool states; /* one goes in, and the last come out */
};

struct tally {
	uint32_t ran, refused, wrong;
};

static void
make_layer(const struct layer *l)
{
	const struct form *f = l->form;
	const int64_t d = l->direction == 2 ? 2 : 1, h = l->hidden;
	const char *way = direction[l->direction];
	const struct string_view text = {way, strlen(way)};
	const struct attr attr[] = {{.name = "direction",
	                                .kind = ATTR_STRING,
	                                .n = 1,
	                                .strings = &text},
	    ATTR_OF_INT("hidden_size", h),
	    ATTR_OF_INT("linear_before_reset", f->apart)};
	const value_id in[] = {make_input(&m, DIMS(l->length, l->batch, l->in)),
	    make_constant(&m, DIMS(d, f->gates * h, l->in), -1, 1),
	    make_constant(&m, DIMS(d, f->gates * h, h), -1, 1),
	    make_constant(&m, DIMS(d, 2 * f->gates * h), -1, 1), VALUE_NONE,
	    make_constant(&m, DIMS(d, l->batch, h), -1, 1), VALUE_LAST};
	value_id some[7];

	memcpy(some, in, sizeof in);
	if (!l->states)
		some[4] = VALUE_LAST;
	make_output(
	    &m, make_node(&m, f->op, some, attr, f->op == OP_GRU ? 3 : 2));
	for (int i = 0; l->states && i < (f->op == OP_LSTM ? 2 : 1); i++)
		make_output(&m, make_more(&m));
}

/* Twice, for what is left of a run shows. */
static bool
is_right(struct trial *t)
{
	struct err err = {.kind = ERR_NONE};
	struct reference r;
	double error, allowed;
	bool ok;

	reference_init(&r, m.graph, host_eval);
	trial_run(t);
	trial_run(t);
	ok = trial_check(t, &r, &error, &allowed, &arena, &err);
	reference_release(&r);
	return ok && error <= allowed;
}

static void
try_layer(const struct layer *l, struct tally *t)
{
	struct err err = {.kind = ERR_NONE};
	struct trial trial;

	setup(NULL);
	make_layer(l);
	find("dnnl");
	if (found.candidate[0].target != 0) {
		t->refused++;
	} else if (!trial_open(&trial, m.graph, &mix, &found.candidate[0],
	               &arena, &err)) {
		fail_msg("%s", err.text);
	} else {
		t->ran++;
		if (!is_right(&trial)) {
			t->wrong++;
			printf("wrong: %s, %s, hidden %d of %d, batch %d, "
			       "length %d, %s states\n",
			    l->form->name, direction[l->direction],
			    (int)l->hidden, (int)l->in, (int)l->batch,
			    (int)l->length, l->states ? "with" : "no");
		}
		trial_close(&trial);
	}
	teardown(NULL);
}

static void
try_hidden(const struct form *f, int64_t hidden, struct tally *t)
{
	static const int64_t length[] = {1, 2, 5};
	static const int64_t in[] = {1, 2, 3, 8, 16, 17};

	for (uint32_t k = 0; k < 3 * 3 * 6 * 5; k++) {
		const struct layer l = {.form = f,
		    .hidden = hidden,
		    .direction = k % 3,
		    .length = length[k / 3 % 3],
		    .in = in[k / 9 % 6],
		    .batch = 1 + k / 54,
		    .states = k % 2};

		if (l.direction < 2 || l.batch == 1)
			try_layer(&l, t);
	}
}

static void
small_layers(void **state)
{
	struct tally t = {0};

	(void)state;
	for (size_t i = 0; i < sizeof form / sizeof *form; i++)
		for (int64_t hidden = 1; hidden <= 17; hidden++)
			try_hidden(&form[i], hidden, &t);
	printf("%u ran, %u refused, %u wrong\n", (unsigned)t.ran,
	    (unsigned)t.refused, (unsigned)t.wrong);
	assert_true(t.ran > 0);
	assert_int_equal(t.wrong, 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(small_layers)};

	if (target_dnnl.lacks) {
		printf("skipped: %s\n", target_dnnl.lacks);
		return TEST_SKIPPED;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
