#define _DEFAULT_SOURCE
#include "tests/support/family.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "ir/base/clock.h"

#define PROCESSES_MAX 65536u
#define LOOK_NS UINT64_C(500000000)

/* A line of /proc/PID/stat. */
struct process {
	pid_t pid, parent;
	uint64_t ticks; /* its own and of children it has waited for */
};

static bool
process_read(struct process *p, const char *pid)
{
	unsigned long own[2];
	long waited[2];
	char path[64], line[1024];
	const char *name_end;
	int parent;
	FILE *f;

	snprintf(path, sizeof path, "/proc/%.20s/stat", pid);
	f = fopen(path, "re");
	if (!f)
		return false;
	line[fread(line, 1, sizeof line - 1, f)] = '\0';
	fclose(f);
	name_end = strrchr(line, ')'); /* a name may hold anything */
	if (!name_end
	    || sscanf(name_end + 1,
	           " %*c %d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld "
	           "%ld",
	           &parent, &own[0], &own[1], &waited[0], &waited[1])
	        != 5)
		return false;
	p->pid = (pid_t)strtol(pid, NULL, 10);
	p->parent = parent;
	p->ticks = own[0] + own[1] + (uint64_t)(waited[0] + waited[1]);
	return true;
}

static uint32_t
processes_read(struct process *all)
{
	DIR *proc = opendir("/proc");
	const struct dirent *e;
	uint32_t n = 0;

	while (proc && n < PROCESSES_MAX && (e = readdir(proc)) != NULL)
		if (e->d_name[0] >= '1' && e->d_name[0] <= '9'
		    && process_read(&all[n], e->d_name))
			n++;
	if (proc)
		closedir(proc);
	return n;
}

/* Ticks of a process and its descendants. */
static uint64_t
ticks_below(const struct process *all, uint32_t n, pid_t pid)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < n; i++)
		if (all[i].pid == pid)
			sum += all[i].ticks;
		else if (all[i].parent == pid)
			sum += ticks_below(all, n, all[i].pid);
	return sum;
}

uint64_t
family_cpu_ms(pid_t leader)
{
	struct process *all = calloc(PROCESSES_MAX, sizeof *all);
	uint64_t ticks = 0;

	if (all)
		ticks = ticks_below(all, processes_read(all), leader);
	free(all);
	return ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}

enum family_end
family_wait(pid_t leader, struct family_limits limits, int *status)
{
	const struct timespec nap = {.tv_nsec = 5000000};
	uint64_t looked = clock_ns(), moved = looked, had = 0;
	enum family_end end = FAMILY_ENDED;

	while (end == FAMILY_ENDED && waitpid(leader, status, WNOHANG) == 0) {
		uint64_t now = clock_ns(), cpu;

		nanosleep(&nap, NULL);
		if (now - looked < LOOK_NS)
			continue;
		looked = now;
		cpu = family_cpu_ms(leader);
		if (cpu != had)
			moved = now;
		had = cpu;
		if (cpu > limits.cpu_ms)
			end = FAMILY_BUSY;
		else if (now - moved > limits.idle_ms * 1000000u)
			end = FAMILY_STUCK;
	}
	kill(-leader, SIGKILL); /* or what it left behind */
	if (end != FAMILY_ENDED)
		waitpid(leader, status, 0);
	return end;
}
