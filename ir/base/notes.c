#include "ir/base/notes.h"

#include <stdarg.h>
#include <stdio.h>

#include "ir/base/plain.h"

void
notes_init(struct notes *notes, struct arena *arena)
{
	*notes = (struct notes){.arena = arena};
}

void
notes_add(struct notes *notes, const char *fmt, ...)
{
	char line[512];
	va_list ap;

	if (!notes)
		return;
	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	plain_line(line);
	notes->text = arena_grow(notes->arena, notes->text, &notes->cap,
	    notes->n + 1, sizeof *notes->text);
	notes->text[notes->n++] = arena_str(notes->arena, line);
}
