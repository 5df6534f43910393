/* What assumptions change, and what can be assumed. */
#include "cli/plan_diff.h"
#include "cli/what_if.h"

/* TUNING: of each list, without -v */
#define LINES 20u

static void
tell_failing(const struct what_if *w, struct answer *a)
{
	if (w->job.nassume)
		ANSWER(a,
		    "  (the condition {?matches_failing fails at {matches_failing} "
		    "match{es matches_failing}, at {matches_otherwise_legal} of "
		    "them it alone}{!matches_failing holds at every match})\n",
		    F("matches_failing", w->failing),
		    F("matches_otherwise_legal", w->otherwise_legal));
}

static void
tell_change(const struct what_if *w, struct answer *a)
{
	const struct plan_shift *s = &w->shift;
	cost_ns delta = (cost_ns)(s->delta < 0 ? -s->delta : s->delta);

	ANSWER(a,
	    "{!delta no change: the plan costs {was:t} {was_basis} as before}"
	    "{?delta {plan_cost_ns:t} {basis} instead of {was:t} {was_basis}, "
	    "{way} {delta:t} ({percent:.1f} %), {noise}}{!proven ; not proven "
	    "optimal}\n",
	    F("plan_cost_ns", s->to->cost), IS("proven", s->to->proven),
	    T("basis", plan_basis(s->to)), T("was", s->from->cost),
	    T("was_basis", plan_basis(s->from)), T("delta", delta),
	    T("way", s->delta < 0 ? "saving" : "costlier by"),
	    T("percent",
	        100.0 * (double)delta
	            / (double)(s->from->cost + !s->from->cost)),
	    T("noise", shift_noise_text(s, w->job.arena)));
	shift_tell(
	    a, s, 2, w->job.args->cli->verbosity > 0 ? UINT32_MAX : LINES);
}

void
what_if_tell(const struct what_if *w, struct answer *a)
{
	answer_object(a, "what_if");
	for (uint32_t i = 0; i < w->text->n; i++)
		ANSWER(a, "{?i  and}{!i what if} {it}", T("i", i),
		    T("it", w->text->text[i]));
	answer_words(a, "assumed", w->text->text, w->text->n);
	ANSWER(a, ": {!legal no legal plan\n}", IS("legal", w->found));
	if (w->found)
		tell_change(w, a);
	tell_failing(w, a);
	answer_close(a);
}

void
what_if_list(const struct job *j, struct answer *a)
{
	const struct candidates *c = &j->candidates;

	answer_object(a, "assumable");
	ANSWER(
	    a, "{head}", T("head", "conditions (matches checked, failing):\n"));
	answer_list(a, "conditions");
	for (uint32_t i = 0; i < c->nconditions; i++)
		if (what_if_may_assume(j, &c->condition[i]))
			ANSWER_LINE(a,
			    "  {target}:{condition} ({checked}, {failing})\n",
			    F("target",
			        j->mix.target[c->condition[i].target]
			            .kind->name),
			    F("condition", c->condition[i].condition),
			    F("checked", c->condition[i].asked),
			    F("failing", c->condition[i].failed));
	answer_close(a);
	ANSWER(a, "{head}",
	    T("head",
	        "targets, as NODE=TARGET, free:TARGET..TARGET, "
	        "free:launch:TARGET:\n"));
	answer_list(a, "targets");
	for (uint32_t t = 0; t < j->mix.n; t++)
		ANSWER_LINE(a, "  {target}{?launches  (pays launches)}\n",
		    F("target", j->mix.target[t].text),
		    IS("launches", j->mix.target[t].kind->launches));
	answer_close(a);
	ANSWER(a, "{head}", T("head", "formats, as free:FORMAT..FORMAT:\n"));
	answer_list(a, "formats");
	for (uint32_t f = 0; f < j->mix.formats.n; f++)
		ANSWER_LINE(a, "  {format}\n",
		    F("format",
		        format_text(j->mix.formats.format[f], j->arena)));
	answer_close(a);
	answer_close(a);
}
