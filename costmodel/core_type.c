#include "costmodel/core_type.h"

#include <stdbool.h>
#include <string.h>

#include "costmodel/cpu.h"
#include "db/facts.h"
#include "ir/base/arena.h"
#include "ir/base/buf.h"

struct core_kind {
	const char *type; /* what its facts say of it */
	unsigned long speed; /* as the kernel counts; 0: it does not say */
	uint32_t ncores; /* of that type */
};

/* Their facts, as far as they tell cores apart. */
static const char *
facts_of(const uint32_t *core, uint32_t n, FILE *cpuinfo, const char *sysfs,
    struct arena *a)
{
	struct buf b;

	buf_init(&b);
	rewind(cpuinfo);
	cpu_facts_read(&b, cpuinfo, core, n);
	cpu_kinds(&b, sysfs, core, n);
	return facts_gathered(&b, a);
}

/* SOURCE: Linux, Documentation/ABI/testing/sysfs-devices-system-cpu: capacity is
 * relative to the fastest core's, 1024; frequency is in kHz. A machine has the
 * first of all its cores or of none. */
static unsigned long
speed_of(uint32_t core, const char *sysfs)
{
	static const char *const name[] = {
	    "cpu_capacity", "cpufreq/cpuinfo_max_freq"};
	unsigned long speed = 0;

	for (size_t i = 0; i < sizeof name / sizeof *name && speed == 0; i++) {
		char path[256];
		FILE *f;

		snprintf(path, sizeof path, "%s/system/cpu/cpu%u/%s", sysfs,
		    (unsigned)core, name[i]);
		f = fopen(path, "re");
		if (f && fscanf(f, "%lu", &speed) != 1)
			speed = 0;
		if (f)
			fclose(f);
	}
	return speed;
}

static void
count_types(struct core_kind *kind, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < n; k++)
			kind[i].ncores +=
			    strcmp(kind[i].type, kind[k].type) == 0;
}

static const char *
best_type(const struct core_kind *kind, uint32_t n, uint32_t threads)
{
	const struct core_kind *best = NULL;

	for (uint32_t i = 0; i < n; i++)
		if (kind[i].ncores >= threads
		    && (!best || kind[i].speed >= best->speed))
			best = &kind[i];
	return best ? best->type : NULL;
}

static uint32_t
keep_best(uint32_t *core, uint32_t n, uint32_t threads, FILE *cpuinfo,
    const char *sysfs, struct arena *a)
{
	struct core_kind *kind = arena_new(a, struct core_kind, n);
	const char *best;
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		kind[i] = (struct core_kind){
		    .type = facts_of(&core[i], 1, cpuinfo, sysfs, a),
		    .speed = speed_of(core[i], sysfs)};
	count_types(kind, n);
	best = best_type(kind, n, threads);
	for (uint32_t i = 0; i < n; i++)
		if (!best || strcmp(kind[i].type, best) == 0)
			core[kept++] = core[i];
	return kept;
}

uint32_t
cores_of_one_type(uint32_t *core, uint32_t n, uint32_t threads, FILE *cpuinfo,
    const char *sysfs)
{
	struct arena a;

	arena_init(&a);
	if (cpu_core_types(facts_of(core, n, cpuinfo, sysfs, &a), &a) > 1)
		n = keep_best(core, n, threads, cpuinfo, sysfs, &a);
	arena_release(&a);
	return n;
}

uint32_t
measuring_cores(uint32_t core[CORES_MAX], uint32_t threads)
{
	uint32_t n = machine_cores(core);
	FILE *cpuinfo = fopen("/proc/cpuinfo", "re");

	if (cpuinfo) {
		n = cores_of_one_type(
		    core, n, threads, cpuinfo, "/sys/devices");
		fclose(cpuinfo);
	}
	return n;
}
