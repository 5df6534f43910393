/* annotated.onnx: the user's own bytes with the placement added to them. Fields
 * appended to a protobuf message are as good as written in order, so nothing of
 * the model is rewritten: nodes get metadata_props (IR >= 10) or a doc_string,
 * and the model gets metadata_props. Where weights are not to be read it is left
 * out. Of large models partitioned.onnx has no weights of its own: it refers to
 * those that are here (lent.h). */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "emit/annotated_sum.h"
#include "emit/lent.h"
#include "emit/source_map.h"
#include "emit/taken.h"
#include "emit/writers.h"
#include "ir/base/buf.h"
#include "ir/base/bulk.h"
#include "ir/base/plural.h"
#include "ir/external.h"
#include "ir/wire.h"
#include "plan/marks.h"

/* Field numbers. SOURCE: the ONNX IR specification. */
enum {
	MODEL_GRAPH = 7,
	MODEL_META = 14,
	GRAPH_NODE = 1,
	NODE_DOC = 6,
	NODE_META = 9,
	ENTRY_KEY = 1,
	ENTRY_VALUE = 2,
};
#define IR_NODE_META 10u

/* A field as it lies in the file: tag to last byte, and its payload. */
struct annotated_field {
	uint32_t number, wire;
	const unsigned char *begin, *payload, *end;
};

static bool
read_varint(const unsigned char **p, const unsigned char *end, uint64_t *out)
{
	size_t n = 0;

	if (!wire_varint(*p, (size_t)(end - *p), &n, out))
		return false;
	*p += n;
	return true;
}

/* The field at *p, which moves behind it. */
static bool
read_field(const unsigned char **p, const unsigned char *end,
    struct annotated_field *f)
{
	uint64_t tag, n = 0;

	f->begin = *p;
	if (!read_varint(p, end, &tag) || tag >> 3 > UINT32_MAX)
		return false;
	f->number = (uint32_t)(tag >> 3);
	f->wire = (uint32_t)(tag & 7);
	f->payload = *p;
	if (f->wire == 0) {
		if (!read_varint(p, end, &n))
			return false;
	} else {
		if (f->wire == 2 && !read_varint(p, end, &n))
			return false;
		f->payload = *p;
		n = f->wire == 1 ? 8 : f->wire == 5 ? 4 : n;
		if ((f->wire != 1 && f->wire != 2 && f->wire != 5)
		    || n > (uint64_t)(end - *p))
			return false;
		*p += n;
	}
	f->end = *p;
	return true;
}

static void
put_varint(struct buf *b, uint64_t x)
{
	for (; x >= 0x80; x >>= 7)
		buf_u8(b, (uint8_t)(x | 0x80));
	buf_u8(b, (uint8_t)x);
}

static void
put_bytes(struct buf *b, uint32_t number, const void *bytes, size_t n)
{
	put_varint(b, (uint64_t)number << 3 | 2);
	put_varint(b, n);
	buf_add(b, bytes, n);
}

static void
put_entry(struct buf *b, uint32_t number, const char *key, const char *value)
{
	struct buf entry;

	buf_init(&entry);
	put_bytes(&entry, ENTRY_KEY, key, strlen(key));
	put_bytes(&entry, ENTRY_VALUE, value, strlen(value));
	put_bytes(b, number, entry.data, entry.n);
	buf_release(&entry);
}

/* Is it an entry of metadata that is written anew here? */
static bool
is_stale(const struct annotated_field *f, uint32_t number)
{
	static const char *const ours[] = {MARK_TARGET, MARK_PLACEMENT,
	    MARK_SCHEMA, MARK_TARGETS, MARK_COST, MARK_PADDING};
	const unsigned char *p = f->payload;
	struct annotated_field part;

	if (f->number != number || f->wire != 2)
		return false;
	while (p < f->end && read_field(&p, f->end, &part)) {
		size_t n = (size_t)(part.end - part.payload);

		for (size_t i = 0; i < sizeof ours / sizeof ours[0]; i++)
			if (part.number == ENTRY_KEY && part.wire == 2
			    && n == strlen(ours[i])
			    && memcmp(part.payload, ours[i], n) == 0)
				return true;
	}
	return false;
}

