#include "cli/progress.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/json.h"
#include "ir/base/memory.h"
#include "ir/base/plain.h"

#define SECOND UINT64_C(1000000000)
#define REFRESH (SECOND / 10) /* of the line on a terminal */
#define HEARTBEAT (60 * SECOND) /* between lines elsewhere, with -v */

void
progress_begin(struct progress *p, const struct cli *c)
{
	const char *term = getenv("TERM");

	*p = (struct progress){.cli = c, .began_ns = clock_ns()};
	p->shown_ns = p->began_ns;
	p->terminal =
	    isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
}

static uint64_t
seconds_left(const struct progress *p, uint32_t done, uint32_t todo)
{
	uint64_t elapsed = clock_ns() - p->began_ns;

	if (done == 0 || done > todo)
		return 0;
	return (uint64_t)((double)elapsed / (double)done * (todo - done))
	    / SECOND;
}

static unsigned
terminal_width(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20)
		return w.ws_col;
	return 80;
}

/* "[####----] 12 of at most 24, at most 0:10 left  conv ..." */
static void
show_line(struct progress *p, uint32_t done, uint32_t todo, const char *what)
{
	static const char full[] = "####################";
	static const char rest[] = "--------------------";
	const int bar = sizeof full - 1;
	int filled = todo ? (int)((uint64_t)done * (unsigned)bar / todo) : bar;
	uint64_t left = seconds_left(p, done, todo);
	const char *most = p->is_limit ? "at most " : "";
	char line[512];
	int width = (int)terminal_width() - 1, n;

	snprintf(line, sizeof line,
	    "[%.*s%.*s] %u of %s%u, %s%llu:%02llu left  %s", filled, full,
	    bar - filled, rest, done, most, todo, most,
	    (unsigned long long)(left / 60), (unsigned long long)(left % 60),
	    what);
	plain_line(line);
	n = (int)strlen(line);
	fprintf(stderr, "\r\033[K%.*s", n < width ? n : width, line);
	fflush(stderr);
	p->line_open = true;
}

static void
write_event(
    const struct progress *p, uint32_t done, uint32_t todo, const char *what)
{
	char *text = NULL;
	size_t n = 0;
	FILE *f = memory_stream(&text, &n);
	struct json j;

	json_init(&j, f, 0);
	json_object(&j);
	json_key_str(&j, "event", "progress");
	json_key_uint(&j, "done", done);
	json_key_uint(&j, "todo", todo);
	json_key_str(&j, "what", what);
	json_key_uint(&j, "elapsed_ms", (clock_ns() - p->began_ns) / 1000000);
	json_close(&j);
	memory_stream_close(f);
	if (write(p->cli->progress_fd, text, n) < 0) {
		/* whoever asked for events stopped reading them */
	}
	free(text);
}

void
progress_step(
    struct progress *p, uint32_t done, uint32_t todo, const char *what)
{
	uint64_t now = clock_ns();
	uint64_t every = p->terminal ? REFRESH : HEARTBEAT;

	if (p->cli->progress_fd >= 0)
		write_event(p, done, todo, what);
	if (!p->cli->progress || p->cli->verbosity < 0)
		return;
	if (now - p->shown_ns < every && done != todo)
		return;
	p->shown_ns = now;
	if (p->terminal)
		show_line(p, done, todo, what);
	else if (done != todo && p->cli->verbosity > 0)
		cli_say(p->cli, 1, "%u of %s%u, %s %llu s left: %s", done,
		    p->is_limit ? "at most " : "", todo,
		    p->is_limit ? "at most" : "about",
		    (unsigned long long)seconds_left(p, done, todo), what);
}

void
progress_end(struct progress *p)
{
	if (p->line_open)
		fputs("\r\033[K", stderr);
	p->line_open = false;
}
