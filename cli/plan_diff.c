#include "cli/plan_diff.h"

#include "cli/units.h"

static cost_ns
size_of(int64_t ns)
{
	return (cost_ns)(ns < 0 ? -ns : ns);
}

bool
shift_is_clear(const struct plan_shift *s)
{
	return size_of(s->delta) > s->noise;
}

const char *
shift_noise_text(const struct plan_shift *s, struct arena *a)
{
	char noise[32];

	if (s->unpriced)
		return "some prices are not measured yet";
	if (s->guessed)
		return "some prices are estimates";
	if (s->noise == 0)
		return "no measured price differs";
	return arena_printf(a, "%s the noise of %s",
	    shift_is_clear(s) ? "outside" : "inside",
	    format_duration(s->noise, noise, sizeof noise));
}

/* ", name +12 us" of a part that differs. */
static const char *
part(const char *name, int64_t ns, struct arena *a)
{
	char text[32];

	if (ns == 0)
		return "";
	return arena_printf(a, ", %s %c%s", name, ns < 0 ? '-' : '+',
	    format_duration(size_of(ns), text, sizeof text));
}

static void
tell_parts(struct answer *a, const struct plan_shift *s, int margin)
{
	struct arena arena;
	const char *text = "";

	arena_init(&arena);
	ANSWER(a, NULL, F("delta_ns", s->delta));
	for (uint32_t t = 0; t < NTERMS; t++) {
		text = arena_printf(&arena, "%s%s", text,
		    part(term_words(t), s->term[t], &arena));
		ANSWER(a, NULL, F(term_key(t), s->term[t]));
	}
	ANSWER(a, "{?parts {m}{parts}\n}", F("noise_ns", s->noise),
	    IS("exceeds_noise", shift_is_clear(s)), IS("unpriced", s->unpriced),
	    IS("estimated", s->guessed),
	    T("m", arena_printf(&arena, "%*s", margin, "")),
	    T("parts", *text ? text + 2 : ""));
	arena_release(&arena);
}

/* A line that is indented and begins with a sign. */
static const char *
mark_of(char sign, int margin, struct arena *a)
{
	return arena_printf(a, "%*s%c", margin, "", sign);
}

static void
tell_conversions(struct answer *a, const char *key, const struct plan *p,
    const uint32_t *list, uint32_t n, const char *mark, uint32_t limit)
{
	const struct format *f = p->mix->formats.format;
	struct arena arena;

	arena_init(&arena);
	answer_list(a, key);
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_conversion *c = &p->conversion[list[i]];

		ANSWER_LINE(a,
		    i < limit ? "{mark} convert '{value}' {from} -> {to}, "
		                "{cost_ns:t}\n"
		              : NULL,
		    T("mark", mark),
		    F("value", graph_value(p->graph, c->value)->name),
		    F("from", format_text(f[c->from], &arena)),
		    F("to", format_text(f[c->to], &arena)),
		    F("cost_ns", c->cost));
	}
	answer_close(a);
	ANSWER(a, "{?left {mark} ... and {left} more conversion{s left}\n}",
	    T("left", n > limit ? n - limit : 0), T("mark", mark));
	arena_release(&arena);
}

static void
tell_launches(struct answer *a, const struct plan_shift *s, int margin)
{
	struct arena arena;

	arena_init(&arena);
	for (uint32_t t = 0; t < s->from->mix->n; t++) {
		uint32_t before = plan_launches_of(s->from, t);
		uint32_t after = plan_launches_of(s->to, t);

		if (before != after)
			ANSWER(a,
			    "{mark} launches of {target}: {before} -> {after}\n",
			    T("mark",
			        mark_of(after > before ? '+' : '-', margin,
			            &arena)),
			    T("target", s->from->mix->target[t].text),
			    T("before", before), T("after", after));
	}
	arena_release(&arena);
}

static void
tell_moved(struct answer *a, const struct plan_shift *s, const char *mark,
    uint32_t limit)
{
	struct arena arena;

	arena_init(&arena);
	answer_list(a, "moved");
	for (uint32_t i = 0; i < s->nmoved; i++) {
		node_id n = s->moved[i];

		ANSWER_LINE(a,
		    i < limit
		        ? "{mark} {node} ({type}) moves from {from} to {to}\n"
		        : NULL,
		    T("mark", mark),
		    F("node", node_label(s->from->graph, n, &arena)),
		    F("id", n),
		    T("type", graph_node(s->from->graph, n)->op_type),
		    F("from", plan_target_of(s->from, n)->text),
		    F("to", plan_target_of(s->to, n)->text));
	}
	answer_close(a);
	ANSWER(a, "{?left {mark} ... and {left} more node{s left}\n}",
	    T("left", s->nmoved > limit ? s->nmoved - limit : 0),
	    T("mark", mark));
	arena_release(&arena);
}

void
shift_tell(
    struct answer *a, const struct plan_shift *s, int margin, uint32_t limit)
{
	struct arena arena;

	arena_init(&arena);
	tell_parts(a, s, margin);
	tell_conversions(a, "conversions_new", s->to, s->new, s->nnew,
	    mark_of('+', margin, &arena), limit);
	tell_conversions(a, "conversions_gone", s->from, s->gone, s->ngone,
	    mark_of('-', margin, &arena), limit);
	tell_launches(a, s, margin);
	tell_moved(a, s, mark_of('>', margin, &arena), limit);
	arena_release(&arena);
}
