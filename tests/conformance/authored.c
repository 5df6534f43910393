/* Operators that are written out when a model is read, put back as their author has
 * them: of the whole of a model and of random stretches of it. The part is written
 * with them, read again and run on the host; it must give the bytes that the part
 * as it was written out gives, and every node must be accounted for. Arguments are
 * folders of folders, each with model.onnx and perhaps test data. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "costmodel/seed.h"
#include "ir/compare.h"
#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/authored.h"
#include "targets/host/host.h"
#include "targets/part.h"
#include "tests/support/folder.h"
#include "tests/support/support.h"

#define STRETCHES 24

struct part {
	const char *folder;
	const struct graph *graph;
	struct candidate candidate;
	struct arena *a;
	char why[600];
};

static uint32_t nparts, ncalls;

/* ---- a candidate ---- */

static bool
is_in(const struct candidate *c, node_id id)
{
	return id != NODE_NONE && id >= c->node[0]
	    && id <= c->node[c->nnodes - 1];
}

static bool
is_used_outside(const struct part *p, value_id v)
{
	const struct graph *g = p->graph;

	for (uint32_t i = 0; i < g->noutputs; i++)
		if (g->output[i] == v)
			return true;
	for (node_id id = 0; id < g->nnodes; id++)
		for (uint32_t i = 0; !is_in(&p->candidate, id)
		     && i < g->node[id].ninputs + g->node[id].nimplicit;
		     i++)
			if (g->node[id].input[i] == v)
				return true;
	return false;
}

static void
find_ports(struct part *p)
{
	const struct graph *g = p->graph;
	struct port *in = arena_new(p->a, struct port, g->nvalues);
	struct port *out = arena_new(p->a, struct port, g->nvalues);
	struct candidate *c = &p->candidate;

	for (value_id v = 0; v < g->nvalues; v++) {
		const struct value *value = graph_value(g, v);
		bool is_read = false;

		for (uint32_t i = 0; i < c->nnodes; i++) {
			const struct node *n = graph_node(g, c->node[i]);

			for (uint32_t k = 0; k < n->ninputs + n->nimplicit; k++)
				is_read |= n->input[k] == v;
		}
		if (is_in(c, value->producer)) {
			if (is_used_outside(p, v))
				out[c->noutputs++].value = v;
		} else if (is_read && !value->constant) {
			in[c->ninputs++].value = v;
		}
	}
	c->input = in;
	c->output = out;
}

static void
stretch(struct part *p, node_id from, uint32_t n)
{
	node_id *node = arena_new(p->a, node_id, n);

	for (uint32_t i = 0; i < n; i++)
		node[i] = from + i;
	p->candidate = (struct candidate){.node = node, .nnodes = n};
	find_ports(p);
}

/* ---- what is fed ---- */

static bool
data_for(struct tensor *out, const struct part *p, value_id v)
{
	for (uint32_t i = 0; i < p->graph->ninputs; i++)
		if (p->graph->input[i] == v)
			return folder_input(out, p->folder, p->graph, i, p->a);
	return false;
}

static bool
feed(struct tensor *out, const struct part *p, value_id v)
{
	return data_for(out, p, v) || seed_tensor(out, p->graph, v, 0, p->a);
}

static struct tensor *
feed_all(const struct part *p)
{
	const struct candidate *c = &p->candidate;
	struct tensor *in = arena_new(p->a, struct tensor, c->ninputs + 1);

	for (uint32_t i = 0; i < c->ninputs; i++)
		if (!feed(&in[i], p, c->input[i].value))
			return NULL;
	return in;
}

/* ---- both forms ---- */

static bool
is_taken(const void *context, const struct node *call)
{
	(void)context;
	return call->op == OP_CUSTOM;
}

/* Every node of the candidate once. */
static bool
is_accounted_for(const struct authored_part *part, const struct candidate *c,
    struct arena *a)
{
	bool *seen = arena_new(a, bool, c->nnodes);
	const uint32_t n = part->start[part->graph->nnodes];

	if (part->start[0] != 0 || n != c->nnodes)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (part->place[i] >= n || seen[part->place[i]])
			return false;
		seen[part->place[i]] = true;
	}
	return true;
}

static bool
write_and_read(
    struct model *out, const struct graph *g, struct arena *a, struct err *err)
{
	char path[] = "/tmp/authored.XXXXXX";
	const struct infer_options infer = {.eval = host_eval};
	const struct onnx_options o = {.opaque = true};
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");
	bool ok;

