#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* madvise */
#endif
#include "ir/base/huge_pages.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "ir/base/sanitized.h"

/* SOURCE: linux/mman.h of 6.1; older headers lack it, older kernels refuse it. */
#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

/* TUNING: those of x86, and of Arm with pages of 4 KiB. Of smaller mappings none fits. */
#define HUGE ((uintptr_t)2 << 20)
#define SPANS 256

struct huge_span {
	uintptr_t from, end;
};

bool
own_mapping_read(const char *line, uintptr_t *from, uintptr_t *end)
{
	char mode[8];
	uint64_t inode;
	int more = 0;

	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %" SCNu64 " %n",
	        from, end, mode, &inode, &more)
	    < 4)
		return false;
	return strcmp(mode, "rw-p") == 0 && inode == 0
	    && strncmp(line + more, "[stack", 6) != 0;
}

/* Whole huge pages of it. */
static bool
read_span(const char *line, struct huge_span *s)
{
	if (!own_mapping_read(line, &s->from, &s->end))
		return false;
	s->from = (s->from + HUGE - 1) & ~(HUGE - 1);
	s->end &= ~(HUGE - 1);
	return s->from < s->end;
}

static void
take(const struct huge_span *s)
{
	union {
		uintptr_t number;
		void *at;
	} from;

	/* one at a time: what cannot be taken does not stand before the others */
	for (from.number = s->from; from.number < s->end; from.number += HUGE)
		(void)madvise(from.at, HUGE, MADV_COLLAPSE);
}

void
huge_pages_take(void)
{
	struct huge_span span[SPANS];
	uint32_t n = 0;
	char line[512];
	FILE *f = SANITIZED ? NULL : fopen("/proc/self/maps", "re");

	while (f && n < SPANS && fgets(line, sizeof line, f))
		n += read_span(line, &span[n]);
	if (f)
		fclose(f);
	for (uint32_t i = 0; i < n; i++)
		take(&span[i]);
}
