#include "plan/marks.h"

#include <inttypes.h>
#include <string.h>

#include "plan/locks.h"

struct marks {
	struct constraints *out;
	const struct model *model;
	const struct graph *g;
	const struct mix *mix;
	struct notes *notes;
	struct arena *a;
	const uint32_t *start; /* [nonnx + 1] into carrier */
	const node_id *carrier; /* nodes that carry an ONNX node, ascending */
	struct locks locks;
};

/* What the marks of one ONNX node say; NULL: nothing. */
struct node_marks {
	const char *target, *forbid, *stop, *partition, *placement;
};

static bool
is_mark(const char *key)
{
	return strncmp(key, MARK_PREFIX, strlen(MARK_PREFIX)) == 0;
}

/* ---- targets ---- */

/* The longest name of a target that `text` starts with, as a word; names may
 * hold spaces. NULL: none. */
static const char *
first_target(const char *text, const struct mix *m)
{
	const char *best = NULL;

	for (uint32_t i = 0; i < 2 * m->n; i++) {
		const struct target *t = &m->target[i / 2];
		const char *name = i % 2 ? t->kind->name : t->text;
		size_t n = strlen(name);

		if (strncmp(text, name, n) == 0
		    && (text[n] == '\0' || text[n] == ' ')
		    && (!best || n > strlen(best)))
			best = name;
	}
	return best;
}

/* Names of targets with a space between. */
static bool
read_targets(
    const struct marks *k, const char *text, uint64_t *out, struct err *err)
{
	struct constraint c = {.targets = 0};
	const char *name;

	do {
		name = first_target(text, k->mix);
		if (!name)
			return err_set(err, ERR_INPUT,
			    "no target of the mix (-t) is called that");
		if (!constraint_targets(&c, name, k->mix, k->a, err))
			return false;
		text += strlen(name);
		text += *text == ' ';
	} while (*text);
	*out = c.targets;
	return true;
}

/* ---- nodes ---- */

static void
index_carriers(struct marks *k)
{
	uint32_t n = k->g->origin_table->n, total;
	uint32_t *start = arena_new(k->a, uint32_t, (size_t)n + 2);
	node_id *carrier;

	/* start[o + 2] counts, then start[o + 1] is where o's go next. */
	for (node_id id = 0; id < k->g->nnodes; id++)
		for (uint32_t i = 0; i < k->g->node[id].norigins; i++)
			start[k->g->node[id].origin[i].onnx + 2]++;
	for (uint32_t o = 0; o < n; o++)
		start[o + 2] += start[o + 1];
	total = start[n + 1];
	carrier = arena_new(k->a, node_id, total);
	for (node_id id = 0; id < k->g->nnodes; id++)
		for (uint32_t i = 0; i < k->g->node[id].norigins; i++)
			carrier[start[k->g->node[id].origin[i].onnx + 1]++] =
			    id;
	k->start = start;
	k->carrier = carrier;
}

static const char *
node_words(const struct marks *k, const struct onnx_node *o)
{
	return arena_printf(k->a, "node '%s' (%s%s#%" PRIu32 ", %s)", o->name,
	    o->path, *o->path ? " " : "", o->index, o->op_type);
}

static bool
wrong(const struct marks *k, const struct onnx_node *o, const char *key,
    const char *value, struct err *err)
{
	return err_in(
	    err, "%s: %s '%s'", node_words(k, o), key, value ? value : "");
}

/* Sort out the metadata of a node. *any: is there a mark? */
static bool
sort_marks(struct node_marks *out, const struct marks *k,
    const struct onnx_node *o, bool *any, struct err *err)
{
	const struct {
		const char *key, **value;
	} known[] = {{MARK_TARGET, &out->target}, {MARK_FORBID, &out->forbid},
	    {MARK_STOP, &out->stop}, {MARK_PARTITION, &out->partition},
	    {MARK_PLACEMENT, &out->placement}};
	const size_t n = sizeof known / sizeof known[0];

	*out = (struct node_marks){.target = NULL};
	*any = false;
	for (uint32_t i = 0; i < o->nmeta; i++) {
		const struct onnx_meta *meta = &o->meta[i];
		size_t at = 0;

		if (!is_mark(meta->key))
			continue;
		while (at < n && strcmp(known[at].key, meta->key) != 0)
			at++;
		if (at == n)
			err_set(err, ERR_INPUT,
			    "unknown mark (known: " MARK_TARGET ", " MARK_FORBID
			    ", " MARK_STOP ", " MARK_PARTITION ")");
		else if (*known[at].value)
			err_set(err, ERR_INPUT, "given twice");
		if (err->kind != ERR_NONE)
			return wrong(k, o, meta->key, meta->value, err);
		*known[at].value = meta->value;
		*any |= strcmp(meta->key, MARK_PLACEMENT) != 0;
	}
	return true;
}

