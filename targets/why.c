#include "targets/why.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void
why_init(struct why *w, struct arena *a)
{
	*w = (struct why){.arena = a};
}

bool
why_need(struct why *w, bool holds, const char *condition, const char *required,
    const char *actual_fmt, ...)
{
	char actual[256];
	va_list ap;

	if (w->assume && strcmp(w->assume, condition) == 0)
		holds = true;
	w->nfailed += !holds;
	if (!w->arena)
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
