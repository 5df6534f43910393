/* summary.md: for terminals, mails and chats. */
#include <string.h>

#include "cli/night/happened.h"
#include "cli/night/summary.h"
#include "cli/night/words.h"

static void
write_row(FILE *f, const struct summary *s, uint32_t i)
{
	const struct night_unit *n = &s->night->unit[i], *was;
	const struct unit_status *u = &n->status;
	uint32_t when;

	if (!u->ended) {
		fprintf(f, "| %s | not run yet | | | |\n", n->name);
		return;
	}
	if (!unit_succeeded(n)) {
		fprintf(f, "| %s | failed (exit %d) | | | %s |\n", n->name,
		    u->exit, u->error);
		return;
	}
	fprintf(f, "| %s | %s%s | ", n->name, unit_cost(n, s->a),
	    s->wins[i] ? " **wins**" : "");
	if (u->baseline_ns && !(u->baseline_bound && u->estimated))
		fprintf(f, "%s%.3f of %s", u->baseline_bound ? "at most " : "",
		    (double)u->cost_ns / (double)u->baseline_ns, u->baseline);
	fputs(confirmation_of(u, s->a), f);
	fprintf(f, " | %s | ", proof_of(u, s->a));
	was = history_last_good(s->history, s->at, n->name, &when);
	if (was)
		fprintf(f, "%s since night %u%s",
		    change(was->status.cost_ns, u->cost_ns, s->a),
		    s->history->night[when].number,
		    findings_has(&s->findings, EVENT_REGRESSED, i)
		        ? ": **regressed**"
		        : findings_has(&s->findings, EVENT_LOST_PROOF, i)
		        ? ": not proven, and it was"
		        : "");
	fputs(" |\n", f);
}

static void
write_totals(FILE *f, const struct summary *s)
{
	fprintf(f, "%u of %u searches done", s->done, s->night->nunits);
	for (int i = 0; i < NEVENTS; i++)
		if (s->findings.count[i])
			fprintf(f, ", %u %s", s->findings.count[i],
			    event_counted((enum event)i));
	if (s->left)
		fprintf(f, ", %u not run", s->left);
	fprintf(f, ". %llu prices measured, %llu reused, %s.\n",
	    (unsigned long long)s->measured, (unsigned long long)s->reused,
	    long_time(s->took_ms, s->a));
}

bool
write_summary_text(FILE *f, void *context, struct err *err)
{
	const struct summary *s = context;
	const char *happened = night_happened(s->history, s->at, s->a);

	(void)err;
	fprintf(f, "# Night %u, %s\n\n", s->night->number,
	    night_date(s->night->began, s->a));
	write_totals(f, s);
	if (happened[0])
		fprintf(f, "\n%s.\n", happened);
	fputs("\n## Look at these\n\n", f);
	for (uint32_t i = 0; i < s->findings.n; i++) {
		const struct finding *x = &s->findings.item[i];

		fprintf(f, "- **%s** %s: %s. %s.\n  `%s`\n",
		    event_word(x->kind), s->night->unit[x->unit].name, x->what,
		    x->why, x->command);
	}
	if (s->findings.n == 0)
		fputs("Nothing: all as the night before.\n", f);
	fputs(
	    "\n## Searches\n\n"
	    "| unit | predicted latency | against the best baseline | optimal "
	    "| notes |\n|---|---|---|---|---|\n",
	    f);
	for (uint32_t i = 0; i < s->night->nunits; i++)
		write_row(f, s, i);
	return true;
}
