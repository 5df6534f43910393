#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/file.h"
#include "targets/mrvl/probe.h"

/* SOURCE: DPDK's test-mldev prints " %-64s = %PRIu64" per extended statistic;
 * the driver names a model's "<model>-<Avg|Min|Max>-<HW|FW>-Latency-<ns|cycles>"
 * (cycles where it cannot tell the clock's rate). */

static const char *const stat_name[] = {"-Avg-HW-Latency-", "-Min-HW-Latency-",
    "-Max-HW-Latency-", "-Avg-FW-Latency-", "-Min-FW-Latency-",
    "-Max-FW-Latency-"};
enum { AVG_HW, MIN_HW, MAX_HW, AVG_FW, MIN_FW, MAX_FW, NSTATS };

/* One statistic of a line. */
struct stat {
	const char *model;
	size_t length; /* of the model's name */
	uint32_t which;
	double ns;
};

/* Is there a latency on the line? ERR_INPUT where it is not one we can use. */
static bool
read_line(struct stat *out, bool *found, char *line, struct err *err)
{
	char *at = NULL, *end;

	*found = false;
	line += strspn(line, " \t");
	for (out->which = 0; out->which < NSTATS; out->which++) {
		at = strstr(line, stat_name[out->which]);
		if (at)
			break;
	}
	if (!at)
		return true;
	out->model = line;
	out->length = (size_t)(at - line);
	at += strlen(stat_name[out->which]);
	if (strncmp(at, "cycles", 6) == 0)
		return err_set(err, ERR_INPUT,
		    "latencies in cycles: the driver does not know the clock "
		    "(it prints ns where it does)");
	at = strchr(at, '=');
	if (!at)
		return err_set(err, ERR_INPUT, "no '=' behind a latency");
	errno = 0;
	out->ns = (double)strtoull(at + 1, &end, 10);
	if (end == at + 1 || errno || out->ns <= 0)
		return err_set(
		    err, ERR_INPUT, "a latency that is no number above 0");
	*found = true;
	return true;
}

static void
add_sample(struct board_samples *s, struct tool_sample x, enum sample_kind kind,
    double ns, struct arena *a)
{
	x.kind = kind;
	x.ns = ns;
	s->sample = (struct tool_sample *)arena_grow(
	    a, s->sample, &s->cap, s->n + 1, sizeof x);
	s->sample[s->n++] = x;
}

static void
add_stat(struct board_samples *s, uint32_t *others, const struct stat *x,
    struct arena *a)
{
	struct probe p;

	if (x->which != AVG_HW && x->which != AVG_FW)
		return;
	if (!probe_read(&p, x->model, x->length))
		*others += x->which == AVG_HW;
	else if (x->which == AVG_HW)
		add_sample(s, probe_sample(&p), SAMPLE_LAYER, x->ns, a);
	else
		add_sample(s, probe_sample(&p), SAMPLE_JOB, x->ns, a);
}

bool
probes_stats(struct board_samples *s, uint32_t *others, const char *path,
    struct arena *a, struct err *err)
{
	const char *text;
	char *rest;
	size_t n;

	*s = (struct board_samples){.board = "dpdk-test-mldev --stats"};
	*others = 0;
	if (!file_read(&text, &n, path, LIMIT_READ_LOG, a, err))
		return false;
	rest = (char *)arena_copy(a, text, n + 1);
	for (uint32_t line = 1; rest; line++) {
		char *newline = strchr(rest, '\n');
		struct stat x;
		bool found;

		if (newline)
			*newline = '\0';
		if (!read_line(&x, &found, rest, err))
			return err_in(err, "%s:%u", path, line);
		if (found)
			add_stat(s, others, &x, a);
		rest = newline ? newline + 1 : NULL;
	}
	return s->n > 0
	    || err_set(err, ERR_INPUT,
	        "%s: no latency of a probe (`marq calibrate --probes DIR` "
	        "writes them)",
	        path);
}
