#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* madvise */
#endif
#include "ir/base/spare_pages.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/sanitized.h"

/* Pages whose state is asked for at once. */
#define ASKED 512

/* SOURCE: Documentation/admin-guide/mm/pagemap.rst of Linux 6.1. Of a page that was written
 * to, though the mapping forbids it now, the second is not set. */
#define PRESENT (UINT64_C(1) << 63)
#define OF_FILE (UINT64_C(1) << 61)

bool
file_mapping_read(const char *line, uintptr_t *from, uintptr_t *end)
{
	char mode[8];
	uint64_t inode;

	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %7s %*s %*s %" SCNu64, from,
	        end, mode, &inode)
	    < 4)
		return false;
	return mode[0] == 'r' && mode[1] == '-' && inode != 0;
}

static void
let_go(uintptr_t from, uintptr_t end)
{
	union {
		uintptr_t number;
		void *at;
	} first = {.number = from};

	if (from < end)
		(void)madvise(first.at, end - from, MADV_DONTNEED);
}

/* Stretches of pages that are as the file has them. */
static void
return_some(const uint64_t *state, size_t n, uintptr_t from, uintptr_t page)
{
	size_t first = 0;

	for (size_t i = 0; i < n; i++) {
		if ((state[i] & PRESENT) && (state[i] & OF_FILE))
			continue;
		let_go(from + first * page, from + i * page);
		first = i + 1;
	}
	let_go(from + first * page, from + n * page);
}

static void
return_mapping(int pagemap, uintptr_t from, uintptr_t end)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	uint64_t state[ASKED];

	while (from < end) {
		const size_t left = (end - from) / page;
		const size_t n = left < ASKED ? left : ASKED;

		if (pread(pagemap, state, n * sizeof *state,
		        (off_t)(from / page * sizeof *state))
		    != (ssize_t)(n * sizeof *state))
			return;
		return_some(state, n, from, page);
		from += n * page;
	}
}

static void
return_files(void)
{
	const int pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	FILE *maps = fopen("/proc/self/maps", "re");
	uintptr_t from, end;
	char line[512];

	while (pagemap >= 0 && maps && fgets(line, sizeof line, maps))
		if (file_mapping_read(line, &from, &end))
			return_mapping(pagemap, from, end);
	if (maps)
		fclose(maps);
	if (pagemap >= 0)
		close(pagemap);
}

void
spare_pages_return(void)
{
	if (SANITIZED)
		return;
#ifdef __GLIBC__
	malloc_trim(0);
#endif
	return_files();
}