struct annotation {
	const struct emit_work *w;
	struct source_map map;
	uint32_t *onnx; /* [nmain] by position in the main graph */
	uint32_t nmain;
	uint32_t next; /* position of the next node in the file */
	const struct mapped_file *model;
	struct lent *lent; /* NULL: nobody will refer to what is written */
	struct bulk out;
};

static void
put(struct annotation *n, const struct buf *b)
{
	if (b->n)
		bulk_add(&n->out, arena_copy(n->w->arena, b->data, b->n), b->n);
}

/* A field of the user's as it is. */
static void
put_field(struct annotation *n, const struct annotated_field *f)
{
	size_t size = (size_t)(f->end - f->begin);

	if (n->lent)
		lent_add(n->lent, (uint64_t)(f->begin - n->model->data), size,
		    n->out.bytes, n->w->arena);
	bulk_add(&n->out, f->begin, size);
}

/* Where a node went. */
static const char *
placement(const struct annotation *n, uint32_t onnx)
{
	const struct emit_work *w = n->w;
	const struct onnx_node *node = &w->graph->origin_table->node[onnx];
	uint32_t from = n->map.nodes.start[onnx],
	         to = n->map.nodes.start[onnx + 1];
	const char *text;

	if (node->fate != FATE_COVERED)
		return arena_printf(
		    w->arena, "%s: %s", fate_text(node->fate), node->why);
	text = emit_placement(
	    w, w->plan->composite_of[n->map.nodes.link[from].node]);
	return to - from > 1 ? arena_printf(w->arena, "%s and others", text)
	                     : text;
}

/* The targets that run it, with a space between; "": none does. */
static const char *
targets_of(const struct annotation *n, uint32_t onnx)
{
	const struct plan *p = n->w->plan;
	const char *text = "";
	uint64_t mask = 0;

	for (uint32_t i = n->map.nodes.start[onnx];
	     i < n->map.nodes.start[onnx + 1]; i++) {
		uint32_t c = p->composite_of[n->map.nodes.link[i].node];

		mask |= UINT64_C(1) << p->region[p->composite[c].region].target;
	}
	for (uint32_t t = 0; t < p->mix->n; t++)
		if (mask >> t & 1)
			text = arena_printf(n->w->arena, "%s%s%s", text,
			    *text ? " " : "", p->mix->target[t].text);
	return text;
}

/* The text a node has already, before ours. */
static void
put_doc(struct buf *b, const struct annotated_field *node, const char *text)
{
	const unsigned char *p = node->payload;
	struct annotated_field f, doc = {0};
	struct buf all;

	while (p < node->end && read_field(&p, node->end, &f))
		if (f.number == NODE_DOC && f.wire == 2)
			doc = f;
	buf_init(&all);
	if (doc.begin && doc.end > doc.payload) {
		buf_add(&all, doc.payload, (size_t)(doc.end - doc.payload));
		buf_str(&all, "\n");
	}
	buf_printf(&all, "marq: %s", text);
	put_bytes(b, NODE_DOC, all.data, all.n);
	buf_release(&all);
}

/* The fields to append to node `at` of the main graph. */
static void
put_extra(struct buf *b, const struct annotation *n,
    const struct annotated_field *node, uint32_t at)
{
	const char *text, *targets;
	uint32_t onnx = at < n->nmain ? n->onnx[at] : UINT32_MAX;

	if (onnx == UINT32_MAX)
		return;
	text = placement(n, onnx);
	if (n->w->in->model->ir_version < IR_NODE_META) {
		put_doc(b, node, text);
		return;
	}
	targets = targets_of(n, onnx);
	if (*targets)
		put_entry(b, NODE_META, MARK_TARGET, targets);
	put_entry(b, NODE_META, MARK_PLACEMENT, text);
}

/* A node with what is appended to it, into `out`. */
static void
copy_node(
    struct annotation *n, const struct annotated_field *f, struct buf *out)
{
	const unsigned char *p = f->payload;
	struct annotated_field part;
	struct buf node;

