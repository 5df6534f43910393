#include "targets/plugin/layers.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/file.h"
#include "targets/plugin/aside.h"
#include "targets/plugin/greet.h"
#include "targets/plugin/program.h"
#include "targets/plugin/region.h"

/* One candidate of a region at a time; `said` is what comes back. */
struct asking {
	const struct region *region;
	const struct candidate *candidate;
	struct buf *said;
	bool too_much; /* of files */
};

static const struct about *
about_of(const struct asking *q)
{
	const struct plugin *p = q->region->target->state;

	return &p->greeting->about;
}

/* ---- in a process of its own ---- */

/* A word of a line: what would end it is a space. */
static void
put_word(struct buf *b, const char *word)
{
	for (const char *s = word ? word : ""; *s; s++)
		buf_u8(b, (unsigned char)*s < ' ' ? ' ' : (uint8_t)*s);
	buf_u8(b, '\t');
}

/* Is it called after the value, or with it in front? */
static bool
is_called(const char *name, const char *value)
{
	size_t n = strlen(value);

	return n > 0 && strncmp(name, value, n) == 0
	    && (name[n] < '0' || name[n] > '9');
}

static uint32_t
position_of(const struct candidate *c, node_id id)
{
	uint32_t i = 0;

	while (i < c->nnodes && c->node[i] != id)
		i++;
	return i;
}

/* Values at ports keep the names they have, and runtimes call operations after
 * what they make, too. */
static void
put_producer(const struct asking *q, const char *name)
{
	const struct graph *g = q->region->graph;

	for (uint32_t i = 0; name && i < q->candidate->noutputs; i++) {
		const struct value *v =
		    graph_value(g, q->candidate->output[i].value);

		if (v->producer == NODE_NONE || !is_called(name, v->name))
			continue;
		buf_printf(q->said, "%" PRIu32 " ",
		    position_of(q->candidate, v->producer));
		return;
	}
}

/* "name TAB type TAB implementation TAB node node ... NEWLINE"; nodes by their place
 * in the region. */
static void
on_layer(void *context, const struct marq_layer *l)
{
	const struct asking *q = context;
	struct buf *b = q->said;

	if (b->n > limit_of(LIMIT_PLUGIN_WORDS))
		return;
	put_word(b, l->name);
	put_word(b, l->type);
	put_word(b, l->implementation);
	for (uint32_t i = 0; i < l->nnodes; i++)
		if (l->node[i] < q->candidate->nnodes)
			buf_printf(b, "%" PRIu32 " ", l->node[i]);
	if (l->nnodes == 0)
		put_producer(q, l->name);
	buf_u8(b, '\n');
}

/* The name, its bytes, the file. */
static void
on_file(void *context, const char *name, const void *bytes, uint64_t nbytes)
{
	struct asking *q = context;
	const uint64_t most = limit_of(LIMIT_PLUGIN_FILES);

	if (strchr(name, '/') || name[0] == '.')
		return;
	q->too_much |= nbytes > most || q->said->n > most - nbytes;
	if (q->too_much)
		return;
	put_word(q->said, name);
	buf_u64(q->said, nbytes);
	buf_add(q->said, bytes, (size_t)nbytes);
}

static bool
tell_layers(void *context, struct buf *said, struct err *err)
{
	struct asking *q = context;
	const struct marq_sink sink = {
	    .size = sizeof sink, .context = q, .layer = on_layer};

	q->said = said;
	return program_layers(
	    q->region->target, q->region->graph, q->candidate, &sink, err);
}

static bool
tell_files(void *context, struct buf *said, struct err *err)
{
	struct asking *q = context;
	const struct marq_sink sink = {
	    .size = sizeof sink, .context = q, .file = on_file};

	q->said = said;
	return program_emit(q->region->target, q->region->graph, q->candidate,
	           &sink, err)
	    && (!q->too_much
	        || limit_exceeded(LIMIT_PLUGIN_FILES, "its files", err));
}

/* ---- layers ---- */

static const char *
name_of(const struct region *r, struct arena *a)
{
	return arena_printf(a, "%s-%" PRIu32, r->target->kind->name, r->number);
}

/* The text up to the next `end`, which becomes a zero; `at` moves behind it. */
static char *
take_word(char **at, char end)
{
	char *word = *at, *to = strchr(word, end);

	if (!to)
		return NULL;
	*to = '\0';
	*at = to + 1;
	return word;
}

static void
take_nodes(struct toolchain_layer *l, const char *text,
    const struct candidate *c, struct arena *a)
{
	node_id *node = arena_new(a, node_id, strlen(text) / 2 + 1);
	char *end;

	for (const char *s = text;; s = end + 1) {
		unsigned long i = strtoul(s, &end, 10);

		if (end == s || *end != ' ' || i >= c->nnodes)
			break;
		node[l->nnodes++] = c->node[i];
	}
	l->node = node;
}

static bool
take_layer(struct toolchain_layer *l, char *line, const struct region *r,
    const struct candidate *c, struct arena *a)
{
	const char *name = take_word(&line, '\t');
	const char *type = name ? take_word(&line, '\t') : NULL;
	const char *how = type ? take_word(&line, '\t') : NULL;

	if (!how)
		return false;
	*l = (struct toolchain_layer){.symbol = name_of(r, a), .name = name};
	if (*type || *how)
		l->func_name = arena_printf(
		    a, "%s%s%s", type, *type && *how ? " " : "", how);
	take_nodes(l, line, c, a);
	return true;
}

