#include "cli/what_if.h"

#include <string.h>

/* TUNING: names of conditions in one message; an error has 512 bytes */
#define NAMES_BYTES 300u

static bool
starts_with(const char *text, const char *start)
{
	return strncmp(text, start, strlen(start)) == 0;
}

/* ---- a condition ---- */

/* Where prices are measured, what is refused has no kernel to be timed. */
bool
what_if_may_assume(const struct job *j, const struct condition_count *c)
{
	return j->mix.target[c->target].kind->source != PRICE_MEASURED;
}

static const char *
failing_conditions(const struct job *base, uint64_t targets, struct arena *a)
{
	const char *list = "";

	for (uint32_t i = 0; i < base->candidates.nconditions; i++) {
		const struct condition_count *c =
		    &base->candidates.condition[i];

		if (c->failed == 0 || !(targets >> c->target & 1)
		    || !what_if_may_assume(base, c))
			continue;
		if (strlen(list) + strlen(c->condition) > NAMES_BYTES)
			return arena_printf(a, "%s, ...", list);
		list = arena_printf(a, "%s%s%s:%s", list, list[0] ? ", " : "",
		    base->mix.target[c->target].kind->name, c->condition);
	}
	return list[0] ? list : "none";
}

/* "rank=true" as "rank". */
static const char *
condition_name(const char *text, struct arena *a)
{
	const char *end = strrchr(text, '=');

	return end && strcmp(end, "=true") == 0
	    ? arena_strn(a, text, (size_t)(end - text))
	    : text;
}

static bool
assume_condition(struct what_if *w, const char *text, const struct job *base,
    struct err *err)
{
	struct arena *a = w->job.arena;
	const char *name;
	uint64_t targets = constraint_prefix(text, &base->mix, &name, a);
	uint64_t asked = 0, refused = 0;

	name = condition_name(name, a);
	if (!targets)
		targets = UINT64_MAX;
	for (uint32_t i = 0; i < base->candidates.nconditions; i++) {
		const struct condition_count *c =
		    &base->candidates.condition[i];

		if (strcmp(c->condition, name) == 0)
			*(what_if_may_assume(base, c) ? &asked : &refused) |=
			    UINT64_C(1) << c->target;
	}
	if (!(asked & targets) && (refused & targets))
		return err_set(err, ERR_USAGE,
		    "what if '%s': this target's prices are measured, and "
		    "there is no kernel to measure for what it refuses",
		    text);
	if (!(asked & targets))
		return err_set(err, ERR_USAGE,
		    "what if '%s': no such condition here; failing ones: %s "
		    "(--what-if list shows all)",
		    text, failing_conditions(base, targets, a));
	w->assume[w->job.nassume++] =
	    (struct assumption){name, asked & targets};
	return true;
}

static bool
is_assumed(const struct what_if *w, const struct refusal *r, const char *name)
{
	for (uint32_t i = 0; i < w->job.nassume; i++)
		if (w->assume[i].targets >> r->target & 1
		    && strcmp(w->assume[i].condition, name) == 0)
			return true;
	return false;
}

static void
count_refusals(struct what_if *w, const struct job *base)
{
	for (uint32_t i = 0; i < base->candidates.nrefusals; i++) {
		const struct refusal *r = &base->candidates.refusal[i];
		uint32_t assumed = 0, other = 0;

		for (uint32_t k = 0; k < r->nreasons; k++)
			if (!r->reason[k].holds
			    && is_assumed(w, r, r->reason[k].condition))
				assumed++;
			else
				other += !r->reason[k].holds;
		w->failing += assumed > 0;
		w->otherwise_legal += assumed > 0 && other == 0;
	}
}

/* ---- a move ---- */

static const char *
format_names(const struct mix *m, struct arena *a)
{
	const char *list = "";

	for (uint32_t f = 0; f < m->formats.n; f++)
		list = arena_printf(a, "%s%s%s", list, f ? ", " : "",
		    format_text(m->formats.format[f], a));
	return list;
}

static uint32_t
formats_of_ports(const struct port *port, uint32_t n)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < n; i++)
		mask |= UINT32_C(1) << port[i].format;
	return mask;
}

/* Formats meant by the name of one, or made (used) by a target. */
static bool
find_formats(const struct job *j, const char *name, bool made, uint32_t *mask,
    struct err *err)
{
	const struct formats *f = &j->mix.formats;
	struct constraint c = {.nnodes = 0};

	*mask = 0;
	for (uint32_t i = 0; i < f->n; i++)
		if (strcmp(format_text(f->format[i], j->arena), name) == 0)
			*mask |= UINT32_C(1) << i;
	if (*mask)
		return true;
	if (!constraint_targets(&c, name, &j->mix, j->arena, err))
		return err_in(err, "'%s' is no format (%s)", name,
		    format_names(&j->mix, j->arena));
	for (uint32_t i = 0; i < j->candidates.n; i++) {
		const struct candidate *x = &j->candidates.candidate[i];

		if (c.targets >> x->target & 1)
			*mask |= made ? formats_of_ports(x->output, x->noutputs)
			              : formats_of_ports(x->input, x->ninputs);
	}
	return true;
}

