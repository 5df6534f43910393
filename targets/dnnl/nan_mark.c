#include "targets/dnnl/nan_mark.h"

#include "targets/dnnl/accept.h"
#include "targets/dnnl/depthwise.h"
#include "targets/dnnl/nan.h"
#include "targets/dnnl/ways.h"
#include "targets/guarded.h"
#include "targets/known.h"

/* Operators whose own kernel loses it. Of maxima over windows and dimensions
 * ONNX leaves open what NaN does. */
static bool
anchor_loses(const struct fused *f)
{
	if (f->anchor == NULL)
		return false;
	switch (f->anchor->op) {
	case OP_SOFTMAX:
	case OP_LOGSOFTMAX:
	case OP_LSTM:
	case OP_GRU:
	case OP_RNN:
		return true;
	default:
		return false;
	}
}

/* A chain as one primitive takes it, NaN kept. */
static bool
is_possible(struct fused *f, bool is_last)
{
	struct bounding end;
	struct why why;
	const bool alone = f->anchor == NULL && f->nsteps > 0
	    && !step_is_binary(f->step[0].kind);

	why_init(&why, NULL);
	/* a function by itself takes no others behind it */
	return nan_kept(f, is_last ? &end : NULL) && (!alone || f->nsteps == 1)
	    && need_distinct_algorithms(&why, f->step, f->nsteps);
}

/* Does the match lose NaN as it is (*loses), and can it be put otherwise? */
static bool
can_keep(const struct match_in *m, bool *loses)
{
	struct fused f[2];
	const char *fault;
	bool ok = true;
	uint32_t n = 1;

	*loses = false;
	if (depthwise_read(f, m->graph, m->match))
		n = 2;
	else if (!fused_read(&f[0], m->graph, m->match, &fault))
		return true;
	for (uint32_t i = 0; i < n; i++) {
		*loses |= anchor_loses(&f[i]) || !nan_steps_keep(&f[i]);
		ok = ok && !anchor_loses(&f[i])
		    && is_possible(&f[i], i == n - 1);
	}
	return ok;
}

bool
nan_can_stay(const struct graph *g, const struct match *m)
{
	const struct match_in in = {.graph = g, .match = m};
	bool loses;

	return can_keep(&in, &loses);
}

/* What a way becomes that would lose NaN, or make more of it than the definition does:
 * behind a guard, or with other steps in its place. */
static void
mark(struct implementation *way, uint32_t number)
{
	if (number == 0 || way->in_place) {
		way->loses_nan = true;
		return;
	}
	way->name = way_get(way->number)->nan_name;
	way->number += number;
	way->guarded = number == WAY_GUARDED;
}

/* (One NaN or infinity makes NaN of all of Winograd's tile.) */
void
nan_mark(const struct match_in *m, struct implementation *way, uint32_t n)
{
	bool loses;
	const bool keeps = can_keep(m, &loses);
	const bool suffices = m->keep_nan && guard_suffices(m);
	const bool guards =
	    suffices && (!keeps || known_match(m->graph, m->match));
	const uint32_t number = guards ? WAY_GUARDED
	    : keeps && m->keep_nan     ? WAY_KEEPS_NAN
	                               : 0;

	for (uint32_t i = 0; i < n; i++)
		if (way[i].transforms)
			mark(&way[i], suffices ? WAY_GUARDED : 0);
		else if (loses)
			mark(&way[i], number);
}
