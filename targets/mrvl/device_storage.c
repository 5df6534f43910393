/* Which outputs share memory: first come, best fit. */
#include <stdlib.h>
#include <string.h>

#include "targets/mrvl/device.h"

struct storage_pool {
	size_t *bytes; /* of each storage */
	uint32_t *free;
	uint32_t n, nfree;
};

/* The smallest free storage that holds it, else the largest; none: a new one. */
static uint32_t
take(struct storage_pool *p, size_t bytes)
{
	uint32_t best = UINT32_MAX, id;

	for (uint32_t i = 0; i < p->nfree; i++) {
		size_t have = p->bytes[p->free[i]];
		size_t got = best == UINT32_MAX ? 0 : p->bytes[p->free[best]];

		if (best == UINT32_MAX
		    || (have >= bytes ? got < bytes || have < got : got < have))
			best = i;
	}
	if (best == UINT32_MAX) {
		p->bytes[p->n] = bytes;
		return p->n++;
	}
	id = p->free[best];
	p->free[best] = p->free[--p->nfree];
	if (p->bytes[id] < bytes)
		p->bytes[id] = bytes;
	return id;
}

/* The last function that reads each entry; itself when nobody does. */
static uint32_t *
last_readers(const struct device *d, uint32_t nentries, struct arena *a)
{
	uint32_t *last = arena_new(a, uint32_t, nentries);

	for (uint32_t i = 0; i < d->nfunctions; i++) {
		const struct device_function *f = &d->function[i];

		for (uint32_t k = 0; k < f->noutputs; k++)
			last[device_entry(
			    d, (struct device_ref){DEVICE_FUNCTION, i, k})] = i;
		for (uint32_t k = 0; k < f->ninputs; k++)
			last[device_entry(d, f->input[k])] = i;
	}
	return last;
}

/* Storages of entries that function i was the last to read, its own outputs
 * that nobody reads among them. */
static void
give_back(struct storage_pool *p, const struct device *d, uint32_t i,
    const uint32_t *last, bool *given)
{
	const struct device_function *f = &d->function[i];

	for (uint32_t k = 0; k < f->ninputs + f->noutputs; k++) {
		struct device_ref r = k < f->ninputs
		    ? f->input[k]
		    : (struct device_ref){DEVICE_FUNCTION, i, k - f->ninputs};
		const struct device_output *o;
		uint32_t entry = device_entry(d, r);

		if (r.kind != DEVICE_FUNCTION || last[entry] != i
		    || given[entry])
			continue;
		o = &d->function[r.index].output[r.output];
		if (!o->head)
			p->free[p->nfree++] = o->storage;
		given[entry] = true;
	}
}

void
device_share_storage(struct device *d, struct arena *a)
{
	uint32_t own = d->ninputs + d->nparams, nentries = own, noutputs = 0;
	uint32_t *last;
	bool *given;
	struct storage_pool p = {0};

	for (uint32_t i = 0; i < d->nfunctions; i++)
		noutputs += d->function[i].noutputs;
	nentries += noutputs;
	last = last_readers(d, nentries, a);
	given = arena_new(a, bool, nentries);
	p.bytes = arena_new(a, size_t, (size_t)noutputs + 1);
	p.free = arena_new(a, uint32_t, (size_t)noutputs + 1);
	for (uint32_t i = 0; i < d->nfunctions; i++) {
		struct device_function *f = &d->function[i];

		for (uint32_t k = 0; k < f->noutputs; k++) {
			size_t bytes = device_bytes(&f->output[k].type);

			if (f->output[k].head) {
				p.bytes[p.n] = bytes;
				f->output[k].storage = p.n++;
			} else
				f->output[k].storage = take(&p, bytes);
		}
		give_back(&p, d, i, last, given);
	}
	for (uint32_t i = 0; i < d->nfunctions; i++)
		for (uint32_t k = 0; k < d->function[i].noutputs; k++)
			d->function[i].output[k].storage += own;
	d->nstorage = own + p.n;
}
