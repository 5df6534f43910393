/* What assumptions change, in words and in JSON, and what can be assumed. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/shift_print.h"
#include "cli/units.h"
#include "cli/what_if.h"
#include "ir/base/json.h"

/* TUNING: of each list, without -v */
#define LINES 20u

static void
print_failing(const struct what_if *w)
{
	if (w->job.nassume == 0)
		return;
	if (w->failing == 0)
		puts("  (the condition holds at every match)");
	else
		printf("  (the condition fails at %" PRIu32
		       " match%s, at %" PRIu32 " of them it alone)\n",
		    w->failing, w->failing == 1 ? "" : "es",
		    w->otherwise_legal);
}

static void
print_change(const struct what_if *w)
{
	const struct plan_shift *s = &w->shift;
	char was[32], is[32], size[32];
	cost_ns delta = (cost_ns)(s->delta < 0 ? -s->delta : s->delta);

	format_duration(s->from->cost, was, sizeof was);
	format_duration(s->to->cost, is, sizeof is);
	format_duration(delta, size, sizeof size);
	if (s->delta == 0)
		printf("no change: the plan costs %s %s as before", was,
		    plan_basis(s->from));
	else
		printf("%s %s instead of %s %s, %s %s (%.1f %%), %s", is,
		    plan_basis(s->to), was, plan_basis(s->from),
		    s->delta < 0 ? "saving" : "costlier by", size,
		    100.0 * (double)delta
		        / (double)(s->from->cost + !s->from->cost),
		    shift_noise_text(s, w->job.arena));
	if (!s->to->proven)
		fputs("; not proven optimal", stdout);
	putchar('\n');
	shift_print(s, 2, w->job.args->cli->verbosity > 0 ? UINT32_MAX : LINES);
}

void
what_if_print(const struct what_if *w)
{
	fputs("what if", stdout);
	for (uint32_t i = 0; i < w->text->n; i++)
		printf("%s %s", i ? " and" : "", w->text->text[i]);
	fputs(": ", stdout);
	if (!w->found) {
		puts("no legal plan");
		print_failing(w);
		return;
	}
	print_change(w);
	print_failing(w);
}

void
what_if_write(const struct what_if *w, struct json *j)
{
	json_key(j, "what_if");
	json_object(j);
	json_key(j, "assumed");
	json_array(j);
	for (uint32_t i = 0; i < w->text->n; i++)
		json_str(j, w->text->text[i]);
	json_close(j);
	json_key_bool(j, "legal", w->found);
	if (w->job.nassume) {
		json_key_uint(j, "matches_failing", w->failing);
		json_key_uint(j, "matches_otherwise_legal", w->otherwise_legal);
	}
	if (w->found) {
		json_key_uint(j, "plan_cost_ns", w->shift.to->cost);
		json_key_bool(j, "proven", w->shift.to->proven);
		shift_write(j, &w->shift);
	}
	json_close(j);
}

void
what_if_list(const struct job *j)
{
	const struct candidates *c = &j->candidates;

	puts("conditions (matches checked, failing):");
	for (uint32_t i = 0; i < c->nconditions; i++) {
		if (!what_if_may_assume(j, &c->condition[i]))
			continue;
		printf("  %s:%s (%" PRIu32 ", %" PRIu32 ")\n",
		    j->mix.target[c->condition[i].target].kind->name,
		    c->condition[i].condition, c->condition[i].asked,
		    c->condition[i].failed);
	}
	puts("targets, as NODE=TARGET, free:TARGET..TARGET, "
	     "free:launch:TARGET:");
	for (uint32_t t = 0; t < j->mix.n; t++)
		printf("  %s%s\n", j->mix.target[t].text,
		    j->mix.target[t].kind->launches ? " (pays launches)" : "");
	puts("formats, as free:FORMAT..FORMAT:");
	for (uint32_t f = 0; f < j->mix.formats.n; f++)
		printf(
		    "  %s\n", format_text(j->mix.formats.format[f], j->arena));
}
