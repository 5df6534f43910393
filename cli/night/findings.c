#include "cli/night/findings.h"

#include <stdlib.h>
#include <string.h>

#include "cli/diff.h"
#include "cli/night/store.h"
#include "cli/night/words.h"
#include "ir/base/buf.h"
#include "ir/base/file.h"
#include "ir/base/plural.h"
#include "ir/base/shell.h"

static const struct {
	const char *key, *word, *counted, *class;
} events[NEVENTS] = {
#define EVENT(kind, word, counted, class) {#kind, word, counted, class},
#include "cli/night/events.def"
#undef EVENT
};

const char *
event_word(enum event e)
{
	return events[e].word;
}

const char *
event_counted(enum event e)
{
	return events[e].counted;
}

const char *
event_class(enum event e)
{
	return events[e].class;
}

const char *
event_key(enum event e)
{
	return events[e].key;
}

/* TUNING: a stored figure timed again may be off that much, in thousandths. */
#define DRIFT_PERMILLE 50u
/* A mix with more targets may cost that much more: ties are broken by noise. */
#define CONTRADICTION 1.001

struct finder {
	struct night_findings *out;
	const struct history *history;
	const struct night *night;
	uint32_t at; /* of the night in the history */
	const char *manifest;
	struct arena *a;
	uint32_t cap;
};

static void
find(struct finder *f, enum event kind, uint32_t unit, const char *what,
    const char *why, const char *command)
{
	struct night_findings *out = f->out;

	out->item =
	    arena_grow(f->a, out->item, &f->cap, out->n + 1, sizeof *out->item);
	out->item[out->n++] = (struct finding){kind, unit, what, why, command};
	out->count[kind]++;
}

/* As a shell takes it. */
static const char *
folder_of(struct finder *f, const struct night_unit *u)
{
	return shell_quote(
	    arena_printf(f->a, "%s/%s", f->history->out, u->name), f->a);
}

static const char *
compare_command(struct finder *f, const struct night_unit *u, uint32_t was)
{
	return arena_printf(f->a, "marq compare --night %u --night %u %s",
	    f->history->night[was].number, f->night->number, folder_of(f, u));
}

static const char *
again_command(struct finder *f, const struct night_unit *u, const char *options)
{
	return arena_printf(f->a, "marq batch %s%s --only %s",
	    shell_quote(f->manifest, f->a), options,
	    shell_quote(u->name, f->a));
}

/* ---- why a cost moved ---- */

static void
say_part(struct buf *b, const char *text)
{
	buf_printf(b, "%s%s", b->n ? "; " : "", text);
}

static void
say_price(struct buf *b, const struct diff *d, struct arena *a)
{
	const struct repriced *r = &d->repriced[0];
	const struct view_composite *x = &d->a->composite[r->before];
	const struct view_composite *y = &d->b->composite[r->after];

	say_part(b,
	    arena_printf(a, "%u price%s changed, most: %s %s %s, %s",
	        d->nrepriced, plural(d->nrepriced), d->a->kind[x->target],
	        x->rule, brief(x->price.cost, a),
	        arena_printf(a, "now %s", brief(y->price.cost, a))));
}

/* TUNING: facts named; the command has them all. */
#define FACTS_NAMED 2

static const char *
say_why(const struct diff *d, struct arena *a)
{
	const char *why;
	struct buf b;

	buf_init(&b);
	for (uint32_t i = 0; i < d->nfacts && i < FACTS_NAMED; i++)
		say_part(&b, d->fact[i]);
	if (d->match.nadded + d->match.nremoved)
		say_part(&b,
		    arena_printf(a,
		        "the model is another one (nodes: %u more, %u gone)",
		        d->match.nadded, d->match.nremoved));
	if (d->nmoves)
		say_part(&b,
		    arena_printf(a, "%u node%s on another target", d->nmoves,
		        plural(d->nmoves)));
	if (d->nways)
		say_part(&b,
		    arena_printf(a, "%u node%s implemented otherwise", d->nways,
		        plural(d->nways)));
	if (d->nrepriced)
		say_price(&b, d, a);
	if (b.n == 0)
		say_part(&b, "its options are others");
	why = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return why;
}

/* ---- against the night before ---- */

static const char *
say_change(
    const struct night_unit *was, const struct night_unit *u, struct arena *a)
{
	return arena_printf(a, "%s → %s, %s", unit_cost(was, a),
	    unit_cost(u, a), change(was->status.cost_ns, u->status.cost_ns, a));
}

static bool
moved(const struct night_unit *was, const struct night_unit *u)
{
	const double share =
	    (double)u->status.cost_ns / (double)was->status.cost_ns - 1;

	return share > DIFF_THRESHOLD || share < -DIFF_THRESHOLD;
}

