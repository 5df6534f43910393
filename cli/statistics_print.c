/* The difference of two tuning databases, for people and for programs. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/statistics.h"
#include "cli/units.h"
#include "ir/base/json.h"
#include "ir/base/plural.h"

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

static void
print_side(const struct statistic *f)
{
	char text[32], low[32], high[32];

	if (f->ns == 0)
		fputs(f->outcome, stdout);
	else
		printf("%s (%s .. %s)",
		    format_duration(f->ns, text, sizeof text),
		    format_duration(f->low, low, sizeof low),
		    format_duration(f->high, high, sizeof high));
}

static void
print_pair(const struct statistic_pair *p)
{
	const struct statistic *f = p->a ? p->a : p->b;

	printf("  %-7s  ", kind_of(p));
	if (p->a)
		print_side(p->a);
	if (p->a && p->b)
		fputs(" -> ", stdout);
	if (p->b)
		print_side(p->b);
	if (p->delta)
		printf(", %+.1f %%", 100 * (double)p->delta / (double)p->a->ns);
	printf(": %s, %s\n", f->target[0] ? f->target : "host", f->summary);
}

void
statistics_print(const struct statistics_diff *d, bool all)
{
	const char *last = "";
	uint32_t lines = 0, left = 0;

	printf("%s -> %s\n%" PRIu32 " price%s in both: %" PRIu32
	       " as before or inside the noise, %" PRIu32 " slower, %" PRIu32
	       " faster, %" PRIu32 " with another outcome; %" PRIu32
	       " only in the first, %" PRIu32 " only in the second\n",
	    d->path_a, d->path_b, d->nboth, plural(d->nboth), d->nsame,
	    d->nslower, d->nfaster, d->nfailed, d->nonly_a, d->nonly_b);
	for (uint32_t i = 0; i < d->nfacts; i++)
		printf("  environment: %s\n", d->fact[i]);
	for (uint32_t i = 0; i < d->npairs; i++) {
		const char *kind = kind_of(&d->pair[i]);

		lines = kind == last ? lines + 1 : 1;
		last = kind;
		if (all || lines <= LINES)
			print_pair(&d->pair[i]);
		else
			left++;
	}
	if (left)
		printf("  ... and %" PRIu32 " more (-v)\n", left);
}

static void
write_figure(struct json *j, const char *key, const struct statistic *f)
{
	if (!f)
		return;
	json_key(j, key);
	json_inline_object(j);
	json_key_str(j, "outcome", f->outcome);
	json_key_uint(j, "attempts", f->attempts);
	if (f->ns) {
		json_key_uint(j, "ns", f->ns);
		json_key_uint(j, "low_ns", f->low);
		json_key_uint(j, "high_ns", f->high);
	}
	json_close(j);
}

void
statistics_json(const struct statistics_diff *d)
{
	struct json j;

	json_init(&j, stdout, 1);
	json_object(&j);
	json_key_str(&j, "schema", "marq.compare-db/1");
	json_key_str(&j, "base", d->path_a);
	json_key_str(&j, "other", d->path_b);
	json_key_uint(&j, "both", d->nboth);
	json_key_uint(&j, "same", d->nsame);
	json_key_uint(&j, "slower", d->nslower);
	json_key_uint(&j, "faster", d->nfaster);
	json_key_uint(&j, "outcome_changed", d->nfailed);
	json_key_uint(&j, "only_base", d->nonly_a);
	json_key_uint(&j, "only_other", d->nonly_b);
	json_key(&j, "environment");
	json_array(&j);
	for (uint32_t i = 0; i < d->nfacts; i++)
		json_str(&j, d->fact[i]);
	json_close(&j);
	json_key(&j, "prices");
	json_array(&j);
	for (uint32_t i = 0; i < d->npairs; i++) {
		const struct statistic_pair *p = &d->pair[i];

		json_object(&j);
		json_key_str(&j, "change", kind_of(p));
		json_key_str(&j, "target", (p->a ? p->a : p->b)->target);
		json_key_str(&j, "summary", (p->a ? p->a : p->b)->summary);
		write_figure(&j, "base", p->a);
		write_figure(&j, "other", p->b);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
}
