#include "exec/confirmed.h"

#include <assert.h>

#include "costmodel/pricer.h"
#include "exec/plan_key.h"
#include "ir/base/clock.h"
#include "plan/propose.h"

struct confirming {
	struct plan *plan;
	struct plan_confirmation *out;
	const struct plan_baseline *single;
	const struct plan_request *request;
	const struct confirm_options *options;
	struct arena *arena;
};

/* ---- what can be run ---- */

static const char *
why_not_run(const struct plan *p, struct arena *a)
{
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c =
		    &p->candidates->candidate[p->composite[i].candidate];
		const struct target *t = &p->mix->target[c->target];

		if (t->source != PRICE_MEASURED)
			return arena_printf(a, "prices of %s are %s", t->text,
			    price_source_text(t->source));
		if (t->only_prices || !t->kind->compile)
			return arena_printf(a, "%s cannot be run", t->text);
		if (c->opaque)
			return "opaque nodes cannot be run";
	}
	return NULL;
}

/* Of what is not on record. */
static const char *
why_not_now(const struct confirming *c)
{
	const struct confirm_options *o = c->options;
	const cost_ns least = (2 + 2 * IN_TURN_LEAST)
	    * cost_add(c->plan->cost / 2, c->single->cost / 2);

	if (o->why_not)
		return o->why_not;
	if (o->stop && atomic_load(o->stop))
		return "stopped early";
	if (o->deadline_ns && clock_ns() + least > o->deadline_ns)
		return "no time left";
	return NULL;
}

/* ---- what it is known by ---- */

static struct hash128
hash_of(const struct confirming *c)
{
	const struct plan_request *r = c->request;
	struct hash128 h;
	struct buf b;

	buf_init(&b);
	plan_add_key(&b, c->plan, r->pricer);
	plan_add_key(&b, c->single->plan, r->pricer);
	h = hash128(b.data, b.n);
	buf_release(&b);
	return h;
}

/* ---- what it comes to ---- */

/* The single target's plan, in the place of the mix. */
static void
take_single(struct plan *plan, const struct plan *single)
{
	const struct plan mix = *plan;

	*plan = *single;
	plan->at_least = false;
	plan->baseline = mix.baseline;
	plan->nbaselines = mix.nbaselines;
	plan->tie = mix.tie;
	plan->nties = mix.nties;
	plan->searcher = mix.searcher;
	plan->among = mix.among;
	plan->lower_bound =
	    mix.lower_bound < plan->cost ? mix.lower_bound : plan->cost;
	plan->proven = plan->lower_bound == plan->cost;
}

void
confirmed_decide(struct plan *plan, struct plan_confirmation *out,
    const struct plan *single, const struct in_turn *t)
{
	out->pairs = t->pairs;
	out->ratio = t->ratio;
	out->self_low = t->self_low;
	out->self_high = t->self_high;
	out->kind = CONFIRM_CONFIRMED;
	if (in_turn_wins(t))
		return;
	out->kind = CONFIRM_REFUSED;
	take_single(plan, single);
}

static bool
predict(struct plan_confirmation *out, const char *why)
{
	out->kind = CONFIRM_PREDICTED;
	out->why = why;
	return true;
}

/* Run them, and put it on record. */
static bool
run(struct in_turn *t, const char **why, const struct confirming *c,
    struct hash128 hash, struct err *err)
{
	const struct plan *const pair[2] = {c->plan, c->single->plan};
	struct pricer_turns kept;

	if (!confirm_run(t, why, pair, c->options, c->arena, err) || *why)
		return err->kind == ERR_NONE;
	kept = (struct pricer_turns){
	    t->pairs, t->ratio, t->self_low, t->self_high};
	return pricer_keep_turns(c->request->pricer, hash, &kept, err);
}

static bool
confirm(const struct confirming *c, struct err *err)
{
	const struct hash128 hash = hash_of(c);
	const char *why = why_not_now(c);
	struct pricer_turns kept;
	struct in_turn t;

	if (!pricer_find_turns(
	        c->request->pricer, hash, &kept, &c->out->on_record, err))
		return false;
	if (c->out->on_record)
		t = (struct in_turn){kept.pairs, kept.ratio, kept.self_low,
		    kept.self_high, 0, 0};
	else if (!why && !run(&t, &why, c, hash, err))
		return false;
	if (!c->out->on_record && why)
		return predict(c->out, why);
	confirmed_decide(c->plan, c->out, c->single->plan, &t);
	return true;
}

bool
confirmed_plan(struct plan *plan, struct plan_confirmation *out,
    const struct plan_request *r, const struct confirm_options *o,
    struct arena *a, struct err *err)
{
	const struct plan_baseline *single = plan_best_single(plan);
	const struct confirming c = {plan, out, single, r, o, a};
	const char *why;

	*out = (struct plan_confirmation){.kind = CONFIRM_NOTHING};
	if (r->replay || !may_improve(r) || !plan_is_picked(plan) || !single)
		return true;
	out->against = single->name;
	if (!plan_unpriced(plan) && single->cost)
		out->predicted = (double)plan->cost / (double)single->cost;
	why = why_not_run(plan, a);
	if (!why)
		why = why_not_run(single->plan, a);
	if (why)
		return predict(out, why);
	if (o->skip)
		return predict(out, "--no-confirm");
	if (single->bound || plan_unpriced(plan) || !r->pricer)
		return predict(out, "prices are missing");
	return confirm(&c, err);
}