	if (!f)
		return err_set(err, ERR_IO, "%s: cannot be made", path);
	ok = part_write(f, g, err);
	fclose(f);
	ok = ok && onnx_read(out, path, &o, a, err)
	    && normalize(out->graph, &infer, err);
	remove(path);
	return ok;
}

static bool
compare(struct part *p, const struct tensor *got, const struct tensor *want)
{
	const struct tolerance exact = {.absolute = 0};

	for (uint32_t i = 0; i < p->candidate.noutputs; i++) {
		struct comparison d;

		tensors_compare(&d, &got[i], &want[i], &exact);
		if (!d.matches) {
			snprintf(p->why, sizeof p->why,
			    "'%s' differs by %g of %g",
			    graph_value(p->graph, p->candidate.output[i].value)
			        ->name,
			    d.max_error, d.range);
			return false;
		}
	}
	return true;
}

static bool
same_results(struct part *p, const struct graph *authored,
    const struct tensor *in, const struct tensor *want, struct err *err)
{
	struct tensor *got =
	    arena_new(p->a, struct tensor, p->candidate.noutputs);
	struct model m;

	if (!write_and_read(&m, authored, p->a, err)
	    || !host_run(m.graph, in, got, p->a, err)) {
		snprintf(p->why, sizeof p->why, "%s", err->text);
		return false;
	}
	return compare(p, got, want);
}

/* What cannot be run as it was written out says nothing. */
static bool
check_part(struct part *p)
{
	struct err err = {.kind = ERR_NONE};
	const struct candidate *c = &p->candidate;
	const struct tensor *in = feed_all(p);
	struct tensor *want = arena_new(p->a, struct tensor, c->noutputs);
	struct authored_part part;
	struct authored w;

	authored_find(&w, p->graph, c->node, c->nnodes, is_taken, NULL, p->a);
	if (!in || w.most == 0
	    || !host_run(part_of(p->graph, c, p->a), in, want, p->a, &err))
		return true;
	nparts++;
	if (!authored_part(&part, &w, c, p->a, &err)
	    || !is_accounted_for(&part, c, p->a)) {
		snprintf(p->why, sizeof p->why, "%s",
		    err.kind ? err.text : "not every node once");
		return false;
	}
	for (node_id id = 0; id < part.graph->nnodes; id++)
		ncalls += part.graph->node[id].op == OP_CUSTOM;
	return same_results(p, part.graph, in, want, &err);
}

static bool
check_stretch(struct part *p, node_id from, uint32_t n)
{
	struct arena a;
	bool ok;

	arena_init(&a);
	p->a = &a;
	stretch(p, from, n);
	ok = check_part(p);
	arena_release(&a);
	return ok;
}

/* The whole, and some of it. */
static bool
check_graph(struct part *p, const char *name)
{
	const uint32_t n = p->graph->nnodes;
	struct rng r = rng_seeded(20);

	for (uint32_t i = 0; n > 0 && i <= STRETCHES; i++) {
		const uint32_t length = i ? 1 + rng_below(&r, n) : n;
		const node_id from = rng_below(&r, n - length + 1);

		if (check_stretch(p, from, length))
			continue;
		printf("FAILED %s, %" PRIu32 " nodes from #%" PRIu32 ": %s\n",
		    name, length, from, p->why);
		return false;
	}
	return true;
}

static bool
check(const char *folder, const char *name)
{
	struct err err = {.kind = ERR_NONE};
	struct part p = {.folder = folder};
	struct model m;
	struct arena a;
	bool ok = true;

	arena_init(&a);
	if (folder_model(&m, folder, &a, &err)) {
		p.graph = m.graph;
		ok = m.graph->ncalls == 0 || check_graph(&p, name);
		model_close(&m);
	}
	arena_release(&a);
	return ok;
}

int
main(int argc, char **argv)
{
	uint32_t nmodels = 0,
	         nwrong = folders_each(argc, argv, check, &nmodels);

	printf("%" PRIu32 " models, %" PRIu32 " parts with %" PRIu32
	       " operators as their authors have them, %" PRIu32
	       " models wrong\n",
	    nmodels, nparts, ncalls, nwrong);
	return nmodels == 0 || nwrong > 0;
}
