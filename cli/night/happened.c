#include "cli/night/happened.h"

#include <stdlib.h>
#include <string.h>

#include "cli/night/words.h"
#include "ir/base/buf.h"
#include "ir/base/order.h"
#include "ir/base/plural.h"

/* TUNING: so many searches, by so much, make a night that was slow (or fast) as
 * a whole; in thousandths. */
#define MOVED_SEARCHES 3u
#define MOVED_PERMILLE 30u
/* TUNING: values beyond are hashes, which nobody reads. */
#define READABLE 24u

static void
say(struct buf *b, const char *text)
{
	buf_printf(b, "%s%s", b->n ? "; " : "", text);
}

static const char *
fact_of(const struct night *n, const char *key)
{
	for (uint32_t i = 0; i < n->nfacts; i++)
		if (strcmp(n->fact[i].key, key) == 0)
			return n->fact[i].value;
	return "";
}

static uint32_t
say_facts(struct buf *b, const struct night *was, const struct night *now,
    struct arena *a)
{
	const char *hidden = NULL; /* a hash says nothing to anybody */
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->nfacts; i++) {
		const char *key = now->fact[i].key, *value = now->fact[i].value;
		const char *old = fact_of(was, key);

		if (!*old || !*value || strcmp(old, value) == 0)
			continue;
		n++;
		if (strlen(old) <= READABLE && strlen(value) <= READABLE)
			say(b, arena_printf(a, "%s %s → %s", key, old, value));
		else if (!hidden)
			hidden = key;
	}
	if (hidden && b->n == 0)
		say(b, arena_printf(a, "%s changed", hidden));
	return n;
}

static bool
is_comparable(const struct night_unit *x, const struct night_unit *y)
{
	return x && y && y->ran && unit_succeeded(x) && unit_succeeded(y)
	    && strcmp(x->plan, y->plan) == 0;
}

/* The median change of searches that were run again and kept their plan. */
static void
say_speed(struct buf *b, const struct night *was, const struct night *now,
    struct arena *a)
{
	uint64_t *share = arena_new(a, uint64_t, now->nunits), median;
	uint32_t n = 0;

	for (uint32_t i = 0; i < now->nunits; i++) {
		const struct night_unit *y = &now->unit[i];
		const struct night_unit *x = night_unit_find(was, y->name);

		if (is_comparable(x, y))
			share[n++] = (uint64_t)(1000 * (double)y->status.cost_ns
			    / (double)x->status.cost_ns);
	}
	if (n < MOVED_SEARCHES)
		return;
	qsort(share, n, sizeof *share, by_u64);
	median = share[n / 2];
	if (median > 1000 + MOVED_PERMILLE)
		say(b,
		    arena_printf(a, "slower as a whole: the same plans cost %s",
		        change(1000, median, a)));
	else if (median < 1000 - MOVED_PERMILLE)
		say(b,
		    arena_printf(a, "faster as a whole: the same plans cost %s",
		        change(1000, median, a)));
}

static void
say_searches(struct buf *b, const struct night *was, const struct night *now,
    struct arena *a)
{
	uint32_t added = 0, gone = 0;

	for (uint32_t i = 0; i < now->nunits; i++)
		added += night_unit_find(was, now->unit[i].name) == NULL;
	for (uint32_t i = 0; i < was->nunits; i++)
		gone += night_unit_find(now, was->unit[i].name) == NULL;
	if (added)
		say(b,
		    arena_printf(
		        a, "%u new search%s", added, added == 1 ? "" : "es"));
	if (gone)
		say(b,
		    arena_printf(
		        a, "%u search%s gone", gone, gone == 1 ? "" : "es"));
}

static void
say_end(struct buf *b, const struct night *n, struct arena *a)
{
	uint32_t ended = 0;

	for (uint32_t i = 0; i < n->nunits; i++)
		ended += n->unit[i].status.ended;
	if (n->state == NIGHT_KILLED)
		say(b,
		    arena_printf(a, "killed: %u of %u searches had ended",
		        ended, n->nunits));
	else if (n->state == NIGHT_RUNNING)
		say(b,
		    arena_printf(
		        a, "not ended: %u of %u searches", ended, n->nunits));
	else if (n->calls > 1)
		say(b, arena_printf(a, "started %u times", n->calls));
}

const char *
night_happened(const struct history *h, uint32_t i, struct arena *a)
{
	const struct night *now = &h->night[i];
	const char *text;
	struct buf b;

	buf_init(&b);
	if (i > 0) {
		const struct night *was = &h->night[i - 1];

		say_facts(&b, was, now, a);
		say_speed(&b, was, now, a);
		say_searches(&b, was, now, a);
	}
	say_end(&b, now, a);
	text = b.n ? arena_strn(a, b.data, b.n) : "";
	buf_release(&b);
	return text;
}
