#include "tests/support/keyed.h"

#include <stdlib.h>
#include <string.h>

#include "costmodel/key.h"
#include "ir/normalize.h"
#include "ir/text.h"
#include "targets/candidates.h"
#include "targets/host/host.h"

static int
compare_hashes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct hash128));
}

static struct hash128
hash_all(const struct graph *g, const struct mix *mix,
    const struct candidates *c, struct arena *a)
{
	struct hash128 *all = arena_new(a, struct hash128, c->n);
	struct keys keys;

	keys_init(&keys, g, mix, a);
	for (uint32_t i = 0; i < c->n; i++) {
		struct buf b;

		buf_init(&b);
		key_candidate(&keys, &b, &c->candidate[i], KEY_FULL, a);
		all[i] = hash128(b.data, b.n);
		buf_release(&b);
	}
	if (c->n > 1)
		qsort(all, c->n, sizeof *all, compare_hashes);
	return hash128(all, c->n * sizeof *all);
}

bool
keyed_graph(const struct graph *g, struct hash128 *keys, struct err *err)
{
	static const char *const host[] = {"host"};
	const struct candidate_options nothing = {.assume = NULL};
	struct candidates c;
	struct mix mix;
	struct arena a;
	bool ok;

	arena_init(&a);
	ok = mix_open(&mix, host, 1, &a, err)
	    && candidates_find(&c, g, &mix, &nothing, &a, err);
	if (ok)
		*keys = hash_all(g, &mix, &c, &a);
	arena_release(&a);
	return ok;
}

bool
keyed_text(const char *text, struct hash128 *keys, struct err *err)
{
	struct infer_options o = {.eval = host_eval};
	struct notes notes;
	struct graph *g;
	struct arena a;
	bool ok;

	arena_init(&a);
	notes_init(&notes, &a);
	o.notes = &notes;
	ok = graph_parse(&g, text, strlen(text), "text", &a, err)
	    && normalize(g, &o, err) && keyed_graph(g, keys, err);
	arena_release(&a);
	return ok;
}