	buf_init(&node);
	while (p < f->end && read_field(&p, f->end, &part))
		if (!is_stale(&part, NODE_META))
			buf_add(
			    &node, part.begin, (size_t)(part.end - part.begin));
	put_extra(&node, n, f, n->next++);
	put_varint(out, GRAPH_NODE << 3 | 2);
	put_varint(out, node.n);
	buf_add(out, node.data, node.n);
	buf_release(&node);
}

/* What of the graph is copied as it is: how much, and the longest run in it. */
struct as_it_is {
	uint64_t bytes;
	const unsigned char *begin, *end; /* of a run that is being followed */
	uint64_t longest, from, at; /* where it lies in the model, and in all */
};

static void
follow(struct as_it_is *r, const struct annotated_field *f,
    const struct mapped_file *model)
{
	if (f->begin != r->end)
		r->begin = f->begin;
	r->end = f->end;
	r->bytes += (uint64_t)(f->end - f->begin);
	if ((uint64_t)(r->end - r->begin) > r->longest) {
		r->longest = (uint64_t)(r->end - r->begin);
		r->from = (uint64_t)(r->begin - model->data);
		r->at = r->bytes - r->longest;
	}
}

/* One pass over the graph's fields: with `out` the nodes are collected there,
 * in order; without, everything else is copied to the file. */
static bool
pass_graph(struct annotation *n, const struct annotated_field *graph,
    struct buf *out, struct as_it_is *rest)
{
	const unsigned char *p = graph->payload;
	struct annotated_field f;

	while (p < graph->end) {
		if (!read_field(&p, graph->end, &f))
			return false;
		if (f.number == GRAPH_NODE && f.wire == 2) {
			if (out)
				copy_node(n, &f, out);
		} else if (out) {
			follow(rest, &f, n->model);
		} else {
			put_field(n, &f);
		}
	}
	return true;
}

static void
put_spaces(struct buf *b, size_t spaces, struct arena *a)
{
	b->n = 0;
	put_entry(b, MODEL_META, MARK_PADDING,
	    arena_printf(a, "%*s", (int)spaces, ""));
}

/* TUNING: lengths of an entry and of its value take at most so many bytes more. */
#define LENGTHS 8u

/* Of a large model: weights begin as far into a block as they did, so that none
 * need be copied (bulk.h). */
static void
put_padding(struct annotation *n, const struct as_it_is *rest, uint64_t before)
{
	const uint64_t at = n->out.bytes + before + rest->at;
	struct buf b;
	size_t left;

	if (!lent_pays(n->w->in->model))
		return;
	buf_init(&b);
	put_spaces(&b, 0, n->w->arena);
	left = (rest->from - at - b.n) % BULK_BLOCK;
	left = left > LENGTHS ? left - LENGTHS : 0;
	while ((at + b.n) % BULK_BLOCK != rest->from % BULK_BLOCK)
		put_spaces(&b, left++, n->w->arena);
	put(n, &b);
	buf_release(&b);
}

/* Nodes first, in order, then the graph's other fields: fields of different
 * numbers may come in any order. */
static bool
copy_graph(struct annotation *n, const struct annotated_field *graph)
{
	struct as_it_is rest = {0};
	struct buf nodes, head;
	bool ok;

	buf_init(&nodes);
	buf_init(&head);
	ok = pass_graph(n, graph, &nodes, &rest);
	if (ok) {
		put_varint(&head, MODEL_GRAPH << 3 | 2);
		put_varint(&head, nodes.n + rest.bytes);
		put_padding(n, &rest, head.n + nodes.n);
		put(n, &head);
		put(n, &nodes);
		ok = pass_graph(n, graph, NULL, NULL);
	}
	buf_release(&nodes);
	buf_release(&head);
	return ok;
}

static bool
copy_model(struct annotation *n)
{
	const struct mapped_file *m = n->model;
	const unsigned char *p = m->data, *end = m->data + m->bytes;
	struct annotated_field f;

	while (p < end) {
		if (!read_field(&p, end, &f))
			return false;
		if (is_stale(&f, MODEL_META))
			continue;
		if (f.number != MODEL_GRAPH || f.wire != 2)
			put_field(n, &f);
		else if (!copy_graph(n, &f))
			return false;
	}
	return true;
}

