#include "cli/night/summary.h"

#include <string.h>

#include "ir/base/file.h"

/* Same model and shape, whatever the mix? */
static bool
compete(const struct night_unit *a, const struct night_unit *b)
{
	return strcmp(a->model, b->model) == 0
	    && strcmp(a->shape, b->shape) == 0;
}

/* Nothing wins by an estimate, by a bound or unproven, nor against one that
 * looks cheaper. */
static bool
wins(const struct night *n, uint32_t i)
{
	const struct night_unit *u = &n->unit[i];

	if (!unit_succeeded(u) || !u->status.proven || u->status.estimated
	    || u->unpriced)
		return false;
	for (uint32_t k = 0; k < n->nunits; k++) {
		const struct night_unit *o = &n->unit[k];

		if (unit_succeeded(o) && compete(u, o)
		    && (o->status.cost_ns < u->status.cost_ns
		        || (o->status.cost_ns == u->status.cost_ns && k < i)))
			return false;
	}
	return true;
}

static void
count(struct summary *s, const struct night_unit *u)
{
	if (!u->status.ended) {
		s->left++;
		return;
	}
	*(unit_succeeded(u) ? &s->done : &s->failed) += 1;
	s->kept += unit_succeeded(u) && !u->ran;
	if (u->ran) {
		s->measured += u->status.measured;
		s->reused += u->status.reused;
		s->took_ms += u->status.took_ms;
	}
}

bool
summary_make(struct summary *s, const struct history *h, uint32_t at,
    const char *manifest, struct arena *a, struct err *err)
{
	const struct night *n = &h->night[at];

	*s = (struct summary){.history = h,
	    .night = n,
	    .at = at,
	    .manifest = manifest,
	    .wins = arena_new(a, bool, n->nunits),
	    .a = a};
	if (!findings_make(&s->findings, h, at, manifest, a, err))
		return false;
	for (uint32_t i = 0; i < n->nunits; i++) {
		s->wins[i] = wins(n, i);
		count(s, &n->unit[i]);
	}
	return true;
}

bool
summary_write(struct summary *s, struct err *err)
{
	static const struct {
		const char *name;
		summary_writer *write;
	} all[] = {
#define OUTPUT(name, writer) {name, writer},
#include "cli/night/outputs.def"
#undef OUTPUT
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!file_write(arena_printf(s->a, "%s/%s", s->history->out,
		                    all[i].name),
		        all[i].write, s, err))
			return false;
	return file_write(
	    night_path(s->history->out, s->night->number, ".html", s->a),
	    write_night_page, s, err);
}
