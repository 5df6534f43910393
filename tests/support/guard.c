#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "tests/support/guard.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ALIGNMENT 64u
#define SLACK 64u
/* TUNING: a sum that nearly cancels is further off than its range says. What comes
 * from outside is further off still. */
#define TIMES 16

struct guarded {
	void *map;
	size_t bytes;
	void *data;
};

/* All bits set: NaN as floating point, -1 as a whole number. */
static bool
map_one(struct guarded *g, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t used =
	    (bytes + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT + SLACK;
	const size_t room = (used + page - 1) / page * page;
	char *at;

	g->bytes = room + page;
	g->map = mmap(NULL, g->bytes, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (g->map == MAP_FAILED)
		return false;
	at = g->map;
	if (mprotect(at + room, page, PROT_NONE) != 0)
		return false;
	memset(at, 0xff, room);
	g->data = at + room - used;
	return true;
}

/* Kernels that share memory take each tensor for itself as well. */
static bool
place(struct trial *t, struct guarded *all)
{
	const struct candidate *c = t->candidate;
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->ninputs; i++, n++) {
		if (!map_one(&all[n], t->in_bytes[i]))
			return false;
		memcpy(all[n].data, t->in[i], t->in_bytes[i]);
		t->in[i] = all[n].data;
	}
	for (uint32_t i = 0; i < c->noutputs; i++, n++) {
		if (!map_one(&all[n], t->out_bytes[i]))
			return false;
		t->out[i] = all[n].data;
	}
	return true;
}

static bool
judge(struct trial *t, struct reference *r, const struct err *fault,
    struct arena *a, struct err *err)
{
	struct err unknown = {.kind = ERR_NONE};
	double error, allowed;

	if (fault->kind != ERR_NONE)
		return err_set(err, ERR_VERDICT, "%s", fault->text);
	if (!trial_check(t, r, &error, &allowed, a, &unknown))
		return true; /* the reference does not know it */
	if (error <= allowed * TIMES)
		return true;
	return err_set(err, ERR_VERDICT,
	    "by itself, beside unmapped pages: %.3g of the range off, allowed "
	    "%.3g",
	    error, allowed);
}

bool
guard_run(const struct graph *g, const struct mix *m, const struct candidate *c,
    struct reference *r, struct arena *a, struct err *err)
{
	const uint32_t n = c->ninputs + c->noutputs;
	struct guarded *all = arena_new(a, struct guarded, n);
	struct err fault = {.kind = ERR_NONE}, refused = {.kind = ERR_NONE};
	struct trial t;
	bool ok = true;

	if (!trial_open(&t, g, m, c, a, &refused))
		return true;
	t.kernel.fault = &fault;
	if (t.kernel.run && place(&t, all)) {
		trial_run(&t);
		ok = judge(&t, r, &fault, a, err);
	}
	trial_close(&t);
	for (uint32_t i = 0; i < n; i++)
		if (all[i].map && all[i].map != MAP_FAILED)
			munmap(all[i].map, all[i].bytes);
	return ok;
}
