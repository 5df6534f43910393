#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* getloadavg */
#endif
#include "costmodel/environment.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "costmodel/cpu.h"
#include "costmodel/machine_facts.h"
#include "costmodel/job.h"
#include "db/facts.h"
#include "ir/base/buf.h"
#include "targets/kernels.h"

/* Converting uses a library's converters wherever it is built in, whatever the
 * mix is. */
static void
add_converters(struct buf *b)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);

	for (uint32_t i = 0; i < n; i++) {
		const struct target t = {
		    .kind = kind[i], .text = kind[i]->name};

		if (kind[i]->converter && kind[i]->environment)
			kind[i]->environment(&t, b);
	}
}

/* Our own kernels, and how we call a library's. */
static void
add_kernels(struct buf *b, const char *kind)
{
	const char *hash = kernels_hash(kind);

	if (hash)
		buf_printf(b, "kernels_build=%s\n", hash);
}

const char *
environment_machine(uint32_t threads, struct arena *a)
{
	const char *text;
	struct buf b;

	buf_init(&b);
	buf_printf(&b, "protocol=%d\n", MEASURE_PROTOCOL);
	measure_environment(&b, threads);
	text = arena_strn(a, b.data, b.n);
	buf_release(&b);
	return text;
}

const char *
environment_hard(const struct target *t, const char *machine, struct arena *a)
{
	enum price_source source = t ? t->source : PRICE_MEASURED;
	struct buf b;

	buf_init(&b);
	buf_printf(&b, "target=%s\n", t ? t->kind->name : "convert");
	buf_printf(&b, "cost=%s\n", price_source_text(source));
	if (t && t->kind->environment)
		t->kind->environment(t, &b);
	if (!t)
		add_converters(&b);
	add_kernels(&b, t ? t->kind->name : "convert");
	if (b.n && b.data[b.n - 1] != '\n')
		buf_str(&b, "\n");
	if (source == PRICE_MEASURED || (t && t->is_this_cpu))
		buf_str(&b, machine);
	return facts_gathered(&b, a);
}

const char *
environment_other(const char *hard, const char *cost, struct arena *a)
{
	/* The last of equal keys is kept. */
	return facts_canonical(arena_printf(a, "%s\ncost=%s\n", hard, cost), a);
}

/* The first line of a small file of the kernel's, as a fact. */
static void
fact_of_file(struct buf *b, const char *key, const char *path)
{
	char text[256];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof text - 1);

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	buf_printf(b, "%s=%s\n", key, text);
}

static void
add_sold_as(struct buf *b, struct arena *a)
{
	FILE *f = fopen("/proc/cpuinfo", "re");
	const char *name = f ? cpu_sold_as(f, a) : NULL;

	if (name)
		buf_printf(b, "cpu=%s\n", name);
	if (f)
		fclose(f);
}

const char *
environment_soft(uint32_t workers, struct arena *a)
{
	struct utsname u;
	struct buf b;
	double load; /* processes that ran or waited, the last minute */

	buf_init(&b);
	if (uname(&u) == 0)
		buf_printf(&b, "host=%s\nkernel=%s\n", u.nodename, u.release);
	add_sold_as(&b, a);
	buf_printf(&b, "jobs=%u\n", (unsigned)workers);
	if (getloadavg(&load, 1) == 1)
		buf_printf(&b, "load=%.0f\n", load);
	fact_of_file(&b, "governor",
	    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
	fact_of_file(
	    &b, "turbo_off", "/sys/devices/system/cpu/intel_pstate/no_turbo");
	fact_of_file(
	    &b, "huge_pages", "/sys/kernel/mm/transparent_hugepage/enabled");
	fact_of_file(
	    &b, "microcode", "/sys/devices/system/cpu/cpu0/microcode/version");
	return facts_gathered(&b, a);
}
