/* A fleet on paper: MODELS networks in four mixes, shared out among SHARDS by the
 * hashes of their keys as `marq batch --phase measure` does, prices by a roofline,
 * all shards merged. bench_fleet [MODELS [SHARDS [keep]]]; it writes into the current
 * folder and removes what it wrote, but for the shards where they are kept. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/common/scratch.h"
#include "cli/shard.h" /* its source is cli/shard.c */
#include "costmodel/key.h"
#include "db/admin.h"
#include "ir/base/clock.h"
#include "ir/base/map.h"
#include "ir/base/order.h"
#include "tests/support/support.h"

#define LAYERS 60
#define TARGETS 3
#define IMPLEMENTATIONS 5
#define MERGED "fleet-merged.db"

static const struct rule rules[] = {{.name = "conv"}};
static const struct target_kind kinds[TARGETS] = {
    {.name = "one", .rule = rules, .nrules = 1, .source = PRICE_MEASURED},
    {.name = "two", .rule = rules, .nrules = 1, .source = PRICE_MEASURED},
    {.name = "three", .rule = rules, .nrules = 1, .source = PRICE_MEASURED},
};
static const struct target targets[TARGETS] = {
    {.kind = &kinds[0], .text = "one"},
    {.kind = &kinds[1], .text = "two"},
    {.kind = &kinds[2], .text = "three"},
};
static const char *const implementation[IMPLEMENTATIONS] = {
    "direct/nhwc", "direct/blk16", "winograd/blk16", "gemm/nhwc", "gemm/plain"};

/* Whose candidates a unit has: bits of targets[]. */
static const unsigned mixes[] = {1, 2, 3, 7};

struct one_shard {
	struct shard shard;
	struct costdb *db;
	db_id env[TARGETS];
	struct map done; /* hashes of keys */
	uint64_t prices, span_ns;
};

struct fleet {
	struct arena a;
	struct one_shard *shard; /* [nshards] */
	uint32_t nmodels, nshards;
	uint64_t wanted; /* candidates of all units */
};

static const char *
path_of(uint32_t shard, char text[32])
{
	snprintf(text, 32, "fleet-%u.db", shard);
	return text;
}

/* ---- networks ---- */

struct layer {
	int64_t in, out, size, kernel;
};

static void
add_layer(struct graph *g, const struct layer *l, struct arena *a)
{
	int64_t *dim = arena_new(a, int64_t, 8);
	struct type type = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 4, .dim = dim};
	struct tensor *w = arena_new(a, struct tensor, 1);
	value_id *port = arena_new(a, value_id, 3);
	static const float zero;

	memcpy(dim,
	    (int64_t[]){1, l->in, l->size, l->size, l->out, l->in, l->kernel,
	        l->kernel},
	    8 * sizeof *dim);
	*w = tensor_fill(DT_FLOAT, 4, dim + 4, &zero);
	port[0] = graph_add_value(g, "x", &type);
	port[1] = graph_add_constant(g, "w", w);
	port[2] = graph_add_value(g, "y", &type);
	graph_add_node(g,
	    &(struct node){.op = OP_CONV,
	        .op_type = "Conv",
	        .domain = "",
	        .name = "",
	        .opset = 13,
	        .ninputs = 2,
	        .noutputs = 1,
	        .input = port,
	        .output = port + 2});
}

/* Sizes halve on the way through, channels are multiples of eight. */
static void
make_network(
    struct graph *g, struct layer *layer, uint32_t number, struct arena *a)
{
	struct rng r = rng_seeded(number + 1);
	int64_t in = 8;

	for (uint32_t i = 0; i < LAYERS; i++) {
		layer[i] = (struct layer){.in = in,
		    .out = 8 * (1 + (int64_t)(rng_next(&r) % 64)),
		    .size = 112 >> (i * 5 / LAYERS),
		    .kernel = 1 + 2 * (int64_t)(rng_next(&r) % 3)};
		add_layer(g, &layer[i], a);
		in = layer[i].out;
	}
}

/* Nanoseconds, by what has to be computed and moved. */
static uint64_t
simulate(const struct layer *l, uint32_t target, uint32_t how)
{
	uint64_t area = (uint64_t)(l->size * l->size);
	uint64_t macs =
	    area * (uint64_t)(l->in * l->out * l->kernel * l->kernel);
	uint64_t bytes = 4 * area * (uint64_t)(l->in + l->out);

	return 1000 + macs / (16 + 8 * target + how) + bytes / (4 + how);
}

/* ---- measuring, on paper ---- */

static void
measure(struct one_shard *s, uint32_t target, const struct db_subject *subject,
    uint64_t ns)
{
	struct err err = {.kind = ERR_NONE};
	struct sample x = {.n = 11,
	    .low = ns,
	    .median = ns + ns / 50,
	    .high = ns + ns / 20,
	    .min = ns,
	    .span_ns = ns < 2000000 ? 20000000 : 11 * ns};

	must(costdb_put(s->db, subject, s->env[target], &x, &err), &err);
	s->prices++;
	s->span_ns += x.span_ns;
}

