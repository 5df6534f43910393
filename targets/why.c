#include "targets/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof *(a))

void
why_init(struct why *w, struct arena *a)
{
	*w = (struct why){.arena = a};
}

static bool
is_assumed(const struct why *w, const char *condition)
{
	for (uint32_t i = 0; i < w->nassume; i++)
		if (w->assume[i].targets >> w->target & 1
		    && strcmp(w->assume[i].condition, condition) == 0)
			return true;
	return false;
}

static uint32_t
find(struct condition_counts *c, uint32_t target, const char *condition)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->item[i].target == target
		    && strcmp(c->item[i].condition, condition) == 0)
			return i;
	c->item = (struct condition_count *)arena_grow(
	    c->arena, c->item, &c->cap, c->n + 1, sizeof *c->item);
	c->item[c->n] = (struct condition_count){condition, target, 0, 0};
	return c->n++;
}

static void
count(struct condition_counts *c, uint32_t target, const char *condition,
    bool holds)
{
	uintptr_t place = (uintptr_t)condition ^ (uintptr_t)target << 4;
	uint32_t *found = &c->found[place % COUNT(c->found)];
	struct condition_count *item = *found ? &c->item[*found - 1] : NULL;

	if (!item || item->condition != condition || item->target != target) {
		*found = find(c, target, condition) + 1;
		item = &c->item[*found - 1];
	}
	item->asked++;
	item->failed += !holds;
}

bool
why_need(struct why *w, bool holds, const char *condition, const char *required,
    const char *actual_fmt, ...)
{
	char actual[256];
	va_list ap;

	if (w->counts)
		count(w->counts, w->target, condition, holds);
	holds = holds || is_assumed(w, condition);
	w->nfailed += !holds;
	if (!w->arena || (holds && w->failures_only))
		return holds;
	va_start(ap, actual_fmt);
	vsnprintf(actual, sizeof actual, actual_fmt, ap);
	va_end(ap);
	w->reason = (struct reason *)arena_grow(
	    w->arena, w->reason, &w->cap, w->n + 1, sizeof *w->reason);
	w->reason[w->n++] = (struct reason){
	    .condition = condition,
	    .actual = arena_str(w->arena, actual),
	    .required = required,
	    .holds = holds,
	};
	return holds;
}
