#include "exec/confirmed.h"

#include <assert.h>

#include "costmodel/pricer.h"
#include "exec/plan_key.h"
#include "ir/base/clock.h"
#include "plan/propose.h"

struct confirming {
	struct plan *plan;
	struct plan_confirmation *out;
	const struct plan_baseline *single; /* which it is run in turn with */
	const struct plan_request *request;
	const struct confirm_options *options;
	struct arena *arena;
	/* By turns with the rivals so far: */
	bool gives_way; /* one of them is the plan */
	cost_ns took; /* a run of the plan that stays; 0: it has not been run */
};

/* ---- what can be run ---- */

static const char *
why_not_run(const struct plan *p, struct arena *a)
{
	for (uint32_t i = 0; i < p->ncomposites; i++) {
		const struct candidate *c = plan_candidate(p, i);
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

/* The single target's plan, in the place of what prices say is best. */
static void
take_single(struct plan *plan, const struct plan *single)
{
	const struct plan picked = *plan;

	*plan = *single;
	plan->at_least = false;
	plan->baseline = picked.baseline;
	plan->nbaselines = picked.nbaselines;
	plan->tie = picked.tie;
	plan->nties = picked.nties;
	plan->searcher = picked.searcher;
	plan->among = picked.among;
	plan->lower_bound =
	    picked.lower_bound < plan->cost ? picked.lower_bound : plan->cost;
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
	out->kind =
	    confirm_verdict((const struct plan *const[]){plan, single}, t);
	out->took = out->kind == CONFIRM_REFUSED ? t->b : t->a;
	if (out->kind == CONFIRM_REFUSED)
		take_single(plan, single);
}

static bool
predict(const struct confirming *c, const char *why)
{
	c->out->kind = CONFIRM_PREDICTED;
	c->out->why = why;
	c->out->against = c->single->name;
	if (!plan_unpriced(c->plan) && c->single->cost)
		c->out->predicted =
		    (double)c->plan->cost / (double)c->single->cost;
	return true;
}

/* Run them, and put it on record. */
static bool
run(struct in_turn *t, const char **why, const struct confirming *c,
    struct hash128 hash, struct err *err)
{
	const struct plan *const pair[2] = {c->plan, c->single->plan};
	struct confirm_options o = *c->options;
	struct pricer_turns kept;

	o.known = c->took > 0;
	pricer_end_workers(c->request->pricer); /* both plans need memory */
	if (!confirm_run(t, why, pair, &o, c->arena, err) || *why)
		return err->kind == ERR_NONE;
	if (o.known && t->a > c->took)
		t->a = c->took;
	kept = (struct pricer_turns){
	    t->pairs, t->ratio, t->self_low, t->self_high, {t->a, t->b}};
	return pricer_keep_turns(c->request->pricer, hash, &kept, err);
}

/* How the plan does against one of the others; *why: why that is not known. */
static bool
try_against(const struct confirming *c, struct in_turn *t, const char **why,
    bool *on_record, struct err *err)
{
	const struct hash128 hash = hash_of(c);
	struct pricer_turns kept;

	*why = why_not_run(c->single->plan, c->arena);
	if (*why)
		return true;
	*why = why_not_now(c);
	if (!pricer_find_turns(c->request->pricer, hash, &kept, on_record, err))
		return false;
	if (!*on_record)
		return *why || run(t, why, c, hash, err);
	*why = NULL;
	*t = (struct in_turn){.pairs = kept.pairs,
	    .ratio = kept.ratio,
	    .self_low = kept.self_low,
	    .self_high = kept.self_high,
	    .a = kept.took[0],
	    .b = kept.took[1]};
	return true;
}

/* Of those it was run in turn with, the one that does best against it. */
struct best_rival {
	const struct plan_baseline *single; /* NULL: none was run */
	struct in_turn turns;
	bool on_record;
};

/* Once the plan has given way to a single target's, others that cost more are as good as that
 * at best, but for runtimes. */
static bool
is_tried(const struct confirming *c, const struct plan_baseline *rival)
{
	return !c->gives_way || rival_is_runtime(c->plan, rival);
}

static void
note_turns(struct confirming *c, const struct in_turn *t)
{
	const struct plan *const pair[2] = {c->plan, c->single->plan};

	if (confirm_verdict(pair, t) == CONFIRM_REFUSED)
		c->gives_way = true;
	else if (t->a && (c->took == 0 || t->a < c->took))
		c->took = t->a;
}

/* *why: of the first, whose price is the least. */
static bool
try_all(struct confirming *c, struct best_rival *best, const char **why,
    const struct plan_baseline *const *rival, uint32_t n, struct err *err)
{
	*why = NULL;
	best->single = NULL;
	for (uint32_t i = 0; i < n; i++) {
		struct in_turn t;
		bool on_record;
		const char *no;

		if (!is_tried(c, rival[i]))
			continue;
		c->single = rival[i];
		if (!try_against(c, &t, &no, &on_record, err))
			return false;
		if (i == 0)
			*why = no;
		if (no)
			continue;
		note_turns(c, &t);
		if (!best->single || t.ratio > best->turns.ratio)
			*best = (struct best_rival){rival[i], t, on_record};
	}
	c->single = rival[0];
	return true;
}

static bool
confirm(struct confirming *c, const struct plan_baseline *const *rival,
    uint32_t n, struct err *err)
{
	struct best_rival best;
	const char *why;

	if (!try_all(c, &best, &why, rival, n, err))
		return false;
	if (why && (!best.single || plan_is_picked(c->plan)))
		return predict(c, why);
	c->out->against = best.single->name;
	c->out->on_record = best.on_record;
	c->out->predicted = (double)c->plan->cost / (double)best.single->cost;
	confirmed_decide(c->plan, c->out, best.single->plan, &best.turns);
	return true;
}

/* TUNING: millionths that runs do not show: what a plan takes differs by more from one
 * process to the next. */
#define UNSEEN UINT64_C(5000)

/* What a gain has to be, in millionths, if turns are to show it. */
static uint64_t
least_gain(const struct confirming *c)
{
	const uint64_t few =
	    in_turn_least_gain(confirm_pairs(c->single->cost, c->options));

	return few > UNSEEN ? few : UNSEEN;
}

/* A mix that prices hardly tell from the kernels of a single target. */
static bool
is_level_by_prices(const struct confirming *c)
{
	const double told = (double)(IN_TURN_ONE - least_gain(c));

	return plan_is_picked(c->plan) && !rival_is_runtime(c->plan, c->single)
	    && (double)c->plan->cost * IN_TURN_ONE
	    >= (double)c->single->cost * told;
}

static void
give_way(const struct confirming *c)
{
	*c->out = (struct plan_confirmation){.kind = CONFIRM_REFUSED,
	    .against = c->single->name,
	    .predicted = (double)c->plan->cost / (double)c->single->cost,
	    .why = "prices promise less than runs would show"};
	take_single(c->plan, c->single->plan);
}

bool
confirmed_plan(struct plan *plan, struct plan_confirmation *out,
    const struct plan_request *r, const struct confirm_options *o,
    struct arena *a, struct err *err)
{
	const struct plan_baseline *rival[RIVALS_MAX];
	struct confirming c = {plan, out, NULL, r, o, a, false, 0};
	const char *why;
	uint32_t n;

	*out = (struct plan_confirmation){.kind = CONFIRM_NOTHING};
	n = r->replay || !may_improve(r) ? 0 : plan_rivals(plan, rival);
	if (n == 0)
		return true;
	c.single = rival[0];
	why = why_not_run(plan, a);
	if (why)
		return !plan_is_picked(plan) || predict(&c, why);
	if (o->skip)
		return predict(&c, "--no-confirm");
	if (rival[0]->bound || plan_unpriced(plan) || !r->pricer)
		return predict(&c, "prices are missing");
	if (is_level_by_prices(&c)) {
		give_way(&c);
		return true;
	}
	return confirm(&c, rival, n, err);
}
