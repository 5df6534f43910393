#define _GNU_SOURCE
#include "cli/batch_progress.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/jsonin.h"

/* A unit never waits for the line: with O_NONBLOCK what finds the pipe full is
 * lost, and the next event says it too. */
void
batch_progress_begin(
    struct batch_progress *b, const struct cli *c, uint32_t units)
{
	int ends[2];

	*b = (struct batch_progress){.in = -1, .out = -1};
	progress_begin(&b->line, c, units);
	if (!progress_is_shown(&b->line) || pipe2(ends, O_NONBLOCK) != 0)
		return;
	b->in = ends[0];
	b->out = ends[1];
	fcntl(b->in, F_SETFD, FD_CLOEXEC);
}

static void
take_event(struct batch_progress *b, const char *text, size_t n)
{
	struct err ignored = {.kind = ERR_NONE};
	struct cJSON *event = jsonin_parse(text, n, "progress", &ignored);
	const char *what;
	uint32_t done, todo;

	if (!event)
		return;
	if (jsonin_u32(event, "done", &done, &ignored)
	    && jsonin_u32(event, "todo", &todo, &ignored)
	    && jsonin_str(event, "what", &what, &ignored))
		progress_note(&b->line, done, todo, what);
	jsonin_close(event);
}

static void
take_events(struct batch_progress *b)
{
	char *from = b->text, *end;

	while ((end = memchr(from, '\n', b->n - (size_t)(from - b->text)))) {
		take_event(b, from, (size_t)(end - from));
		from = end + 1;
	}
	b->n -= (size_t)(from - b->text);
	memmove(b->text, from, b->n);
	if (b->n == sizeof b->text) /* no event is so long */
		b->n = 0;
}

void
batch_progress_tick(void *at)
{
	struct batch_progress *b = at;
	ssize_t n;

	while (b->in >= 0
	    && (n = read(b->in, b->text + b->n, sizeof b->text - b->n)) > 0) {
		b->n += (size_t)n;
		take_events(b);
	}
	progress_tick(&b->line);
}

void
batch_progress_end(struct batch_progress *b)
{
	progress_end(&b->line);
	if (b->in < 0)
		return;
	close(b->in);
	close(b->out);
}