static bool
free_conversions(struct what_if *w, const char *text, struct err *err)
{
	const struct job *j = &w->job;
	const char *dots = strstr(text, "..");
	uint32_t from, to, n = j->mix.formats.n, pairs = 0;

	if (!dots || dots == text || !dots[2])
		return err_set(err, ERR_USAGE,
		    "want free:A..B with targets or formats, or "
		    "free:launch:TARGET");
	if (!find_formats(j, arena_strn(j->arena, text, (size_t)(dots - text)),
	        true, &from, err)
	    || !find_formats(j, dots + 2, false, &to, err))
		return false;
	if (!w->pair)
		w->pair = arena_new(j->arena, bool, (size_t)n *n);
	for (uint32_t f = 0; f < n; f++)
		for (uint32_t t = 0; t < n; t++)
			if (f != t && from >> f & 1 && to >> t & 1) {
				w->pair[(size_t)f * n + t] = true;
				pairs++;
			}
	if (pairs == 0)
		return err_set(
		    err, ERR_USAGE, "nothing is converted between these");
	w->free.conversion = w->pair;
	return true;
}

static bool
free_launch(struct what_if *w, const char *name, struct err *err)
{
	const struct mix *m = &w->job.mix;
	struct constraint c = {.nnodes = 0};

	if (!constraint_targets(&c, name, m, w->job.arena, err))
		return false;
	for (uint32_t t = 0; t < m->n; t++)
		if (c.targets >> t & 1 && !m->target[t].kind->launches)
			return err_set(err, ERR_USAGE, "%s pays no launches",
			    m->target[t].text);
	w->free.launches |= c.targets;
	return true;
}

/* ---- all of them ---- */

enum what { WHAT_CONDITION, WHAT_PIN, WHAT_LAUNCH, WHAT_CONVERSION };

/* A pin is whatever has '=' behind what is not the name of a target. */
static enum what
kind_of(const char *text, const struct job *base)
{
	const char *rest;

	if (starts_with(text, "free:launch:"))
		return WHAT_LAUNCH;
	if (starts_with(text, "free:"))
		return WHAT_CONVERSION;
	constraint_prefix(text, &base->mix, &rest, base->arena);
	rest = strrchr(rest, '=');
	return rest && strcmp(rest, "=true") != 0 ? WHAT_PIN : WHAT_CONDITION;
}

static bool
assume_conditions(struct what_if *w, const struct job *base, struct err *err)
{
	const struct text_list *t = w->text;

	w->assume = arena_new(w->job.arena, struct assumption, t->n);
	for (uint32_t i = 0; i < t->n; i++)
		if (kind_of(t->text[i], base) == WHAT_CONDITION
		    && !assume_condition(w, t->text[i], base, err))
			return false;
	w->job.assume = w->assume;
	count_refusals(w, base);
	return true;
}

static bool
assume_places(struct what_if *w, const struct job *base, struct err *err)
{
	const struct text_list *t = w->text;
	struct job *j = &w->job;

	for (uint32_t i = 0; i < t->n; i++) {
		const char *text = t->text[i];
		enum what what = kind_of(text, base);
		bool ok = true;

		if (what == WHAT_PIN)
			ok = constraints_pin(&j->constraints, text,
			    j->model.graph, &j->mix, j->arena, err);
		else if (what == WHAT_LAUNCH)
			ok = free_launch(w, text + strlen("free:launch:"), err);
		else if (what == WHAT_CONVERSION)
			ok = free_conversions(w, text + strlen("free:"), err);
		if (!ok)
			return err_in(err, "what if '%s'", text);
	}
	j->free = &w->free;
	return true;
}

bool
what_if_open(struct what_if *w, const struct text_list *text, struct job *base,
    struct err *err)
{
	struct job *j = &w->job;

	*w = (struct what_if){.text = text};
	if (!job_import(j, base->args, base->arena, err)
	    || !assume_conditions(w, base, err) || !job_candidates(j, true, err)
	    || !assume_places(w, base, err))
		return false;
	j->only = NULL; /* of a replayed plan: this asks about others */
	return true;
}

bool
what_if_search(struct what_if *w, struct job *base, struct err *err)
{
	struct job *j = &w->job;

	if (!job_stop_pricing(base, err))
		return false;
	w->found = job_search(j, err);
	if (!w->found && err->kind != ERR_NO_COVER)
		return false;
	err_clear(err);
	if (w->found)
		plan_shift_make(&w->shift, &base->plan, &j->plan, j->arena);
	return true;
}

bool
what_if_close(struct what_if *w, struct err *err)
{
	w->job.model.notes.n = 0; /* said of the plan as it is */
	return job_close(&w->job, err);
}
