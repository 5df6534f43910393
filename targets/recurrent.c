#include "targets/recurrent.h"

#include <string.h>

#define NEED why_need

/* The defaults of a direction. SOURCE: the ONNX schemas of LSTM, GRU and RNN. */
static const char *const *
activations_of(enum op op)
{
	static const char *const lstm[] = {"Sigmoid", "Tanh", "Tanh", NULL};
	static const char *const gru[] = {"Sigmoid", "Tanh", NULL};
	static const char *const rnn[] = {"Tanh", NULL};

	if (op == OP_LSTM || op == OP_DYNAMICQUANTIZELSTM)
		return lstm;
	return op == OP_GRU ? gru : rnn;
}

static bool
has_its_activations(const struct node *n)
{
	const struct attr *a = node_attr(n, "activations");
	const char *const *own = activations_of(n->op);
	uint32_t k = 0;

	for (uint32_t i = 0; a != NULL && i < a->n; i++) {
		const char *want = own[k];
		const struct string_view got = a->strings[i];

		if (!view_is(got, want))
			return false;
		k = own[k + 1] ? k + 1 : 0;
	}
	return true;
}

static bool
need_absent(
    const struct match_in *m, struct why *why, uint32_t input, const char *what)
{
	const struct node *n = matched_root(m);

	return NEED(why, node_input(n, input) == VALUE_NONE, what, "left out",
	    "it is given");
}

static bool
need_plain_cell(struct why *why, const struct node *n)
{
	const int64_t input_forget = attr_int_or(n, "input_forget", 0);
	const int64_t layout = attr_int_or(n, "layout", 0);
	bool ok = has_its_activations(n);

	ok = NEED(why, ok, "activations", "the operator's own", "others");
	ok = NEED(why, node_attr(n, "clip") == NULL, "clip", "none", "%g",
	         (double)attr_float_or(n, "clip", 0))
	    && ok;
	ok = NEED(why, input_forget == 0, "input_forget", "0", "%d",
	         (int)input_forget)
	    && ok;
	return NEED(why, layout == 0, "layout", "0", "%d", (int)layout) && ok;
}

bool
need_plain_recurrent(
    const struct match_in *m, struct why *why, const struct node *n)
{
	bool ok = need_plain_cell(why, n);

	ok = need_constant(m, why, n, 3, "bias") && ok;
	ok = need_absent(m, why, 4, "sequence_lens") && ok;
	return need_absent(m, why, 7, "peepholes") && ok;
}