/* A cheaper plan that was no faster when it was run leaves nothing to prove. */
static bool
is_settled(const struct unit_status *s)
{
	return s->proven || strcmp(s->confirmation, "not confirmed") == 0;
}

static void
judge(struct finder *f, uint32_t i, const struct night_unit *was, uint32_t when,
    const struct diff *d)
{
	const struct night_unit *u = &f->night->unit[i];
	const bool lost = was->status.proven && !is_settled(&u->status);
	const char *command = compare_command(f, u, when), *what;
	enum event kind;

	if (d->verdict == DIFF_SLOWER && !lost)
		kind = EVENT_REGRESSED;
	else if (d->verdict == DIFF_FASTER)
		kind = EVENT_IMPROVED;
	else if (d->verdict == DIFF_SAME && strcmp(was->plan, u->plan) != 0)
		kind = EVENT_REPLANNED;
	else if (d->verdict == DIFF_SAME && moved(was, u))
		kind = EVENT_DRIFT;
	else
		return;
	if (kind == EVENT_REPLANNED && !moved(was, u))
		what = arena_printf(f->a, "%s, as before", unit_cost(u, f->a));
	else if (d->verdict == DIFF_SAME)
		what = arena_printf(
		    f->a, "%s, within noise", say_change(was, u, f->a));
	else
		what = say_change(was, u, f->a);
	find(f, kind, i, what, say_why(d, f->a), command);
}

static bool
are_kept(
    struct finder *f, const struct night_unit *x, const struct night_unit *y)
{
	return store_has(f->history->out, x->result, f->a)
	    && store_has(f->history->out, y->result, f->a);
}

/* What somebody damages or removes while it is read is as what is not kept. */
static bool
compare(struct finder *f, uint32_t i, const struct night_unit *was,
    uint32_t when, struct err *err)
{
	const struct night_unit *u = &f->night->unit[i];
	const char *out = f->history->out;
	struct result_view x = {.path = NULL}, y = {.path = NULL};
	struct diff d;
	bool ok;

	if (strcmp(was->result, u->result) == 0 || !are_kept(f, was, u))
		return true;
	ok = result_view_read(&x, store_path(out, was->result, f->a), f->a, err)
	    && result_view_read(
	        &y, store_path(out, u->result, f->a), f->a, err);
	if (ok) {
		diff_make(&d, &x, &y, DIFF_THRESHOLD, f->a);
		judge(f, i, was, when, &d);
	}
	result_view_close(&x);
	result_view_close(&y);
	if (!ok && !are_kept(f, was, u)) {
		err_clear(err);
		return true;
	}
	return ok;
}

/* ---- of a night alone ---- */

static const char *
why_unproven(struct finder *f, const struct night_unit *u)
{
	if (u->unpriced)
		return arena_printf(f->a,
		    "%u composite%s known by a lower "
		    "bound only%s%s",
		    u->unpriced, plural(u->unpriced), u->notes[0] ? "; " : "",
		    u->notes);
	return u->notes[0]
	    ? u->notes
	    : "the search ended before it proved its plan: by its "
	      "budget, or a searcher that proves nothing";
}

static void
find_unproven(struct finder *f, uint32_t i, const struct night_unit *was)
{
	const struct night_unit *u = &f->night->unit[i];

	if (is_settled(&u->status))
		return;
	find(f, was && was->status.proven ? EVENT_LOST_PROOF : EVENT_UNPROVEN,
	    i,
	    u->status.lower_bound_ns ? arena_printf(f->a, "%s, bound %s",
	        unit_cost(u, f->a), brief(u->status.lower_bound_ns, f->a))
	                             : unit_cost(u, f->a),
	    why_unproven(f, u), again_command(f, u, ""));
}

static void
find_failed(struct finder *f, uint32_t i, const struct night_unit *was)
{
	const struct night_unit *u = &f->night->unit[i];

	find(f, EVENT_FAILED, i,
	    was ? arena_printf(f->a, "no plan (exit status %d); last good %s",
	        u->status.exit, brief(was->status.cost_ns, f->a))
	        : arena_printf(
	            f->a, "no plan (exit status %d)", u->status.exit),
	    u->status.error[0] ? u->status.error : "it said nothing",
	    again_command(f, u, " --retry-failed"));
}

