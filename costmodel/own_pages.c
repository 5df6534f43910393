#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mincore */
#endif
#include "costmodel/own_pages.h"

#include <assert.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ir/base/huge_blocks.h"
#include "ir/base/huge_pages.h"
#include "ir/base/sanitized.h"
#include "ir/base/size.h"

/* Pages in memory of one mapping. */
struct span {
	uintptr_t from, end;
	const unsigned char *resident; /* [pages] bit 0 */
};

struct pages_then {
	struct span *span; /* [n] ascending */
	uint32_t n, cap;
};

/* TUNING: a process with more memory of its own than this, or in more mappings, is not
 * looked through. */
#define SPAN_MAX ((uintptr_t)4 << 30)
#define SPANS_MAX 16384

static uintptr_t
page_bytes(void)
{
	return (uintptr_t)sysconf(_SC_PAGESIZE);
}

void
own_pages_init(struct own_pages *p)
{
	*p = (struct own_pages){0};
	arena_init(&p->arena);
}

void
own_pages_release(struct own_pages *p)
{
	arena_release(&p->arena);
	*p = (struct own_pages){0};
}

static void
forget_pieces(struct own_pages *p)
{
	arena_release(&p->arena);
	arena_init(&p->arena);
	p->then = NULL;
	p->piece = NULL;
	p->n = p->cap = 0;
	p->found = false;
}

void
own_pages_without(struct own_pages *p, const struct arena *a)
{
	assert(p->nothers < OTHERS_MAX);
	p->other[p->nothers++] = a;
}

/* ---- what is in memory ---- */

/* false: something that must be known cannot be seen. */
static bool
see(struct span *s, struct arena *a)
{
	const uintptr_t pages = (s->end - s->from) / page_bytes();
	union {
		uintptr_t number;
		void *at;
	} from = {.number = s->from};
	unsigned char *resident;

	if (s->end - s->from > SPAN_MAX)
		return false;
	resident = arena_alloc(a, pages);
	s->resident = resident;
	return mincore(from.at, s->end - s->from, resident) == 0;
}

static bool
add_piece(struct pages_then *now, const struct span *s, struct arena *a)
{
	if (now->n == SPANS_MAX)
		return false;
	now->span =
	    arena_grow(a, now->span, &now->cap, now->n + 1, sizeof *now->span);
	now->span[now->n++] = *s;
	return true;
}

static void
take_first(struct span *first, const struct span *o, const struct span *within)
{
	if (o->end > within->from && o->from < within->end
	    && o->from < first->from)
		*first = *o;
}

/* The first stretch of [from, end) that is others', or in a huge page only because what is
 * before it is. */
static bool
find_others(
    const struct own_pages *p, const struct span *s, struct span *others)
{
	struct span o;

	others->from = UINTPTR_MAX;
	for (uint32_t i = 0; i < p->nothers; i++)
		for (uint32_t k = 0;
		     arena_mapping(p->other[i], k, &o.from, &o.end); k++)
			take_first(others, &o, s);
	for (uint32_t k = 0; huge_blocks_uncut(k, &o.from, &o.end); k++)
		take_first(others, &o, s);
	return others->from != UINTPTR_MAX;
}

/* A mapping without what is others': the system makes one of neighbours. */
static bool
add_span(struct pages_then *now, const struct span *s, struct own_pages *p)
{
	struct span left = *s, others;

	while (find_others(p, &left, &others)) {
		const struct span before = {left.from, others.from, NULL};

		if (before.from < before.end
		    && !add_piece(now, &before, &p->arena))
			return false;
		left.from = size_round_up(others.end, page_bytes());
		if (left.from >= left.end)
			return true;
	}
	return add_piece(now, &left, &p->arena);
}

/* SOURCE: linux/fs.h of 6.11, PROCMAP_QUERY; older headers lack it, older kernels
 * refuse it. It tells of one mapping without writing all their paths. */
struct mapping_query {
	uint64_t size, flags, address;
	uint64_t from, end, mode, page, offset, inode;
	uint32_t device[2], name_bytes, build_bytes;
	uint64_t name, build;
};

#define QUERY _IOWR('f', 17, struct mapping_query)
#define QUERY_READABLE 1
#define QUERY_WRITABLE 2
#define QUERY_MODE 15 /* with executable and shared */
#define QUERY_OR_NEXT 16

/* The stack that the kernel grows. */
static bool
is_stack(const struct mapping_query *q)
{
	const uint64_t there = getauxval(AT_RANDOM);

	return q->from <= there && there < q->end;
}

