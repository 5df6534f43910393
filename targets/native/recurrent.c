/* LSTM and GRU: which are taken, their weights packed, on how many threads. */
#include "ir/base/size.h"
#include "targets/native/native.h"
#include "targets/native/recurrent_form.h"
#include "targets/native/recurrent_ports.h"
#include "targets/recurrent.h"
#include "targets/team.h"
#include "targets/threads.h"
#include "targets/weights.h"

bool
accept_sequence(const struct match_in *m, struct why *why)
{
	const struct node *n = matched_root(m);
	bool ok = true;

	for (uint32_t i = X; i <= STATE_WEIGHTS; i++)
		ok = need_tensor(m, why, n->input[i])
		    && need_size(m, why, n->input[i]) && ok;
	for (uint32_t i = FIRST_H; i <= FIRST_C; i++)
		if (node_input(n, i) != VALUE_NONE)
			ok = need_tensor(m, why, n->input[i]) && ok;
	return ok && need_plain_recurrent(m, why, n);
}

struct recurrent_kernel {
	struct recurrent_layer layer;
	const struct native_version *version;
	struct recurrent_ports ports;
	struct recurrent_data data;
	uint32_t sequences, most; /* threads at most */
	size_t room, states; /* floats: each thread's scratch, a sequence's */
	float *scratch, *state;
	struct team_meeting *meeting; /* of each sequence */
};

static void
run_share(const struct recurrent_kernel *k, uint32_t sequence, uint32_t part,
    uint32_t parts, float *scratch)
{
	const struct recurrent_share share = {part, parts,
	    &k->meeting[sequence], k->state + sequence * k->states, scratch};

	k->version->recurrent(&k->layer, &k->data, sequence / k->layer.batch,
	    sequence % k->layer.batch, &share);
}

/* Thread i of m: some sequences, or a part of one. */
static void
run_part(void *of, uint32_t i, uint32_t m)
{
	const struct recurrent_kernel *k = of;
	const uint32_t parts = m > k->sequences ? m / k->sequences : 1;
	float *scratch = k->scratch + i * k->room;

	for (uint32_t s = i / parts; s < k->sequences; s += m / parts)
		run_share(k, s, i % parts, parts, scratch);
}

static void
run(struct kernel *kernel, const void *const *in, void *const *out)
{
	struct recurrent_kernel *k = kernel->state;
	const struct recurrent_places at =
	    recurrent_places_of(&k->ports, in, out);

	k->data = (struct recurrent_data){at.x, at.start[0], at.start[1],
	    at.out[Y], at.out[LAST_H], at.out[LAST_C]};
	team_together(k->most, run_part, k);
}

/* ---- compiled ---- */

static enum recurrent_cell
cell_of(const struct node *n)
{
	if (n->op == OP_LSTM)
		return CELL_LSTM;
	return attr_int_or(n, "linear_before_reset", 0) != 0 ? CELL_GRU_LINEAR
	                                                     : CELL_GRU;
}

static void
read_sizes(
    struct recurrent_layer *l, const struct graph *g, const struct node *n)
{
	const struct type *x = &node_in(g, n, X)->type;
	const struct type *w = &node_in(g, n, STATE_WEIGHTS)->type;

	*l = (struct recurrent_layer){
	    .cell = cell_of(n),
	    .gates = n->op == OP_LSTM ? 4 : 3,
	    .steps = (size_t)x->dim[0],
	    .batch = (size_t)x->dim[1],
	    .in = (size_t)x->dim[2],
	    .directions = (size_t)w->dim[0],
	    .hidden = (size_t)w->dim[2],
	    .backward = attr_is(n, "direction", "forward", "reverse"),
	};
}

static const float *
floats_of(
    const struct graph *g, const struct node *n, uint32_t i, struct arena *a)
{
	const value_id v = node_input(n, i);

	return v == VALUE_NONE ? NULL : scaled_floats(g, v, 1, a);
}

/* Packed where the kernel keeps it; what it is packed from goes. */
static void
pack(struct recurrent_kernel *k, const struct graph *g, const struct node *n,
    struct arena *a)
{
	struct recurrent_layer *l = &k->layer;
	const struct recurrent_room room = k->version->recurrent_room(l);
	float *input = arena_new(a, float, l->directions *room.input);
	float *state = arena_new(a, float, l->directions *room.state);
	float *bias = arena_new(a, float, l->directions *room.bias);
	const size_t rows = l->gates * l->hidden;
	struct recurrent_weights w;
	struct arena scratch;

	arena_init(&scratch);
	w.input = floats_of(g, n, INPUT_WEIGHTS, &scratch);
	w.state = floats_of(g, n, STATE_WEIGHTS, &scratch);
	w.bias = floats_of(g, n, BIAS, &scratch);
	for (size_t i = 0; i < l->directions; i++) {
		k->version->recurrent_pack(l, &w, input + i * room.input,
		    state + i * room.state, bias + i * room.bias);
		w.input += rows * l->in;
		w.state += rows * l->hidden;
		w.bias = w.bias ? w.bias + 2 * rows : NULL;
	}
	arena_release(&scratch);
	l->input = input;
	l->state = state;
	l->bias = bias;
	k->room = size_round_up(room.scratch, 16);
	k->states = size_round_up(room.states, 16);
}

/* TUNING: with fewer multiplications of a step a thread is as long in waiting for the
 * others as in working. */
#define SHARE_LEAST ((size_t)16384)

/* Threads that a sequence is worth. */
static size_t
parts_of(const struct recurrent_layer *l)
{
	const size_t step = l->gates * l->hidden * (l->hidden + l->in);
	const size_t parts = step / SHARE_LEAST;
	const size_t most = (l->hidden + RECURRENT_LINE - 1) / RECURRENT_LINE;

	return parts < 1 ? 1 : parts < most ? parts : most;
}

/* Threads at most: each has sequences of its own, or a part of one. */
static uint32_t
threads_of(const struct recurrent_layer *l, uint32_t sequences)
{
	const uint32_t threads = target_threads();
	const size_t parts = parts_of(l);

	if (sequences >= threads)
		return threads;
	return sequences
	    * (uint32_t)(parts < threads / sequences ? parts
	                                             : threads / sequences);
}

static void
make_room(struct recurrent_kernel *k, struct arena *a)
{
	k->sequences = (uint32_t)(k->layer.batch * k->layer.directions);
	k->most = threads_of(&k->layer, k->sequences);
	k->scratch = arena_new(a, float, k->most * k->room);
	k->state = arena_new(a, float, k->sequences * k->states);
	k->meeting = arena_new(a, struct team_meeting, k->sequences);
}

bool
compile_sequence(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct recurrent_kernel *k = arena_new(a, struct recurrent_kernel, 1);
	const struct node *n = graph_node(g, c->match->root);

	(void)err;
	k->version = native_version_of(t);
	read_sizes(&k->layer, g, n);
	pack(k, g, n, a);
	k->ports = recurrent_ports_of(g, n, c, a);
	make_room(k, a);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run, .state = k};
	return true;
}
