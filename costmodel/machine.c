#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* CPU_SET, sched_setaffinity, RUSAGE_THREAD */
#endif
#include "costmodel/machine.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/clock.h"

uint32_t
machine_cores(uint32_t core[CORES_MAX])
{
	cpu_set_t set;
	uint32_t n = 0;

	CPU_ZERO(&set);
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		for (uint32_t i = 0; i < CPU_SETSIZE && n < CORES_MAX; i++)
			if (CPU_ISSET(i, &set))
				core[n++] = i;
	if (n == 0)
		core[n++] = 0;
	return n;
}

void
machine_pin(const uint32_t *core, uint32_t n)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	for (uint32_t i = 0; i < n; i++)
		CPU_SET(core[i], &set);
	sched_setaffinity(0, sizeof set, &set);
}

void
machine_own_session(void)
{
	int fd;

	setsid();
	fd = open("/proc/self/autogroup", O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	if (write(fd, "-20", 3) != 3)
		errno = 0; /* not permitted: measured with more noise */
	close(fd);
}

/* SOURCE: sched(7): real-time threads have 950 ms of each second, and whoever has had
 * them is stopped for the other 50. One part of rest behind ten is so much in each
 * second, however long a run is. */
#define URGENT_PARTS 10
/* TUNING: what runs behind a rest is a little slower, so not after each short run. */
#define URGENT_NS UINT64_C(100000000)

/* Time as an urgent process that no rest has been taken for. */
static struct {
	bool now;
	uint64_t since, had;
} urgent;

static void
rest_for(uint64_t ns)
{
	struct timespec left = {.tv_nsec = (long)(ns % 1000000000),
	    .tv_sec = (time_t)(ns / 1000000000)};

	while (nanosleep(&left, &left) != 0 && errno == EINTR)
		;
}

void
machine_rest(void)
{
	const uint64_t now = clock_ns();

	if (urgent.now)
		urgent.had += now - urgent.since;
	if (urgent.had >= URGENT_NS) {
		rest_for(urgent.had / URGENT_PARTS);
		urgent.had = 0;
	}
	urgent.since = clock_ns();
}

void
machine_urgent(bool on)
{
	const struct sched_param p = {.sched_priority = on ? 1 : 0};
	DIR *tasks = opendir("/proc/self/task");
	const struct dirent *task;

	/* A library's helpers too, or the first waits for them all the time. */
	while (tasks && (task = readdir(tasks)) != NULL)
		if (isdigit((unsigned char)task->d_name[0]))
			sched_setscheduler((pid_t)atol(task->d_name),
			    on ? SCHED_FIFO : SCHED_OTHER, &p);
	if (tasks)
		closedir(tasks);
	machine_rest();
	urgent.now = on && sched_getscheduler(0) == SCHED_FIFO;
}

long
machine_preemptions(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nivcsw;
}

/* TUNING: threads that wait look for work for some 100 us, then sleep: waking one takes
 * 20 to 60 us for every kernel, and those that spin for longer keep other
 * libraries' threads off the cores for tens of milliseconds in a plan that mixes
 * libraries. OpenBLAS's for two to the power of that in ticks of the clock. */
static const struct {
	const char *name, *value;
} waiting[] = {
    {"OMP_WAIT_POLICY", "passive"},
    {"GOMP_SPINCOUNT", "10000"},
    {"OPENBLAS_THREAD_TIMEOUT", "18"},
};
#define NWAITING (sizeof waiting / sizeof *waiting)

/* Set for the program that machine_clean_environment() starts in our place: a
 * preloaded library may set variables again, and it must not start a third. */
#define CLEANED "MARQ_CLEANED"

static bool
steers_libraries(const char *variable)
{
	static const char *const prefix[] = {"OPENBLAS_", "GOTO_", "OMP_",
	    "GOMP_", "KMP_", "DNNL_", "ONEDNN_", "MKL_", "MKLDNN_", "BLIS_"};

	for (size_t i = 0; i < NWAITING; i++) {
		size_t n = strlen(waiting[i].name);

		if (strncmp(variable, waiting[i].name, n) == 0
		    && variable[n] == '='
		    && strcmp(variable + n + 1, waiting[i].value) == 0)
			return false;
	}
	for (size_t i = 0; i < sizeof prefix / sizeof *prefix; i++)
		if (strncmp(variable, prefix[i], strlen(prefix[i])) == 0)
			return true;
	return false;
}

/* OpenBLAS's threads ask for memory for ever where the address space is limited,
 * and fork() and exit() wait for them: none may begin when it is loaded. */
#define BLAS "OPENBLAS_NUM_THREADS"

static bool
is_limited(void)
{
	struct rlimit r;

	return getrlimit(RLIMIT_AS, &r) == 0 && r.rlim_cur != RLIM_INFINITY;
}

/* Remove one of them; false when there is none left. */
static bool
unset_one(void)
{
	char name[256];

	for (char **e = environ; *e; e++) {
		size_t n = strcspn(*e, "=");

		if (!steers_libraries(*e) || n >= sizeof name)
			continue;
		memcpy(name, *e, n);
		name[n] = '\0';
		return unsetenv(name) == 0;
	}
	return false;
}

/* Is one of them not so yet? */
static bool
let_sleep(void)
{
	bool news = false;

	for (size_t i = 0; i < NWAITING; i++) {
		const char *now = getenv(waiting[i].name);

		if (now && strcmp(now, waiting[i].value) == 0)
			continue;
		setenv(waiting[i].name, waiting[i].value, 1);
		news = true;
	}
	return news;
}

void
machine_clean_environment(char **argv, bool alone)
{
	bool cleaned = getenv(CLEANED) && unsetenv(CLEANED) == 0;
	bool steered = unset_one();

	while (unset_one())
		;
	if ((!let_sleep() || alone) && !steered && (cleaned || !is_limited()))
		return;
	if (cleaned || setenv(CLEANED, "1", 1) != 0)
		return;
	if (is_limited())
		setenv(BLAS, "1", 1);
	execv("/proc/self/exe", argv);
	unsetenv(CLEANED);
	unsetenv(BLAS);
}
