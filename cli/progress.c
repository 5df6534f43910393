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
#include "ir/base/plural.h"

#define SECOND UINT64_C(1000000000)
#define REFRESH (SECOND / 10) /* of the line on a terminal */
#define HEARTBEAT (60 * SECOND) /* between lines elsewhere, with -v */

void
progress_begin(struct progress *p, const struct cli *c, uint32_t units)
{
	const char *term = getenv("TERM");

	*p = (struct progress){.cli = c, .began_ns = clock_ns()};
	p->pace.units = units;
	p->shown_ns = p->began_ns;
	p->terminal =
	    isatty(STDERR_FILENO) && term && strcmp(term, "dumb") != 0;
	if (units)
		pace_begin(&p->pace, p->began_ns);
}

bool
progress_is_shown(const struct progress *p)
{
	return p->cli->progress && p->cli->verbosity >= (p->terminal ? 0 : 1);
}

static unsigned
terminal_width(void)
{
	struct winsize w;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) == 0 && w.ws_col > 20)
		return w.ws_col;
	return 80;
}

/* "0:10", "12:40", "7:05:00" */
static const char *
print_time(uint64_t ns, char text[32])
{
	unsigned long long s = ns / SECOND, h = s / 3600;

	if (h)
		snprintf(
		    text, 32, "%llu:%02llu:%02llu", h, s / 60 % 60, s % 60);
	else
		snprintf(text, 32, "%llu:%02llu", s / 60, s % 60);
	return text;
}

/* "12 of at most 24, at most 0:10 left: conv ..." */
static void
print_search(const struct progress *p, uint64_t left, char *text, size_t n)
{
	char time[32];

	snprintf(text, n, "%u of at most %u, at most %s left: %s", p->pace.done,
	    p->pace.most, print_time(left, time), p->what);
}

/* "2 of 6 units, about 37 to measure, about 0:10 left: bert@cpu: conv ..." */
static void
print_batch(const struct progress *p, uint64_t left, char *text, size_t n)
{
	uint64_t measurements = pace_measurements(&p->pace);
	char time[32], todo[64] = "", about[64] = "";

	if (measurements != PACE_UNKNOWN)
		snprintf(todo, sizeof todo, ", about %llu to measure",
		    (unsigned long long)measurements);
	if (left != PACE_UNKNOWN)
		snprintf(about, sizeof about, ", about %s left",
		    print_time(left, time));
	snprintf(text, n, "%u of %u unit%s%s%s: %s%s%s", p->pace.ended,
	    p->pace.units, plural(p->pace.units), todo, about, p->unit,
	    *p->what ? ": " : "", p->what);
}

static void
print_line(const struct progress *p, uint64_t now, char *text, size_t n)
{
	uint64_t left = pace_left_ns(&p->pace, now);

	if (p->unit)
		print_batch(p, left, text, n);
	else
		print_search(p, left == PACE_UNKNOWN ? 0 : left, text, n);
	plain_line(text);
}

/* How much of the bar is full; the unit that runs counts by what is measured of
 * it. */
static int
full_of(const struct pace *p, int bar)
{
	double here =
	    p->most && p->ended < p->units ? (double)p->done / p->most : 0;

	return p->units ? (int)((p->ended + here) / p->units * bar) : 0;
}

static void
show_line(struct progress *p, uint64_t now)
{
	static const char full[] = "##########";
	static const char rest[] = "----------";
	const int bar = sizeof full - 1, filled = full_of(&p->pace, bar);
	char text[512], line[sizeof text + sizeof full + 8];
	int width = (int)terminal_width() - 1, n;

	print_line(p, now, text, sizeof text);
	snprintf(line, sizeof line, "[%.*s%.*s] %s", filled, full, bar - filled,
	    rest, text);
	n = (int)strlen(line);
	fprintf(stderr, "\r\033[K%.*s", n < width ? n : width, line);
	fflush(stderr);
	p->line_open = true;
}

/* `at_once`: though it was shown a moment ago. */
static void
show(struct progress *p, uint64_t now, bool at_once)
{
	char text[512];

	if (!progress_is_shown(p)
	    || (now - p->shown_ns < (p->terminal ? REFRESH : HEARTBEAT)
	        && !(at_once && p->terminal)))
		return;
	p->shown_ns = now;
	if (p->terminal) {
		show_line(p, now);
		return;
	}
	print_line(p, now, text, sizeof text);
	cli_say(p->cli, 1, "%s", text);
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
progress_note(
    struct progress *p, uint32_t done, uint32_t todo, const char *what)
{
	uint64_t now = clock_ns();

	pace_step(&p->pace, done, todo, now);
	snprintf(p->what, sizeof p->what, "%s", what);
	show(p, now, done == todo);
}

void
progress_step(
    struct progress *p, uint32_t done, uint32_t todo, const char *what)
{
	if (p->cli->progress_fd >= 0)
		write_event(p, done, todo, what);
	progress_note(p, done, todo, what);
}

void
progress_unit(struct progress *p, const char *name)
{
	uint64_t now = clock_ns();

	if (p->cli->progress_fd >= 0)
		write_event(p, p->pace.ended, p->pace.units, name);
	pace_begin(&p->pace, now);
	p->unit = name;
	*p->what = '\0';
	show(p, now, true);
}

void
progress_unit_end(struct progress *p, bool ended)
{
	uint64_t now = clock_ns();

	pace_end(&p->pace, ended, now);
	*p->what = '\0';
	show(p, now, true);
}

void
progress_tick(struct progress *p)
{
	show(p, clock_ns(), false);
}

void
progress_end(struct progress *p)
{
	if (p->line_open)
		fputs("\r\033[K", stderr);
	p->line_open = false;
}