/* A constraint on the nodes that carry an ONNX node. */
static struct constraint
on_carriers(
    const struct marks *k, uint32_t onnx, const char *key, const char *value)
{
	return (struct constraint){
	    .nnodes = k->start[onnx + 1] - k->start[onnx],
	    .node = &k->carrier[k->start[onnx]],
	    .text = arena_printf(k->a, "%s %s of %s", key, value,
	        node_words(k, &k->g->origin_table->node[onnx])),
	};
}

static bool
read_stop(struct marks *k, uint32_t onnx, const char *value, struct err *err)
{
	struct constraint c;

	if (!value || strcmp(value, "false") == 0)
		return true;
	if (strcmp(value, "true") != 0) {
		err_set(err, ERR_INPUT, "want true or false");
		return wrong(
		    k, &k->g->origin_table->node[onnx], MARK_STOP, value, err);
	}
	c = on_carriers(k, onnx, MARK_STOP, value);
	c.kind = CONSTRAIN_STOP;
	constraints_add(k->out, c, k->a);
	return true;
}

/* ---- partitions ---- */

/* The target of a region's function, in "target=T composites=N ...". */
static bool
read_region(
    const struct marks *k, const char *name, struct lock *out, struct err *err)
{
	const char *key = arena_printf(k->a, MARK_REGION "%s", name);
	const char *start = "target=", *text = NULL, *end;

	for (uint32_t i = 0; i < k->model->nmeta; i++)
		if (strcmp(k->model->meta[i].key, key) == 0)
			text = k->model->meta[i].value;
	if (!text)
		return err_set(err, ERR_INPUT,
		    "function '%s' of domain " REGION_DOMAIN
		    " is a locked partition, but the model's metadata has no "
		    "'%s' to say of which target",
		    name, key);
	*out = (struct lock){.name = name, .key = key, .value = text};
	if (strncmp(text, start, strlen(start)) != 0)
		return err_set(
		    err, ERR_INPUT, "%s '%s': want target=TARGET", key, text);
	text += strlen(start);
	end = strstr(text, " composites=");
	text =
	    arena_strn(k->a, text, end ? (size_t)(end - text) : strlen(text));
	return read_targets(k, text, &out->targets, err)
	    || err_in(err, "%s '%s'", key, out->value);
}

/* The partition a node is locked into, in how->name; NULL: none. */
static bool
find_partition(const struct marks *k, const struct onnx_node *o,
    const struct node_marks *say, uint64_t targets, struct lock *how,
    struct err *err)
{
	*how = (struct lock){.name = say->partition,
	    .key = MARK_TARGET,
	    .value = say->target,
	    .targets = targets};
	if (strcmp(o->domain, REGION_DOMAIN) == 0) {
		if (say->partition)
			return err_set(err, ERR_INPUT,
			    "its function is a partition already");
		if (!read_region(k, o->op_type, how, err))
			return false;
		if (say->target && targets != how->targets)
			return err_set(err, ERR_INPUT, "contradicts %s '%s'",
			    how->key, how->value);
	} else if (say->partition && !say->target) {
		return err_set(err, ERR_INPUT,
		    "a partition needs a target (" MARK_TARGET ")");
	}
	return true;
}

/* ---- one node ---- */

static bool
read_placement(struct marks *k, uint32_t onnx, const struct node_marks *say,
    struct err *err)
{
	const struct onnx_node *o = &k->g->origin_table->node[onnx];
	uint64_t targets = 0, forbidden = 0;
	struct constraint c;
	struct lock how;

