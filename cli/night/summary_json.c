/* summary.json (its schema: share/schema/batch.json) and summary.csv. */
#include <string.h>

#include "cli/night/happened.h"
#include "cli/night/summary.h"
#include "cli/night/words.h"
#include "ir/base/json.h"

static void
write_totals(struct json *j, const struct summary *s)
{
	json_key(j, "totals");
	json_object(j);
	json_key_uint(j, "units", s->night->nunits);
	json_key_uint(j, "done", s->done);
	json_key_uint(j, "failed", s->failed);
	json_key_uint(j, "not_run", s->left);
	json_key_uint(j, "kept", s->kept);
	json_key_uint(j, "measured", s->measured);
	json_key_uint(j, "reused", s->reused);
	json_key_uint(j, "took_ms", s->took_ms);
	json_key(j, "findings");
	json_object(j);
	for (int i = 0; i < NEVENTS; i++)
		json_key_uint(
		    j, event_key((enum event)i), s->findings.count[i]);
	json_close(j);
	json_close(j);
}

static void
write_findings(struct json *j, const struct summary *s)
{
	json_key(j, "findings");
	json_array(j);
	for (uint32_t i = 0; i < s->findings.n; i++) {
		const struct finding *f = &s->findings.item[i];

		json_object(j);
		json_key_str(j, "kind", event_key(f->kind));
		json_key_str(j, "unit", s->night->unit[f->unit].name);
		json_key_str(j, "what", f->what);
		json_key_str(j, "why", f->why);
		json_key_str(j, "command", f->command);
		json_close(j);
	}
	json_close(j);
}

static void
write_before(struct json *j, const struct summary *s, const char *name)
{
	const struct night_unit *u;
	uint64_t best = 0;
	uint32_t when;

	u = history_last_good(s->history, s->at, name, &when);
	if (u)
		json_key_uint(j, "before_ns", u->status.cost_ns);
	for (uint32_t i = s->at; u;
	     u = history_last_good(s->history, i, name, &i))
		if (best == 0 || u->status.cost_ns < best)
			best = u->status.cost_ns;
	if (best)
		json_key_uint(j, "best_before_ns", best);
}

static void
write_figures(struct json *j, const struct summary *s, uint32_t i)
{
	const struct night_unit *n = &s->night->unit[i];
	const struct unit_status *u = &n->status;

	json_key_uint(j, "cost_ns", u->cost_ns);
	json_key_uint(j, "lower_bound_ns", u->lower_bound_ns);
	json_key_bool(j, "proven", u->proven);
	if (u->among_regions)
		json_key_uint(j, "among_regions", u->among_regions);
	json_key_bool(j, "estimated", u->estimated);
	json_key_uint(j, "unpriced", n->unpriced);
	json_key_uint(j, "regions", u->regions);
	json_key_str(j, "best_baseline", u->baseline);
	json_key_uint(j, "best_baseline_ns", u->baseline_ns);
	json_key_bool(j, "best_baseline_bound", u->baseline_bound);
	if (*u->confirmation)
		json_key_str(j, "confirmation", u->confirmation);
	if (u->confirmed > 0)
		json_key_real(j, "confirmed_ratio", u->confirmed);
	json_key_bool(j, "wins", s->wins[i]);
	json_key_str(j, "result", n->result);
	json_key_str(j, "plan", n->plan);
	json_key_uint(j, "measured", u->measured);
	json_key_uint(j, "reused", u->reused);
	put_measured_why(j, n->why);
}

static void
write_unit(struct json *j, const struct summary *s, uint32_t i)
{
	const struct night_unit *u = &s->night->unit[i];

	json_object(j);
	json_key_str(j, "unit", u->name);
	json_key_str(j, "model", u->model);
	json_key_str(j, "mix", u->mix);
	json_key_str(j, "shape", u->shape);
	json_key_bool(j, "ended", u->status.ended);
	json_key_bool(j, "ran", u->ran);
	json_key_int(j, "exit", u->status.exit);
	if (unit_succeeded(u))
		write_figures(j, s, i);
	else
		json_key_str(j, "error", u->status.error);
	json_key_uint(j, "took_ms", u->status.took_ms);
	write_before(j, s, u->name);
	json_key_bool(
	    j, "regressed", findings_has(&s->findings, EVENT_REGRESSED, i));
	json_close(j);
}