static void
take_layers(struct toolchain_layers *out, char *text, const struct region *r,
    const struct candidate *c, struct arena *a)
{
	struct toolchain_layer *list;
	uint32_t cap = out->n, n = out->n;

	for (const char *s = text; (s = strchr(s, '\n')) != NULL; s++)
		cap++;
	list = arena_new(a, struct toolchain_layer, cap);
	for (uint32_t i = 0; i < n; i++)
		list[i] = out->layer[i];
	for (char *line; (line = take_word(&text, '\n')) != NULL;)
		n += take_layer(&list[n], line, r, c, a);
	*out = (struct toolchain_layers){n, list};
}

/* A plug-in may refuse, crash or hang: that costs what it would have said. */
static bool
ask(struct asking *q, const struct aside *aside, struct buf *said,
    struct err *err)
{
	buf_init(said);
	if (aside_run(aside, said, err))
		return true;
	buf_release(said);
	err->kind = ERR_UNSUPPORTED;
	return err_in(err, "%s", q->region->target->kind->name);
}

/* What the answer depends on: the model with its names, and the target's facts. */
static bool
hash_of(struct hash128 *out, const struct asking *q, struct arena *a,
    struct err *err)
{
	const struct target *t = q->region->target;
	struct given_region model;
	struct buf b;

	if (!region_give(
	        &model, about_of(q), q->region->graph, q->candidate, a, err)) {
		region_release(&model);
		return false;
	}
	buf_init(&b);
	buf_str(&b, "layers");
	t->kind->environment(t, &b);
	buf_u32(&b, q->candidate->implementation);
	buf_add(&b, model.model, model.model_bytes);
	*out = hash128(b.data, b.n);
	buf_release(&b);
	region_release(&model);
	return true;
}

/* Asked once: compiling takes long. */
static char *
text_of(struct asking *q, const struct toolchain_memory *m, struct arena *a,
    struct err *err)
{
	const struct aside aside = {
	    tell_layers, q, "it was asked for its layers", LIMIT_PLUGIN_WORDS};
	const char *kept = NULL;
	struct hash128 of;
	struct buf said;
	char *text;

	if (m && !hash_of(&of, q, a, err))
		return NULL;
	if (m)
		kept = m->find(m->context, of);
	if (kept)
		return arena_str(a, kept);
	if (!ask(q, &aside, &said, err))
		return NULL;
	text = arena_strn(a, said.data, said.n);
	buf_release(&said);
	if (m)
		m->keep(m->context, of, text);
	return text;
}

static bool
layers(struct toolchain_layers *out, const struct region *r,
    const struct toolchain_memory *m, struct arena *a, struct err *err)
{
	*out = (struct toolchain_layers){.n = 0};
	for (uint32_t i = 0; i < r->ncandidates; i++) {
		struct asking q = {.region = r, .candidate = r->candidate[i]};
		char *text = text_of(&q, m, a, err);

		if (!text)
			return false;
		take_layers(out, text, r, r->candidate[i], a);
	}
	return true;
}

/* ---- files ---- */

static bool
write_file(const struct outdir *o, const char *name, const char *bytes,
    size_t n, struct arena *a, struct err *err)
{
	FILE *f = out_open(o, name, a, err);

	if (!f)
		return false;
	fwrite(bytes, 1, n, f);
	return out_close(f, name, err);
}

/* What the plug-in gave, each as "name TAB bytes file". */
static bool
write_given(const struct outdir *o, const char *stem, const struct buf *said,
    struct arena *a, struct err *err)
{
	const char *at = said->data, *end = at + said->n;

	while (at < end) {
		const char *tab = memchr(at, '\t', (size_t)(end - at));
		uint64_t n;

		if (!tab || (size_t)(end - tab) < 1 + sizeof n)
			break;
		memcpy(&n, tab + 1, sizeof n);
		if (n > (uint64_t)(end - tab) - 1 - sizeof n)
			break;
		if (!write_file(o,
		        arena_printf(a, "%s-%.*s", stem, (int)(tab - at), at),
		        tab + 1 + sizeof n, (size_t)n, a, err))
			return false;
		at = tab + 1 + sizeof n + n;
	}
	return true;
}

static bool
write_one(const struct outdir *o, struct asking *q, const char *stem,
    struct arena *a, struct err *err)
{
	const struct aside aside = {
	    tell_files, q, "it was asked for its files", LIMIT_PLUGIN_FILES};
	struct given_region model;
	struct buf said;
	bool ok;

	if (!region_give(
	        &model, about_of(q), q->region->graph, q->candidate, a, err))
		return false;
	ok = write_file(o, arena_printf(a, "%s.onnx", stem), model.model,
	    model.model_bytes, a, err);
	region_release(&model);
	if (!ok || !ask(q, &aside, &said, err))
		return false;
	ok = write_given(o, stem, &said, a, err);
	buf_release(&said);
	return ok;
}

static bool
write_region(const struct outdir *o, const struct region *r, struct arena *a,
    struct err *err)
{
	const char *stem =
	    arena_printf(a, "%s/%s", r->target->kind->name, name_of(r, a));

	for (uint32_t i = 0; i < r->ncandidates; i++) {
		struct asking q = {.region = r, .candidate = r->candidate[i]};

		if (!write_one(o, &q,
		        r->ncandidates == 1
		            ? stem
		            : arena_printf(a, "%s-%" PRIu32, stem, i),
		        a, err))
			return false;
	}
	return true;
}

const struct toolchain plugin_toolchain = {
    .layer_index = "layer",
    .layers = layers,
    .write_region = write_region,
};