	if (say->target && !read_targets(k, say->target, &targets, err))
		return wrong(k, o, MARK_TARGET, say->target, err);
	if (say->forbid && !read_targets(k, say->forbid, &forbidden, err))
		return wrong(k, o, MARK_FORBID, say->forbid, err);
	if (say->target && (targets & ~forbidden) == 0) {
		err_set(err, ERR_INPUT, "contradicts " MARK_TARGET " '%s'",
		    say->target);
		return wrong(k, o, MARK_FORBID, say->forbid, err);
	}
	if (!find_partition(k, o, say, targets, &how, err)
	    || (how.name
	        && !locks_join(&k->locks, &how, &k->carrier[k->start[onnx]],
	            k->start[onnx + 1] - k->start[onnx], err)))
		return say->partition
		    ? wrong(k, o, MARK_PARTITION, say->partition, err)
		    : err_in(err, "%s", node_words(k, o));
	if (say->target && !how.name) {
		c = on_carriers(k, onnx, MARK_TARGET, say->target);
		c.kind = CONSTRAIN_PIN;
		c.targets = targets;
		constraints_add(k->out, c, k->a);
	}
	if (say->forbid) {
		c = on_carriers(k, onnx, MARK_FORBID, say->forbid);
		c.kind = CONSTRAIN_FORBID;
		c.targets = forbidden;
		constraints_add(k->out, c, k->a);
	}
	return true;
}

/* A marked node that nothing in the graph stands for: gone, or inside a body. */
static bool
note_absent(const struct marks *k, const struct onnx_node *o, struct err *err)
{
	if (o->fate == FATE_COVERED)
		return err_set(err, ERR_UNSUPPORTED,
		    "%s: marks inside a body: mark the node whose body it is",
		    node_words(k, o));
	notes_add(k->notes, "%s: its marks have no effect: %s",
	    node_words(k, o), o->why ? o->why : "it is gone");
	return true;
}

static bool
read_node(struct marks *k, uint32_t onnx, struct err *err)
{
	const struct onnx_node *o = &k->g->origin_table->node[onnx];
	struct node_marks say;
	bool any;

	if (!sort_marks(&say, k, o, &any, err))
		return false;
	if (!any && strcmp(o->domain, REGION_DOMAIN) != 0)
		return true;
	if (k->start[onnx] == k->start[onnx + 1])
		return note_absent(k, o, err);
	return read_placement(k, onnx, &say, err)
	    && read_stop(k, onnx, say.stop, err);
}

/* ---- the model ---- */

static bool
read_model_mark(struct marks *k, const struct onnx_meta *meta, struct err *err)
{
	if (strcmp(meta->key, MARK_TARGETS) == 0
	    || strcmp(meta->key, MARK_COST) == 0
	    || strcmp(meta->key, MARK_PADDING) == 0
	    || strcmp(meta->key, MARK_WEIGHTS) == 0
	    || strncmp(meta->key, MARK_REGION, strlen(MARK_REGION)) == 0)
		return true; /* regions are read where they are called */
	if (strcmp(meta->key, MARK_CONSTRAINTS) == 0)
		return constraints_parse(
		           k->out, meta->value, k->g, k->mix, k->a, err)
		    || err_in(err, "metadata %s", meta->key);
	if (strcmp(meta->key, MARK_SCHEMA) != 0)
		err_set(err, ERR_INPUT,
		    "unknown mark of a model (known: " MARK_SCHEMA
		    ", " MARK_TARGETS ", " MARK_COST ", " MARK_WEIGHTS
		    ", " MARK_CONSTRAINTS ", " MARK_REGION "NAME)");
	else if (strcmp(meta->value, SCHEMA_ANNOTATED) != 0
	    && strcmp(meta->value, SCHEMA_PARTITIONED) != 0)
		err_set(err, ERR_INPUT,
		    "want " SCHEMA_ANNOTATED " or " SCHEMA_PARTITIONED);
	return err->kind == ERR_NONE
	    || err_in(err, "metadata %s '%s'", meta->key, meta->value);
}

bool
marks_read(struct constraints *s, const struct model *model,
    const struct mix *m, struct notes *notes, struct arena *a, struct err *err)
{
	struct marks k = {.out = s,
	    .model = model,
	    .g = model->graph,
	    .mix = m,
	    .notes = notes,
	    .a = a};

	locks_init(&k.locks, a);
	index_carriers(&k);
	for (uint32_t i = 0; i < model->nmeta; i++)
		if (is_mark(model->meta[i].key)
		    && !read_model_mark(&k, &model->meta[i], err))
			return err_in(err, "%s", model->path);
	for (uint32_t i = 0; i < k.g->origin_table->n; i++)
		if (!read_node(&k, i, err))
			return err_in(err, "%s", model->path);
	return locks_close(&k.locks, s, k.g, m, err)
	    || err_in(err, "%s", model->path);
}
