/* The difference of two tuning databases, for people and for programs. */
#include "cli/answer.h"
#include "cli/statistics.h"
#include "cli/units.h"

/* TUNING: what fits a screen, of each kind of line */
#define LINES 10u

static const char *
kind_of(const struct statistic_pair *p)
{
	if (!p->b)
		return "gone";
	if (!p->a)
		return "new";
	if (!p->a->ns || !p->b->ns)
		return "outcome";
	return p->delta > 0 ? "slower" : "faster";
}

/* "15 us (14 us .. 16 us)", or how it failed. */
static const char *
side_text(const struct statistic *f, struct arena *a)
{
	char text[32], low[32], high[32];

	if (!f)
		return "";
	if (f->ns == 0)
		return f->outcome;
	return arena_printf(a, "%s (%s .. %s)",
	    format_duration(f->ns, text, sizeof text),
	    format_duration(f->low, low, sizeof low),
	    format_duration(f->high, high, sizeof high));
}

static void
tell_side(struct answer *a, const char *key, const struct statistic *f)
{
	if (!f)
		return;
	answer_object(a, key);
	ANSWER(a, NULL, F("outcome", f->outcome), F("attempts", f->attempts));
	if (f->ns)
		ANSWER(a, NULL, F("ns", f->ns), F("low_ns", f->low),
		    F("high_ns", f->high));
	answer_close(a);
}

static void
tell_pair(struct answer *a, const struct statistic_pair *p, bool said)
{
	const struct statistic *f = p->a ? p->a : p->b;
	struct arena arena;

	arena_init(&arena);
	answer_row(a);
	ANSWER(a,
	    said ? "  {change:-7}  {was}{?both  -> }{is}{?delta , "
	           "{percent:+.1f} %}: {place}, {summary}\n"
	         : NULL,
	    F("change", kind_of(p)), F("target", f->target),
	    F("summary", f->summary), T("was", side_text(p->a, &arena)),
	    T("is", side_text(p->b, &arena)), T("both", p->a && p->b),
	    T("delta", p->delta),
	    T("percent",
	        p->delta ? 100 * (double)p->delta / (double)p->a->ns : 0),
	    T("place", f->target[0] ? f->target : "host"));
	tell_side(a, "base", p->a);
	tell_side(a, "other", p->b);
	answer_close(a);
	arena_release(&arena);
}

static void
tell_counts(struct answer *a, const struct statistics_diff *d)
{
	ANSWER(a,
	    "{base} -> {other}\n{both} price{s both} in both: {same} as before or "
	    "inside the noise, {slower} slower, {faster} faster, "
	    "{outcome_changed} with another outcome; {only_base} only in the "
	    "first, {only_other} only in the second\n",
	    F("base", d->path_a), F("other", d->path_b), F("both", d->nboth),
	    F("same", d->nsame), F("slower", d->nslower),
	    F("faster", d->nfaster), F("outcome_changed", d->nfailed),
	    F("only_base", d->nonly_a), F("only_other", d->nonly_b));
	for (uint32_t i = 0; i < d->nfacts; i++)
		ANSWER(a, "  environment: {it}\n", T("it", d->fact[i]));
	answer_words(a, "environment", d->fact, d->nfacts);
}

void
statistics_tell(const struct cli *c, const struct statistics_diff *d)
{
	const bool all = c->verbosity > 0;
	const char *last = "";
	uint32_t lines = 0, left = 0;
	struct answer a;

	answer_begin(&a, c, "marq.compare-db/1");
	tell_counts(&a, d);
	answer_list(&a, "prices");
	for (uint32_t i = 0; i < d->npairs; i++) {
		const char *kind = kind_of(&d->pair[i]);

		lines = kind == last ? lines + 1 : 1;
		last = kind;
		tell_pair(&a, &d->pair[i], all || lines <= LINES);
		left += !all && lines > LINES;
	}
	answer_close(&a);
	ANSWER(&a, "{?left   ... and {left} more (-v)\n}", T("left", left));
	answer_end(&a);
}
