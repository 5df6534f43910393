#include "targets/part.h"

#include <string.h>

#include "ir/cut.h"
#include "ir/infer.h"
#include "ir/onnx_write.h"
#include "ir/schema.h"

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
		struct onnx_opset *o = &s->opset[i];

		if (strcmp(o->domain, n->domain) != 0)
			continue;
		if (o->version == n->opset || !*n->domain) {
			o->version =
			    o->version < n->opset ? o->version : n->opset;
			return true;
		}
		return err_set(err, ERR_UNSUPPORTED,
		    "operators of versions %u and %u of domain '%s' do "
		    "not fit into one model",
		    o->version, n->opset, n->domain);
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
	const struct graph *body;

	for (node_id i = 0; i < g->nnodes; i++) {
		const struct node *n = graph_node(g, i);

		if (!add_opset(s, n, err))
			return false;
		for (uint32_t k = 0; (body = node_body(n, k)) != NULL; k++)
			if (!add_opsets(s, body, err))
				return false;
	}
	return true;
}

/* Do all nodes of the default domain say in that version what they say in their own?
 * Bodies are of the version of their node. */
static bool
all_hold(const struct graph *g, uint32_t version)
{
	for (node_id i = 0; i < g->nnodes; i++) {
		const struct node *n = graph_node(g, i);

		if (*n->domain || n->op == OP_CUSTOM || n->opset == version)
			continue;
		if (!schema_holds(n, version) || !node_takes(g, n, version)
		    || node_body(n, 0))
			return false;
	}
	return true;
}

/* The oldest version of the default domain, from that of the oldest node up, in which
 * all say the same: nodes that were written out are of a newer one. */
static bool
find_version(struct opset_list *s, const struct graph *g, struct err *err)
{
	struct onnx_opset *o = s->opset;
	uint32_t oldest;

	while (o < s->opset + s->n && *o->domain)
		o++;
	if (o == s->opset + s->n)
		return true;
	oldest = o->version;
	while (o->version <= OPSET_NEWEST && !all_hold(g, o->version))
		o->version++;
	return o->version <= OPSET_NEWEST
	    || err_set(err, ERR_UNSUPPORTED,
	        "operators of versions from %u on of domain '' do not fit "
	        "into one model",
	        oldest);
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

	if (!add_opsets(&s, g, err) || !find_version(&s, g, err))
		return false;
	o.nopsets = s.n;
	o.ir_version = ir_version(default_version(&s));
	return onnx_write(f, &o, err);
}

/* ---- reductions of two kinds ---- */

/* Where axes became an input. */
#define AXES_GIVEN 18

/* What was written out takes axes as an input; as an attribute they say the same,
 * and fit beside nodes of a model that is older than that. */
static void
give_attribute(const struct graph *g, struct node *n, struct arena *a)
{
	const struct value *axes = node_in(g, n, 1);
	struct attr *attr = arena_new(a, struct attr, n->nattrs + 1);
	int64_t *ints;

	if (op_get(n->op)->fusion != FUSE_REDUCTION || n->opset < AXES_GIVEN
	    || n->ninputs != 2 || !axes || !axes->constant
	    || axes->constant->count == 0
	    || node_attr(n, "noop_with_empty_axes"))
		return;
	ints = arena_new(a, int64_t, axes->constant->count);
	for (size_t i = 0; i < axes->constant->count; i++)
		ints[i] = tensor_int(axes->constant, i);
	memcpy(attr, n->attr, n->nattrs * sizeof *attr);
	attr[n->nattrs] = (struct attr){.name = "axes",
	    .kind = ATTR_INTS,
	    .n = (uint32_t)axes->constant->count,
	    .ints = ints};
	if (schema_attr(n->op, AXES_GIVEN - 1, &attr[n->nattrs],
	        &(enum attr_kind){ATTR_NONE})
	    != ATTR_FITS)
		return;
	n->attr = attr;
	n->nattrs++;
	n->ninputs = 1;
	n->opset = AXES_GIVEN - 1;
}

/* Where no version has both kinds, all are of the older one. */
static void
reconcile(struct graph *g, struct arena *a)
{
	struct opset_list s = {.n = 0};
	struct err err = {.kind = ERR_NONE};

	if (!add_opsets(&s, g, &err) || find_version(&s, g, &err))
		return;
	for (node_id i = 0; i < g->nnodes; i++)
		give_attribute(g, graph_node(g, i), a);
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

	struct graph *cut = graph_cut(g, &part, a);

	reconcile(cut, a);
	return cut;
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
