#include "ir/base/notes.h"

#include <stdio.h>

#include "ir/base/plain.h"

void
notes_init(struct notes *notes, struct arena *arena)
{
	*notes = (struct notes){.arena = arena};
}

void
notes_vadd(struct notes *notes, const char *fmt, va_list ap)
{
	char line[512];

	if (!notes)
		return;
	vsnprintf(line, sizeof line, fmt, ap);
	plain_line(line);
	notes->text = arena_grow(notes->arena, notes->text, &notes->cap,
	    notes->n + 1, sizeof *notes->text);
	notes->text[notes->n++] = arena_str(notes->arena, line);
}

void
notes_add(struct notes *notes, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	notes_vadd(notes, fmt, ap);
	va_end(ap);
}