static void
want(struct fleet *f, const struct db_subject *subject, uint32_t target,
    uint64_t ns)
{
	struct hash128 h = hash128(subject->bytes, subject->n);
	struct one_shard *s = f->shard;

	f->wanted++;
	while (!shard_owns(&s->shard, h))
		s++;
	if (map_find(&s->done, h.byte, sizeof h.byte) != MAP_NONE)
		return;
	map_add(&s->done, arena_copy(&f->a, h.byte, sizeof h.byte),
	    sizeof h.byte, 0);
	measure(s, target, subject, ns);
}

static struct hash128
hash_of(struct keys *k, const struct candidate *c, enum key_detail detail,
    struct buf *b, struct arena *scratch)
{
	b->n = 0;
	key_candidate(k, b, c, detail, scratch);
	return hash128(b->data, b->n);
}

static void
want_candidate(struct fleet *f, struct keys *k, const struct candidate *c,
    const struct layer *l, uint32_t how, struct buf b[2], struct arena *scratch)
{
	struct db_subject subject = {.kind = "candidate"};

	subject.skeleton = hash_of(k, c, KEY_SKELETON, &b[1], scratch);
	subject.family = hash_of(k, c, KEY_FAMILY, &b[1], scratch);
	(void)hash_of(k, c, KEY_FULL, &b[0], scratch);
	subject.bytes = b[0].data;
	subject.n = b[0].n;
	subject.summary = key_summary(k->graph, k->mix, c, scratch);
	want(f, &subject, c->target, simulate(l, c->target, how));
}

static void
want_unit(struct fleet *f, const struct graph *g, const struct layer *layer,
    const struct mix *mix, unsigned bits, struct arena *a)
{
	struct buf b[2];
	struct keys keys;
	struct arena scratch;

	buf_init(&b[0]);
	buf_init(&b[1]);
	keys_init(&keys, g, mix, a);
	arena_init(&scratch);
	for (uint32_t i = 0; i < LAYERS * TARGETS * IMPLEMENTATIONS; i++) {
		node_id node = i / (TARGETS * IMPLEMENTATIONS);
		uint32_t how = i % IMPLEMENTATIONS;
		uint32_t target = i / IMPLEMENTATIONS % TARGETS;
		struct port port[2] = {{g->node[node].input[0], FORMAT_PLAIN},
		    {g->node[node].output[0], FORMAT_PLAIN}};
		struct candidate c = {.target = target,
		    .implementation_name = implementation[how],
		    .nnodes = 1,
		    .node = &node,
		    .ninputs = 1,
		    .noutputs = 1,
		    .input = port,
		    .output = port + 1};

		if (bits >> target & 1)
			want_candidate(
			    f, &keys, &c, &layer[node], how, b, &scratch);
		arena_release(&scratch);
		arena_init(&scratch);
	}
	arena_release(&scratch);
	buf_release(&b[0]);
	buf_release(&b[1]);
}

static void
open_shards(struct fleet *f)
{
	struct err err = {.kind = ERR_NONE};
	char path[32], hard[64];

	f->shard = arena_new(&f->a, struct one_shard, f->nshards);
	for (uint32_t i = 0; i < f->nshards; i++) {
		struct one_shard *s = &f->shard[i];

		s->shard = (struct shard){.i = i, .n = f->nshards};
		map_init(&s->done, &f->a);
		remove_db(path_of(i, path));
		must(costdb_open(&s->db, path, DB_WRITE, &f->a, &err), &err);
		snprintf(hard, sizeof hard, "host=node%u\n", i);
		must(costdb_begin_run(
		         s->db, "bench_fleet", "measure", hard, &err),
		    &err);
		for (int t = 0; t < TARGETS; t++) {
			snprintf(
			    hard, sizeof hard, "target=%s\n", targets[t].text);
			must(costdb_environment(
			         s->db, hard, true, &s->env[t], &err),
			    &err);
		}
	}
}

static void
measure_all(struct fleet *f)
{
	struct err err = {.kind = ERR_NONE};
	uint64_t start = clock_ns(), prices = 0;

	open_shards(f);
	for (uint32_t i = 0; i < f->nmodels; i++) {
		struct mix mix = {.target = targets, .n = TARGETS};
		struct layer layer[LAYERS];
		struct arena a;
		struct graph *g;

		arena_init(&a);
		formats_init(&mix.formats);
		g = graph_new(&a, "network");
		make_network(g, layer, i, &a);
		for (size_t k = 0; k < sizeof mixes / sizeof *mixes; k++)
			want_unit(f, g, layer, &mix, mixes[k], &a);
		arena_release(&a);
	}
	for (uint32_t i = 0; i < f->nshards; i++) {
		prices += f->shard[i].prices;
		must(costdb_close(f->shard[i].db, &err), &err);
	}
	printf("%u models x %zu mixes, %u shards: %" PRIu64
	       " candidates, %" PRIu64 " prices, stored in %.0f s\n",
	    f->nmodels, sizeof mixes / sizeof *mixes, f->nshards, f->wanted,
	    prices, (double)(clock_ns() - start) / 1e9);
}