static void
put_model_meta(struct annotation *n)
{
	const struct plan *p = n->w->plan;
	struct buf b, targets;

	buf_init(&b);
	buf_init(&targets);
	for (uint32_t i = 0; i < p->mix->n; i++)
		buf_printf(
		    &targets, "%s%s", i ? " " : "", p->mix->target[i].text);
	put_entry(&b, MODEL_META, MARK_SCHEMA, SCHEMA_ANNOTATED);
	put_entry(&b, MODEL_META, MARK_TARGETS, targets.data);
	put_entry(&b, MODEL_META, MARK_COST,
	    arena_printf(n->w->arena, "%" PRIu64, p->cost));
	put(n, &b);
	buf_release(&b);
	buf_release(&targets);
}

static void
index_main_nodes(struct annotation *n)
{
	const struct onnx_nodes *table = n->w->graph->origin_table;

	for (uint32_t i = 0; i < table->n; i++)
		if (*table->node[i].path == '\0'
		    && table->node[i].index >= n->nmain)
			n->nmain = table->node[i].index + 1;
	n->onnx = arena_new(n->w->arena, uint32_t, n->nmain);
	memset(n->onnx, 0xff, n->nmain * sizeof *n->onnx);
	for (uint32_t i = 0; i < table->n; i++)
		if (*table->node[i].path == '\0')
			n->onnx[table->node[i].index] = i;
}

/* Of what makes it something else than the model with its placement. */
static bool
may_annotate(const struct model *m, struct err *err)
{
	if (m->no_weights)
		return err_set(err, ERR_UNSUPPORTED,
		    "it would be the model's own bytes, weights included, and "
		    "those are not to be read");
	for (const struct mapping *x = m->mappings; x; x = x->next)
		if (x->location && strcmp(x->location, LENDER) == 0)
			return err_set(err, ERR_UNSUPPORTED,
			    "the model's weights lie in a file of that name");
	return true;
}

static bool
collect(struct annotation *n, struct err *err)
{
	if (!source_map_init(&n->map, n->w, err))
		return false;
	/* The same pages again, so those of the graph's weights need not stay. */
	for (const struct mapping *m = n->w->in->model->mappings; m;
	     m = m->next)
		file_forget(&m->file);
	index_main_nodes(n);
	n->lent = lent_pays(n->w->in->model) ? n->w->lent : NULL;
	if (!copy_model(n))
		return err_set(err, ERR_INPUT, "%s: changed while in use",
		    n->w->in->model->path);
	put_model_meta(n);
	if (n->lent)
		lent_done(n->lent);
	return true;
}

/* Whoever writes to a file changes its time. */
static bool
is_as_read(const struct bulk *b, const char *path, struct err *err)
{
	const struct file_id now = file_id_of(b->source_fd);

	if (now.inode == 0)
		return err_set(
		    err, ERR_IO, "%s: cannot stat: %s", path, strerror(errno));
	return (now.bytes == b->source.id.bytes
	           && now.modified_ns == b->source.id.modified_ns)
	    || err_set(err, ERR_INPUT, "%s: changed while in use", path);
}

static bool
put_file(const struct bulk *b, const struct emit_work *w,
    const struct outdir *o, const char sum[65], struct err *err)
{
	if (!taken_link(o, LENDER, sum, w->in->pricer))
		return bulk_write(b, o, LENDER, sum, err);
	out_know(o, LENDER, sum, w->arena);
	return true;
}

bool
write_annotated(
    const struct emit_work *w, const struct outdir *o, struct err *err)
{
	const char *path = w->in->model->path;
	struct annotation n = {.w = w};
	struct bulk *out = &n.out;
	char sum[65];
	bool ok;

	if (!may_annotate(w->in->model, err))
		return emit_leave_out(w, o, NULL, LENDER, err);
	bulk_init(out, w->arena);
	if (!file_map_open(&out->source, &out->source_fd, path, err))
		return false;
	n.model = &out->source;
	ok = collect(&n, err);
	if (ok) {
		annotated_sum(out, w, sum);
		ok =
		    put_file(out, w, o, sum, err) && is_as_read(out, path, err);
	}
	close(out->source_fd);
	file_unmap(&out->source);
	return ok;
}
