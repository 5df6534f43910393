#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_getaffinity */
#endif
#include "targets/plugin/manners.h"

#include <dirent.h>
#include <fenv.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/float_mode.h"
#include "ir/base/hash.h"
#include "ir/base/memory.h"
#include "ir/base/procstat.h"

/* TUNING: what compiled it may have threads that come to rest only now. */
#define REST_NS UINT64_C(200000000)

/* As much as may be read behind a port's buffer (targets/target.h). */
#define SLACK 64
#define PATTERN 0xa5

/* TUNING: processor time that idle threads may use behind a run. A runtime that
 * sleeps used 0.04 ms, one that spins all there was. */
#define SPIN_NS 20000000
/* TUNING: threads that neither sleep nor get to run by then are let off: the
 * machine is busy. */
#define SPIN_WAIT_NS UINT64_C(2000000000)

struct manners_state {
	int rounding;
	uint32_t control; /* of floating point */
	cpu_set_t affinity;
	uint64_t *input; /* [ninputs] hashes */
	unsigned char *slack; /* [noutputs * SLACK] what was there: in a plan
			       * it may be part of another value */
};

/* ---- what its threads do between runs ---- */

/* Processor time of all threads but this one, to some hundred nanoseconds. */
static uint64_t
others_ns(void)
{
	const uint64_t all = clock_cpu_ns();
	const uint64_t own = clock_read_ns(CLOCK_THREAD_CPUTIME_ID);

	return all > own ? all - own : 0;
}

static bool
wants_to_run(const char *thread)
{
	char text[PROCSTAT_BYTES], whose[40];

	snprintf(whose, sizeof whose, "self/task/%.20s", thread);
	return procstat(whose, PROCSTAT_STATE, text)[0] == 'R';
}

/* Does any thread but this one run, or would it if it could? */
static bool
some_run(void)
{
	long self = syscall(SYS_gettid);
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	bool some = false;

	while (d && !some && (e = readdir(d)) != NULL)
		some = e->d_name[0] != '.'
		    && strtol(e->d_name, NULL, 10) != self
		    && wants_to_run(e->d_name);
	if (d)
		closedir(d);
	return some;
}

bool
manners_spins(uint64_t before, uint64_t now)
{
	return now > before && now - before > SPIN_NS;
}

/* Until all sleep, or they have used too much: how busy the machine is decides
 * only how long that takes. */
static bool
threads_rest(struct err *err)
{
	uint64_t used = others_ns(), end = clock_ns() + SPIN_WAIT_NS;

	while (some_run() && clock_ns() < end) {
		if (manners_spins(used, others_ns()))
			return err_set(err, ERR_TARGET,
			    "its threads go on running when it is done");
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	}
	return true;
}

/* ---- what a run leaves alone ---- */

static unsigned char *
behind(void *buffer, size_t bytes)
{
	return (unsigned char *)buffer + bytes;
}

static bool
meets(const unsigned char *at, const void *port, size_t bytes)
{
	uintptr_t x = (uintptr_t)at, y = (uintptr_t)port;

	return x < y + bytes && y < x + SLACK;
}

/* In a plan values may lie side by side, to be one later: then what is behind an
 * output is another port of the same run. */
static bool
is_port(const struct manners *m, const unsigned char *at)
{
	for (uint32_t i = 0; i < m->ninputs; i++)
		if (meets(at, m->in[i], m->in_bytes[i]))
			return true;
	for (uint32_t i = 0; i < m->noutputs; i++)
		if (meets(at, m->out[i], m->out_bytes[i]))
			return true;
	return false;
}

void
manners_before(struct manners *m)
{
	struct manners_state *s = memory_get(sizeof *s);
	uint64_t end = clock_ns() + REST_NS;

	while (some_run() && clock_ns() < end)
		nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
	s->rounding = fegetround();
	s->control = float_mode();
	CPU_ZERO(&s->affinity);
	sched_getaffinity(0, sizeof s->affinity, &s->affinity);
	s->input = memory_get((m->ninputs + 1) * sizeof *s->input);
	s->slack = memory_get((size_t)(m->noutputs + 1) * SLACK);
	for (uint32_t i = 0; i < m->ninputs; i++)
		s->input[i] = hash64(m->in[i], m->in_bytes[i], 0);
	for (uint32_t i = 0; i < m->noutputs; i++) {
		unsigned char *at = behind(m->out[i], m->out_bytes[i]);

		if (is_port(m, at))
			continue;
		memcpy(s->slack + (size_t)i * SLACK, at, SLACK);
		memset(at, PATTERN, SLACK);
	}
	m->state = s;
}

/* Is the pattern there? What was before it is put back. */
static bool
slack_ok(const struct manners *m, uint32_t output)
{
	unsigned char *at = behind(m->out[output], m->out_bytes[output]);
	bool ok = true;

	if (is_port(m, at))
		return true;
	for (uint32_t k = 0; k < SLACK; k++)
		ok &= at[k] == PATTERN;
	memcpy(at, m->state->slack + (size_t)output * SLACK, SLACK);
	return ok;
}

static bool
buffers_ok(const struct manners *m, struct err *err)
{
	uint32_t written = UINT32_MAX;

	for (uint32_t i = m->noutputs; i-- > 0;)
		if (!slack_ok(m, i))
			written = i;
	if (written != UINT32_MAX)
		return err_set(err, ERR_TARGET, "it wrote behind output %u",
		    (unsigned)written);
	for (uint32_t i = 0; i < m->ninputs; i++)
		if (hash64(m->in[i], m->in_bytes[i], 0) != m->state->input[i])
			return err_set(err, ERR_TARGET, "it wrote to input %u",
			    (unsigned)i);
	return true;
}

static bool
thread_ok(const struct manners_state *s, struct err *err)
{
	int rounding = fegetround();
	uint32_t control = float_mode();
	cpu_set_t now;

	CPU_ZERO(&now);
	sched_getaffinity(0, sizeof now, &now);
	fesetround(s->rounding);
	float_mode_set(s->control);
	sched_setaffinity(0, sizeof s->affinity, &s->affinity);
	if (rounding != s->rounding)
		return err_set(
		    err, ERR_TARGET, "it left another rounding mode");
	if (control != s->control)
		return err_set(err, ERR_TARGET,
		    "it left another floating-point control word");
	return CPU_EQUAL(&now, &s->affinity)
	    || err_set(err, ERR_TARGET, "it left another affinity");
}

bool
manners_after(struct manners *m, struct err *err)
{
	struct err other = {.kind = ERR_NONE};
	/* both put things right again */
	bool kept = thread_ok(m->state, err), whole = buffers_ok(m, &other);
	bool ok = kept && whole && (m->may_spin || threads_rest(err));

	if (kept && !whole)
		*err = other;
	free(m->state->input);
	free(m->state->slack);
	free(m->state);
	m->state = NULL;
	return ok;
}
