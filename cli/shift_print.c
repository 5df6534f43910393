#include "cli/shift_print.h"

#include <inttypes.h>
#include <stdio.h>

#include "cli/units.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"

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

static void
print_part(const char *name, int64_t ns, const char **comma)
{
	char text[32];

	if (ns == 0)
		return;
	printf("%s%s %c%s", *comma, name, ns < 0 ? '-' : '+',
	    format_duration(size_of(ns), text, sizeof text));
	*comma = ", ";
}

static void
print_conversions(const struct plan *p, const uint32_t *list, uint32_t n,
    char sign, int margin, uint32_t limit)
{
	struct arena a;

	arena_init(&a);
	for (uint32_t i = 0; i < n && i < limit; i++) {
		const struct plan_conversion *c = &p->conversion[list[i]];
		const struct format *f = p->mix->formats.format;
		char text[32];

		printf("%*s%c convert '%s' %s -> %s, %s\n", margin, "", sign,
		    graph_value(p->graph, c->value)->name,
		    format_text(f[c->from], &a), format_text(f[c->to], &a),
		    format_duration(c->cost, text, sizeof text));
	}
	if (n > limit)
		printf("%*s%c ... and %" PRIu32 " more conversion%s\n", margin,
		    "", sign, n - limit, plural(n - limit));
	arena_release(&a);
}

static void
print_launches(const struct plan_shift *s, int margin)
{
	for (uint32_t t = 0; t < s->from->mix->n; t++) {
		uint32_t before = plan_launches_of(s->from, t);
		uint32_t after = plan_launches_of(s->to, t);

		if (before != after)
			printf("%*s%c launches of %s: %" PRIu32 " -> %" PRIu32
			       "\n",
			    margin, "", after > before ? '+' : '-',
			    s->from->mix->target[t].text, before, after);
	}
}

static void
print_moved(const struct plan_shift *s, int margin, uint32_t limit)
{
	struct arena a;

	arena_init(&a);
	for (uint32_t i = 0; i < s->nmoved && i < limit; i++)
		printf("%*s> %s (%s) moves from %s to %s\n", margin, "",
		    node_label(s->from->graph, s->moved[i], &a),
		    graph_node(s->from->graph, s->moved[i])->op_type,
		    plan_target_of(s->from, s->moved[i])->text,
		    plan_target_of(s->to, s->moved[i])->text);
	if (s->nmoved > limit)
		printf("%*s> ... and %" PRIu32 " more node%s\n", margin, "",
		    s->nmoved - limit, plural(s->nmoved - limit));
	arena_release(&a);
}

void
shift_print(const struct plan_shift *s, int margin, uint32_t limit)
{
	const char *comma = "";

	if (s->composites || s->conversions || s->launches) {
		printf("%*s", margin, "");
		print_part("composites", s->composites, &comma);
		print_part("conversions", s->conversions, &comma);
		print_part("launches", s->launches, &comma);
		putchar('\n');
	}
	print_conversions(s->to, s->new, s->nnew, '+', margin, limit);
	print_conversions(s->from, s->gone, s->ngone, '-', margin, limit);
	print_launches(s, margin);
	print_moved(s, margin, limit);
}

static void
write_conversions(struct json *w, const char *key, const struct plan *p,
    const uint32_t *list, uint32_t n)
{
	const struct format *f = p->mix->formats.format;
	struct arena a;

	arena_init(&a);
	json_key(w, key);
	json_array(w);
	for (uint32_t i = 0; i < n; i++) {
		const struct plan_conversion *c = &p->conversion[list[i]];

		json_inline_object(w);
		json_key_str(w, "value", graph_value(p->graph, c->value)->name);
		json_key_str(w, "from", format_text(f[c->from], &a));
		json_key_str(w, "to", format_text(f[c->to], &a));
		json_key_uint(w, "cost_ns", c->cost);
		json_close(w);
	}
	json_close(w);
	arena_release(&a);
}

static void
write_moved(struct json *w, const struct plan_shift *s)
{
	struct arena a;

	arena_init(&a);
	json_key(w, "moved");
	json_array(w);
	for (uint32_t i = 0; i < s->nmoved; i++) {
		node_id n = s->moved[i];

		json_inline_object(w);
		json_key_str(w, "node", node_label(s->from->graph, n, &a));
		json_key_uint(w, "id", n);
		json_key_str(w, "from", plan_target_of(s->from, n)->text);
		json_key_str(w, "to", plan_target_of(s->to, n)->text);
		json_close(w);
	}
	json_close(w);
	arena_release(&a);
}

void
shift_write(struct json *w, const struct plan_shift *s)
{
	json_key_int(w, "delta_ns", s->delta);
	json_key_int(w, "composites_ns", s->composites);
	json_key_int(w, "conversions_ns", s->conversions);
	json_key_int(w, "launches_ns", s->launches);
	json_key_uint(w, "noise_ns", s->noise);
	json_key_bool(w, "exceeds_noise", shift_is_clear(s));
	json_key_bool(w, "unpriced", s->unpriced);
	json_key_bool(w, "estimated", s->guessed);
	write_conversions(w, "conversions_new", s->to, s->new, s->nnew);
	write_conversions(w, "conversions_gone", s->from, s->gone, s->ngone);
	write_moved(w, s);
}