static void
find_prices(struct finder *f, uint32_t i, const struct night_unit *was)
{
	const struct night_unit *u = &f->night->unit[i];
	const uint32_t drift = u->drift_permille;

	if (u->ran && drift
	    && (drift < 1000 - DRIFT_PERMILLE || drift > 1000 + DRIFT_PERMILLE))
		find(f, EVENT_DRIFT, i,
		    arena_printf(f->a,
		        "stored prices timed again take %.2f times what they did",
		        (double)drift / 1000),
		    "the machine is not what it was when they were measured",
		    arena_printf(f->a, "marq db canary %s%s%s", folder_of(f, u),
		        u->db[0] ? " --db " : "",
		        u->db[0] ? shell_quote(u->db, f->a) : ""));
	if (u->ran && u->nunbuilt > (was ? was->nunbuilt : 0))
		find(f, EVENT_UNBUILT, i,
		    arena_printf(f->a, "%u candidate%s, %u the night before",
		        u->nunbuilt, plural(u->nunbuilt),
		        was ? was->nunbuilt : 0),
		    u->unbuilt,
		    arena_printf(
		        f->a, "marq explain %s --all", folder_of(f, u)));
}

/* ---- a mix that contains another ---- */

static bool
has_line(const char *lines, const char *line, size_t n)
{
	for (const char *s = lines; *s; s += strcspn(s, "\n"), s += *s == '\n')
		if (strcspn(s, "\n") == n && strncmp(s, line, n) == 0)
			return true;
	return false;
}

static bool
contains(const char *all, const char *some)
{
	for (const char *s = some; *s; s += strcspn(s, "\n"), s += *s == '\n')
		if (!has_line(all, s, strcspn(s, "\n")))
			return false;
	return some[0] && strlen(all) > strlen(some);
}

static const char *
why_contradicts(const struct night_unit *more, const struct night_unit *few,
    struct arena *a)
{
	if (few->unpriced)
		return arena_printf(a,
		    "%u composite%s of %s known by a lower bound only: its "
		    "figure is no price",
		    few->unpriced, few->unpriced == 1 ? " is" : "s are",
		    few->name);
	if (!more->status.proven)
		return arena_printf(
		    a, "%s is not proven: a cheaper plan is there", more->name);
	if (!few->status.proven)
		return arena_printf(a, "%s is not proven", few->name);
	if (more->status.estimated || few->status.estimated)
		return "they rest on estimates";
	return "the two searches had other prices, or other options";
}

static void
find_contradiction(struct finder *f, uint32_t i)
{
	const struct night_unit *u = &f->night->unit[i], *few = NULL;

	for (uint32_t k = 0; k < f->night->nunits; k++) {
		const struct night_unit *o = &f->night->unit[k];

		if (unit_succeeded(o) && strcmp(o->model, u->model) == 0
		    && strcmp(o->shape, u->shape) == 0
		    && contains(u->targets, o->targets)
		    && (double)u->status.cost_ns
		        > CONTRADICTION * (double)o->status.cost_ns
		    && (!few || o->status.cost_ns < few->status.cost_ns))
			few = o;
	}
	if (few)
		find(f, EVENT_CONTRADICTS, i,
		    arena_printf(f->a, "%s, but %s, with fewer targets, %s",
		        unit_cost(u, f->a), few->mix, unit_cost(few, f->a)),
		    why_contradicts(u, few, f->a),
		    arena_printf(f->a, "marq compare %s %s", folder_of(f, few),
		        folder_of(f, u)));
}

/* ---- all ---- */

static bool
find_unit(struct finder *f, uint32_t i, struct err *err)
{
	const struct night_unit *u = &f->night->unit[i], *was;
	uint32_t when = 0;

	if (!u->status.ended)
		return true;
	was = history_last_good(f->history, f->at, u->name, &when);
	if (!unit_succeeded(u)) {
		find_failed(f, i, was);
		return true;
	}
	if (was && !compare(f, i, was, when, err))
		return false;
	find_contradiction(f, i);
	find_unproven(f, i, was);
	find_prices(f, i, was);
	return true;
}

static int
by_urgency(const void *x, const void *y)
{
	const struct finding *a = x, *b = y;

	if (a->kind != b->kind)
		return a->kind < b->kind ? -1 : 1;
	return (a->unit > b->unit) - (a->unit < b->unit);
}

bool
findings_make(struct night_findings *out, const struct history *h, uint32_t i,
    const char *manifest, struct arena *a, struct err *err)
{
	struct finder f = {.out = out,
	    .history = h,
	    .night = &h->night[i],
	    .at = i,
	    .manifest = manifest,
	    .a = a};

	*out = (struct night_findings){.n = 0};
	for (uint32_t k = 0; k < f.night->nunits; k++)
		if (!find_unit(&f, k, err))
			return false;
	if (out->n > 1)
		qsort(out->item, out->n, sizeof *out->item, by_urgency);
	return true;
}

bool
findings_has(const struct night_findings *f, enum event kind, uint32_t unit)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->item[i].kind == kind && f->item[i].unit == unit)
			return true;
	return false;
}