/* false: the system cannot be asked so. */
static bool
list_by_asking(int maps, struct pages_then *now, struct own_pages *p, bool *ok)
{
	struct mapping_query q = {.size = sizeof q};

	for (*ok = true; *ok; q.address = q.end) {
		q.flags = QUERY_OR_NEXT | QUERY_WRITABLE;
		if (ioctl(maps, QUERY, &q) != 0)
			return q.address > 0; /* behind the last one */
		if ((q.mode & QUERY_MODE) == (QUERY_READABLE | QUERY_WRITABLE)
		    && q.inode == 0 && !is_stack(&q))
			*ok = add_span(now,
			    &(struct span){
			        (uintptr_t)q.from, (uintptr_t)q.end, NULL},
			    p);
	}
	return true;
}

static bool
list_by_reading(FILE *maps, struct pages_then *now, struct own_pages *p)
{
	char line[512];
	bool ok = true;

	while (ok && fgets(line, sizeof line, maps)) {
		struct span s = {0};

		if (own_mapping_read(line, &s.from, &s.end))
			ok = add_span(now, &s, p);
	}
	return ok;
}

/* Mappings are listed first: what is looked at changes none that is listed later. */
static bool
look(struct pages_then *now, struct own_pages *p)
{
	FILE *f = fopen("/proc/self/maps", "re");
	bool ok = f != NULL;

	if (f && !list_by_asking(fileno(f), now, p, &ok))
		ok = list_by_reading(f, now, p);
	if (f)
		fclose(f);
	for (uint32_t i = 0; ok && i < now->n; i++)
		ok = see(&now->span[i], &p->arena);
	return ok;
}

/* ---- what is new ---- */

void
own_pages_begin(struct own_pages *p)
{
	forget_pieces(p);
	if (SANITIZED)
		return; /* their shadows take terabytes */
#ifdef __GLIBC__
	malloc_trim(0);
#endif
	p->then = arena_new(&p->arena, struct pages_then, 1);
	if (!look(p->then, p))
		p->then = NULL;
}

/* Most mappings are as they were. *i as below. */
static bool
is_unchanged(const struct pages_then *then, uint32_t *i, const struct span *s)
{
	const struct span *old;

	while (*i < then->n && then->span[*i].end <= s->from)
		(*i)++;
	if (*i == then->n)
		return false;
	old = &then->span[*i];
	return old->from == s->from && old->end == s->end
	    && memcmp(old->resident, s->resident,
	           (s->end - s->from) / page_bytes())
	    == 0;
}

/* Was the page in memory then? *i: the first span that does not end before it. */
static bool
was_there(const struct pages_then *then, uint32_t *i, uintptr_t page)
{
	const struct span *s;

	while (*i < then->n && then->span[*i].end <= page)
		(*i)++;
	if (*i == then->n)
		return false;
	s = &then->span[*i];
	return s->from <= page
	    && (s->resident[(page - s->from) / page_bytes()] & 1);
}

void
own_pages_add(struct own_pages *p, const void *at, size_t bytes)
{
	struct touched *last = p->n ? &p->piece[p->n - 1] : NULL;

	if (bytes == 0)
		return;
	if (last && (const char *)last->at + last->bytes == at) {
		last->bytes += bytes;
		return;
	}
	p->piece = arena_grow(
	    &p->arena, p->piece, &p->cap, p->n + 1, sizeof *p->piece);
	p->piece[p->n++] = (struct touched){at, bytes};
}

static void
add_new(struct own_pages *p, const struct span *s, uint32_t *i)
{
	const uintptr_t size = page_bytes();
	union {
		uintptr_t number;
		const void *at;
	} page = {.number = s->from};

	if (is_unchanged(p->then, i, s))
		return;
	for (; page.number < s->end; page.number += size)
		if ((s->resident[(page.number - s->from) / size] & 1)
		    && !was_there(p->then, i, page.number))
			own_pages_add(p, page.at, size);
}

void
own_pages_end(struct own_pages *p)
{
	struct pages_then now = {0};
	uint32_t i = 0;

	if (p->found || !p->then)
		return;
	p->found = look(&now, p);
	for (uint32_t k = 0; p->found && k < now.n; k++)
		add_new(p, &now.span[k], &i);
	p->then = NULL;
}

bool
own_pages_mapped(const struct touched *piece)
{
	const uintptr_t size = page_bytes();
	const uintptr_t skip = (uintptr_t)piece->at % size;
	unsigned char resident[512];
	union {
		const char *read;
		char *at;
	} from = {.read = (const char *)piece->at - skip};
	size_t left = piece->bytes + skip;

	while (left > 0) {
		const size_t now = left < sizeof resident * size
		    ? left
		    : sizeof resident * size;

		if (mincore(from.at, now, resident) != 0)
			return false;
		from.at += now;
		left -= now;
	}
	return true;
}