static void
write_night(struct json *j, const struct summary *s, uint32_t i)
{
	const struct night *n = &s->history->night[i];
	uint32_t done = 0, failed = 0;

	for (uint32_t k = 0; k < n->nunits; k++) {
		done += unit_succeeded(&n->unit[k]);
		failed +=
		    n->unit[k].status.ended && !unit_succeeded(&n->unit[k]);
	}
	json_inline_object(j);
	json_key_uint(j, "night", n->number);
	json_key_str(j, "began", night_time(n->began, s->a));
	json_key_str(j, "state", night_state_word(n->state));
	json_key_uint(j, "units", n->nunits);
	json_key_uint(j, "done", done);
	json_key_uint(j, "failed", failed);
	json_key_str(j, "happened", night_happened(s->history, i, s->a));
	json_close(j);
}

bool
write_summary_json(FILE *f, void *context, struct err *err)
{
	const struct summary *s = context;
	struct json j;

	(void)err;
	json_init(&j, f, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.batch/2");
	json_key_str(&j, "manifest", s->manifest);
	json_key_uint(&j, "night", s->night->number);
	json_key_str(&j, "state", night_state_word(s->night->state));
	json_key_str(&j, "began", night_time(s->night->began, s->a));
	json_key_str(&j, "ended", night_time(s->night->ended, s->a));
	write_totals(&j, s);
	write_findings(&j, s);
	json_key(&j, "units");
	json_array(&j);
	for (uint32_t i = 0; i < s->night->nunits; i++)
		write_unit(&j, s, i);
	json_close(&j);
	json_key(&j, "nights");
	json_array(&j);
	for (uint32_t i = 0; i < s->history->n; i++)
		write_night(&j, s, i);
	json_close(&j);
	json_close(&j);
	return true;
}

/* Names of units hold no quotes and no commas; messages may. */
static void
put_cell(FILE *f, const char *text)
{
	putc('"', f);
	for (; *text; text++) {
		if (*text == '"')
			putc('"', f);
		putc(*text, f);
	}
	putc('"', f);
}

bool
write_summary_csv(FILE *f, void *context, struct err *err)
{
	const struct summary *s = context;

	(void)err;
	fputs("night,date,unit,model,mix,shape,exit,cost_ns,lower_bound_ns,"
	      "proven,estimated,unpriced,baseline_ns,measured,reused,took_ms,"
	      "before_ns,regressed,error,among_regions\r\n",
	    f);
	for (uint32_t i = 0; i < s->night->nunits; i++) {
		const struct night_unit *u = &s->night->unit[i];
		const struct unit_status *t = &u->status;
		const struct night_unit *was;
		uint32_t when;

		if (!t->ended)
			continue;
		was = history_last_good(s->history, s->at, u->name, &when);
		fprintf(f, "%u,%s,%s,%s,%s,%s,%d,", s->night->number,
		    night_date(s->night->began, s->a), u->name, u->model,
		    u->mix, u->shape, t->exit);
		fprintf(f, "%llu,%llu,%d,%d,%u,%llu,%u,%u,%llu,%llu,%d,",
		    (unsigned long long)t->cost_ns,
		    (unsigned long long)t->lower_bound_ns, t->proven,
		    t->estimated, u->unpriced,
		    (unsigned long long)t->baseline_ns, t->measured, t->reused,
		    (unsigned long long)t->took_ms,
		    was ? (unsigned long long)was->status.cost_ns : 0,
		    findings_has(&s->findings, EVENT_REGRESSED, i));
		put_cell(f, t->error);
		fprintf(f, ",%u\r\n", t->among_regions);
	}
	return true;
}