/* The longest shard keeps the others waiting. */
static void
print_stragglers(const struct fleet *f)
{
	uint64_t *span = calloc(f->nshards, sizeof *span), sum = 0;

	for (uint32_t i = 0; i < f->nshards; i++)
		sum += span[i] = f->shard[i].span_ns;
	qsort(span, f->nshards, sizeof *span, by_u64);
	printf("measuring: %.0f s of one machine; a shard %.0f..%.0f s, "
	       "median %.0f s; the longest is x%.3f of the mean\n",
	    (double)sum / 1e9, (double)span[0] / 1e9,
	    (double)span[f->nshards - 1] / 1e9,
	    (double)span[f->nshards / 2] / 1e9,
	    (double)span[f->nshards - 1] * f->nshards / (double)sum);
	free(span);
}

/* ---- merging ---- */

static void
merge_shard(struct costdb *to, uint32_t shard, struct db_merge *sum)
{
	struct err err = {.kind = ERR_NONE};
	struct costdb *from;
	struct db_merge m;
	struct arena a;
	char path[32];

	arena_init(&a);
	must(costdb_open(&from, path_of(shard, path), DB_FOREIGN, &a, &err),
	    &err);
	must(costdb_merge(to, from, &m, NULL, &err), &err);
	costdb_abandon(from);
	arena_release(&a);
	sum->added += m.added;
	sum->known += m.known;
	sum->rejected += m.rejected;
	sum->conflicts += m.conflicts;
}

static double
megabytes(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? (double)st.st_size / 1e6 : 0;
}

/* A quarter of the shards at a time, stored each time. */
static void
merge_all(const struct fleet *f, const char *words)
{
	struct err err = {.kind = ERR_NONE};
	struct db_merge sum = {.added = 0};
	struct costdb *to;
	uint64_t start = clock_ns(), before, cpu;
	double seconds;
	struct arena a;
	uint32_t i = 0;

	arena_init(&a);
	must(costdb_open(&to, MERGED, DB_WRITE, &a, &err), &err);
	printf("%s:\n", words);
	for (uint32_t part = 1; part <= 4; part++) {
		uint64_t seen = sum.added + sum.known;

		before = clock_ns();
		cpu = clock_cpu_ns();
		must(costdb_merge_begin(to, &err), &err);
		for (; i < (uint64_t)f->nshards * part / 4; i++)
			merge_shard(to, i, &sum);
		must(costdb_merge_end(to, true, &err), &err);
		seen = sum.added + sum.known - seen;
		seconds = (double)(clock_cpu_ns() - cpu) / 1e9;
		printf("  %3u shards: %7" PRIu64 " prices in %6.2f s, "
		       "%6.2f s of processor time: %.0f a second of that\n",
		    i, seen, (double)(clock_ns() - before) / 1e9, seconds,
		    (double)seen / seconds);
	}
	must(costdb_close(to, &err), &err);
	printf("  together %.2f s, %.0f prices a second: %" PRIu64
	       " added, %" PRIu64 " known, %" PRIu64 " rejected, %" PRIu64
	       " conflicts; %.0f MB\n",
	    (double)(clock_ns() - start) / 1e9,
	    (double)(sum.added + sum.known) * 1e9
	        / (double)(clock_ns() - start),
	    sum.added, sum.known, sum.rejected, sum.conflicts,
	    megabytes(MERGED));
	arena_release(&a);
}

static void
print_twice(void)
{
	struct err err = {.kind = ERR_NONE};
	struct db_stat st;
	struct costdb *db;
	uint32_t strangers;
	uint64_t start;
	struct arena a;

	arena_init(&a);
	must(costdb_open(&db, MERGED, DB_READ, &a, &err), &err);
	must(costdb_stat(db, &st, &err), &err);
	start = clock_ns();
	must(costdb_twins(db, &strangers, NULL, &err), &err);
	printf("measured twice: %" PRIu64 " of %" PRIu64
	       "; machines compared in %.2f s\n",
	    st.attempts - st.subjects, st.attempts,
	    (double)(clock_ns() - start) / 1e9);
	costdb_abandon(db);
	arena_release(&a);
}

int
main(int argc, char **argv)
{
	struct fleet f = {
	    .nmodels = argc > 1 ? (uint32_t)atoi(argv[1]) : 2000,
	    .nshards = argc > 2 ? (uint32_t)atoi(argv[2]) : 200,
	};
	char path[32];

	arena_init(&f.a);
	measure_all(&f);
	print_stragglers(&f);
	remove_db(MERGED);
	merge_all(&f, "merged");
	merge_all(&f, "again");
	print_twice();
	for (uint32_t i = 0; argc < 4 && i < f.nshards; i++)
		remove_db(path_of(i, path));
	remove_db(MERGED);
	arena_release(&f.a);
	return 0;
}
