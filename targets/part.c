#include "targets/part.h"

#include <string.h>

#include "ir/cut.h"
#include "ir/onnx_write.h"

/* TUNING: domains in one candidate. */
#define OPSETS_MAX 16

struct opset_list {
	struct onnx_opset opset[OPSETS_MAX];
	uint32_t n;
};

static bool
add_opset(struct opset_list *s, const struct node *n, struct err *err)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (strcmp(s->opset[i].domain, n->domain) != 0)
			continue;
		return s->opset[i].version == n->opset
		    || err_set(err, ERR_UNSUPPORTED,
		        "operators of versions %u and %u of domain '%s' do "
		        "not fit into one model",
		        s->opset[i].version, n->opset, n->domain);
	}
	if (s->n == OPSETS_MAX)
		return err_set(err, ERR_UNSUPPORTED,
		    "operators of more than %d domains", OPSETS_MAX);
	s->opset[s->n++] = (struct onnx_opset){n->domain, n->opset};
	return true;
}

/* Bounded by what the importer lets nest. */
static bool
add_opsets(struct opset_list *s, const struct graph *g, struct err *err)
{
	for (node_id i = 0; i < g->nnodes; i++) {
		const struct node *n = graph_node(g, i);

		if (!add_opset(s, n, err))
			return false;
		for (uint32_t k = 0; k < n->nattrs; k++) {
			const struct attr *at = &n->attr[k];

			if (at->kind != ATTR_GRAPH && at->kind != ATTR_GRAPHS)
				continue;
			for (uint32_t j = 0; j < at->n; j++)
				if (!add_opsets(s, at->graphs[j], err))
					return false;
		}
	}
	return true;
}

static uint32_t
default_version(const struct opset_list *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (*s->opset[i].domain == '\0')
			return s->opset[i].version;
	return 1;
}

/* The oldest IR that has everything the opset has: runtimes refuse files that
 * are newer than they are. SOURCE: the table of versions in ONNX's
 * docs/Versioning.md. */
static uint32_t
ir_version(uint32_t opset)
{
	return opset >= 23 ? 11 : opset >= 21 ? 10 : 8;
}

bool
part_write(FILE *f, const struct graph *g, struct err *err)
{
	struct opset_list s = {.n = 0};
	struct onnx_out o = {.graph = g, .opset = s.opset};

	if (!add_opsets(&s, g, err))
		return false;
	o.nopsets = s.n;
	o.ir_version = ir_version(default_version(&s));
	return onnx_write(f, &o, err);
}

struct graph *
part_of(const struct graph *g, const struct candidate *c, struct arena *a)
{
	const struct graph_part part = {
	    .name = "candidate",
	    .nnodes = c->nnodes,
	    .node = c->node,
	    .ninputs = c->ninputs,
	    .input = ports_values(c->input, c->ninputs, a),
	    .noutputs = c->noutputs,
	    .output = ports_values(c->output, c->noutputs, a),
	    .inline_max = SIZE_MAX,
	};

	return graph_cut(g, &part, a);
}

uint32_t
part_implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	(void)m, (void)f;
	if (max == 0)
		return 0;
	out[0] = (struct implementation){
	    .name = "onnx", .input = FORMAT_PLAIN, .output = FORMAT_PLAIN};
	return 1;
}
