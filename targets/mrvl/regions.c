#include "targets/mrvl/regions.h"

/* SOURCE: AnnotateTarget, MergeCompilerRegions, PartitionGraph of TVM 0.15 and
 * repartition_mrvl_subgraphs of mrvl.py (legacy-v0.19.post).
 *
 * A unit is what upstream annotates: a composite, a bare operator, a tuple, one
 * field of a tuple. Every unit is for mrvl or for the CPU, and both kinds grow
 * into regions: a unit takes in the regions it reads from, of its own kind,
 * unless that region must also run before something of the other kind that the
 * unit reads. */

enum unit_kind { UNIT_COMPOSITE, UNIT_OPERATOR, UNIT_TUPLE, UNIT_FIELD };

#define UNIT_NONE UINT32_MAX
#define REGION_NONE UINT32_MAX

struct region_unit {
	enum unit_kind kind;
	low_id id; /* root; TUPLE: the concat that reads it, or LOW_NONE */
	bool mrvl;
	uint32_t nargs;
	uint32_t *arg; /* units, or UNIT_NONE */
	low_id *value; /* what is read; a TUPLE unit's is LOW_NONE */
	uint32_t group; /* merged region */
};

struct region_finder {
	const struct lowered *low;
	const struct composites *comp;
	struct arena *arena;
	struct region_unit *unit;
	uint32_t n, root; /* the unit everything is read from */
	uint32_t *unit_of; /* [ops] */
	struct bitset *before; /* [units] groups that may not be merged in */
};

/* ---- units ---- */

static struct region_unit *
new_unit(
    struct region_finder *f, enum unit_kind kind, low_id id, uint32_t nargs)
{
	struct region_unit *u = &f->unit[f->n];

	*u = (struct region_unit){.kind = kind, .id = id, .nargs = nargs};
	u->arg = arena_new(f->arena, uint32_t, nargs);
	u->value = arena_new(f->arena, low_id, nargs);
	u->group = f->n++;
	return u;
}

static void
set_args(struct region_finder *f, struct region_unit *u, const low_id *in)
{
	for (uint32_t i = 0; i < u->nargs; i++) {
		u->arg[i] = f->unit_of[in[i]];
		u->value[i] = in[i];
	}
}

/* The kind all fields share, else the CPU. Variables and constants count as
 * the CPU's. */
static bool
all_mrvl(const struct region_finder *f, const struct region_unit *u)
{
	for (uint32_t i = 0; i < u->nargs; i++)
		if (u->arg[i] == UNIT_NONE || !f->unit[u->arg[i]].mrvl)
			return false;
	return u->nargs > 0;
}

static struct region_unit *
add_tuple(struct region_finder *f, low_id reader, const low_id *in, uint32_t n)
{
	struct region_unit *u = new_unit(f, UNIT_TUPLE, reader, n);

	set_args(f, u, in);
	u->mrvl = all_mrvl(f, u);
	return u;
}

static void
add_unit(struct region_finder *f, low_id id)
{
	const struct low *op = low_get(f->low, id);
	uint32_t which = f->comp->of[id];
	bool composite = which != COMPOSITE_NONE;
	struct region_unit *u;

	if (op->kind == LOW_VAR || op->kind == LOW_CONST
	    || (composite && f->comp->composite[which].root != id))
		return;
	if (composite) {
		const struct composite *c = &f->comp->composite[which];

		u = new_unit(f, UNIT_COMPOSITE, id, c->nargs);
		set_args(f, u, c->arg);
	} else if (op->kind == LOW_CONCAT) {
		uint32_t tuple = f->n;

		add_tuple(f, id, op->in, op->nin);
		u = new_unit(f, UNIT_OPERATOR, id, 1);
		u->arg[0] = tuple;
		u->value[0] = LOW_NONE;
	} else {
		u = new_unit(f,
		    op->kind == LOW_FIELD ? UNIT_FIELD : UNIT_OPERATOR, id,
		    op->nin);
		set_args(f, u, op->in);
	}
	u->mrvl = composite
	    || (op->kind == LOW_FIELD ? all_mrvl(f, u)
	                              : low_op_is_taken(f->low, f->comp, id));
	f->unit_of[id] = f->n - 1;
}

static void
make_units(struct region_finder *f)
{
	uint32_t n;
	const low_id *order = low_order(f->low, &n, f->arena);

	/* a concat may make two, the outputs one */
	f->unit = arena_new(f->arena, struct region_unit, 2 * (size_t)n + 1);
	f->unit_of = arena_new(f->arena, uint32_t, f->low->n);
	for (uint32_t i = 0; i < f->low->n; i++)
		f->unit_of[i] = UNIT_NONE;
	for (uint32_t i = 0; i < n; i++)
		add_unit(f, order[i]);
	f->root = UNIT_NONE;
	if (f->low->noutputs > 1) {
		add_tuple(f, LOW_NONE, f->low->output, f->low->noutputs);
		f->root = f->n - 1;
	} else if (f->low->noutputs == 1) {
		f->root = f->unit_of[f->low->output[0]];
	}
}

/* ---- growing ---- */

/* Group `from` becomes part of `to`, in memberships and restrictions. */
static void
absorb(struct region_finder *f, uint32_t from, uint32_t to, uint32_t upto)
{
	for (uint32_t i = 0; i <= upto; i++)
		if (f->unit[i].group == from)
			f->unit[i].group = to;
	for (uint32_t i = 0; i <= upto; i++)
		if (bitset_has(f->before[i], from)) {
			bitset_remove(f->before[i], from);
			bitset_add(f->before[i], to);
		}
}

static void
grow(struct region_finder *f, uint32_t at)
{
	struct region_unit *u = &f->unit[at];

	for (uint32_t i = 0; i < u->nargs; i++)
		if (u->arg[i] != UNIT_NONE)
			bitset_or(
			    f->before[at], f->before[f->unit[u->arg[i]].group]);
	for (uint32_t i = 0; i < u->nargs; i++) {
		uint32_t parent;

		if (u->arg[i] == UNIT_NONE)
			continue;
		parent = f->unit[u->arg[i]].group;
		if (f->unit[u->arg[i]].mrvl != u->mrvl)
			bitset_add(f->before[at], parent);
		else if (parent != at && !bitset_has(f->before[at], parent))
			absorb(f, parent, at, at);
	}
}

static void
grow_all(struct region_finder *f)
{
	f->before = arena_new(f->arena, struct bitset, f->n);
	for (uint32_t i = 0; i < f->n; i++)
		f->before[i] = bitset_new(f->arena, f->n);
	for (uint32_t i = 0; i < f->n; i++)
		grow(f, i);
}

/* ---- numbering ---- */

/* A value read from outside, and when it was met. */
struct entry {
	low_id value;
	uint32_t met;
};

/* Upstream numbers a region by the first boundary it meets on its way from the
 * outputs, every boundary taking a number; parts of a region that are met
 * apart have numbers (and lists) of their own until something joins them. */
struct part {
	uint32_t joined; /* to this part; itself: not joined */
	struct entry *param; /* one per use, constants too */
	low_id *output;
	uint32_t nparams, noutputs, param_cap, output_cap;
};

struct numbering {
	struct region_finder *find;
	struct part *part;
	uint32_t nparts, cap, nmet;
	uint32_t *of; /* [units] part */
};

struct region_frame {
	uint32_t unit, next;
};

static uint32_t
part_root(const struct numbering *n, uint32_t p)
{
	while (n->part[p].joined != p)
		p = n->part[p].joined;
	return p;
}

static void
enter(struct numbering *n, struct part *p, struct entry e)
{
	p->param = (struct entry *)arena_grow(
	    n->find->arena, p->param, &p->param_cap, p->nparams + 1, sizeof e);
	p->param[p->nparams++] = e;
}

static void
list_add(struct numbering *n, low_id **list, uint32_t *count, uint32_t *cap,
    low_id id)
{
	for (uint32_t i = 0; i < *count; i++)
		if ((*list)[i] == id)
			return;
	*list = (low_id *)arena_grow(
	    n->find->arena, *list, cap, *count + 1, sizeof **list);
	(*list)[(*count)++] = id;
}

static uint32_t
new_part(struct numbering *n, low_id value)
{
	struct part p = {.joined = n->nparts};

	n->part = (struct part *)arena_grow(
	    n->find->arena, n->part, &n->cap, n->nparts + 1, sizeof p);
	if (value != LOW_NONE)
		enter(n, &p, (struct entry){value, n->nmet++});
	n->part[n->nparts] = p;
	return n->nparts++;
}

static void
join(struct numbering *n, uint32_t into, uint32_t from)
{
	struct part *to, *old;

	into = part_root(n, into);
	from = part_root(n, from);
	if (into == from)
		return;
	to = &n->part[into];
	old = &n->part[from];
	old->joined = into;
	for (uint32_t i = 0; i < old->nparams; i++)
		enter(n, to, old->param[i]);
	for (uint32_t i = 0; i < old->noutputs; i++)
		list_add(n, &to->output, &to->noutputs, &to->output_cap,
		    old->output[i]);
}

static void
leave(struct numbering *n, uint32_t unit)
{
	const struct region_unit *u = &n->find->unit[unit];
	struct part *p = &n->part[part_root(n, n->of[unit])];

	list_add(n, &p->output, &p->noutputs, &p->output_cap, u->id);
}

/* A tuple read outside its region stays outside: its fields leave one by one,
 * and what only the tuple held together falls apart. */
static bool
stays_outside(const struct region_finder *f, uint32_t unit)
{
	const struct region_unit *u = &f->unit[unit];

	return u->kind == UNIT_TUPLE
	    && (u->id == LOW_NONE || !f->unit[unit + 1].mrvl
	        || f->unit[unit + 1].group != u->group);
}

static bool
is_inside(const struct region_finder *f, uint32_t unit)
{
	return unit != UNIT_NONE && f->unit[unit].mrvl
	    && !stays_outside(f, unit);
}

/* Argument k of a unit has been visited: its value may leave a region, and
 * enter one. */
static void
cross(struct numbering *n, uint32_t unit, uint32_t k)
{
	struct region_finder *f = n->find;
	const struct region_unit *u = &f->unit[unit];
	uint32_t from = u->arg[k];
	bool reads = is_inside(f, unit);
	bool same =
	    reads && is_inside(f, from) && f->unit[from].group == u->group;
	uint32_t part;

	if (is_inside(f, from) && !same)
		leave(n, from);
	if (!reads)
		return;
	part = same ? n->of[from] : new_part(n, u->value[k]);
	if (n->of[unit] == REGION_NONE)
		n->of[unit] = part;
	else
		join(n, n->of[unit], part);
}

static void
number_all(struct numbering *n)
{
	struct region_finder *f = n->find;
	struct bitset seen = bitset_new(f->arena, f->n);
	struct region_frame *stack =
	    arena_new(f->arena, struct region_frame, f->n);
	uint32_t top = 0;

	n->of = arena_new(f->arena, uint32_t, f->n);
	for (uint32_t i = 0; i < f->n; i++)
		n->of[i] = REGION_NONE;
	if (f->root == UNIT_NONE)
		return;
	bitset_add(seen, f->root);
	stack[top++] = (struct region_frame){f->root, 0};
	while (top > 0) {
		struct region_frame *at = &stack[top - 1];
		const struct region_unit *u = &f->unit[at->unit];

		if (at->next == u->nargs) {
			top--;
			if (top > 0) {
				at = &stack[top - 1];
				cross(n, at->unit, at->next++);
			}
			continue;
		}
		uint32_t arg = u->arg[at->next];
		if (arg == UNIT_NONE || bitset_has(seen, arg)) {
			cross(n, at->unit, at->next++);
			continue;
		}
		bitset_add(seen, arg);
		stack[top++] = (struct region_frame){arg, 0};
	}
	if (is_inside(f, f->root))
		leave(n, f->root);
}

/* ---- giving back ---- */

static bool
is_member(const struct numbering *n, uint32_t unit, uint32_t part)
{
	return n->of[unit] != REGION_NONE && part_root(n, n->of[unit]) == part;
}

static bool
is_rule(const struct region_finder *f, uint32_t unit, enum mrvl_rule rule)
{
	const struct region_unit *u = &f->unit[unit];

	return u->kind == UNIT_COMPOSITE
	    && f->comp->composite[f->comp->of[u->id]].rule == rule;
}

static bool
is_heavy(const struct region_finder *f, uint32_t unit)
{
	const struct region_unit *u = &f->unit[unit];
	enum low_kind kind =
	    u->kind == UNIT_TUPLE ? LOW_OPAQUE : low_get(f->low, u->id)->kind;

	return is_rule(f, unit, RULE_CONV) || is_rule(f, unit, RULE_FC)
	    || kind == LOW_CONV || kind == LOW_DENSE;
}

/* Does the unit read one of the region's parameters: as it is, reshaped, or as
 * a field of a tuple? */
static bool
reads_param(const struct numbering *n, uint32_t unit, uint32_t part)
{
	const struct region_unit *u = &n->find->unit[unit];

	for (uint32_t i = 0; i < u->nargs; i++) {
		uint32_t from = u->arg[i];

		if (from == UNIT_NONE) {
			if (u->value[i] != LOW_NONE
			    && !low_is_const(n->find->low, u->value[i]))
				return true;
			continue;
		}
		if (!is_member(n, from, part))
			return true;
		if ((is_rule(n->find, from, RULE_RESHAPE)
		        || n->find->unit[from].kind == UNIT_TUPLE)
		    && reads_param(n, from, part))
			return true;
	}
	return false;
}

/* mrvl.py: no convolution and no dense, or a concat at or below a call that
 * reads a parameter. (Sums were meant too; the name is misspelt upstream.) */
static bool
is_given_back(const struct numbering *n, uint32_t part)
{
	const struct region_finder *f = n->find;
	struct bitset concat = bitset_new(f->arena, f->n);
	bool heavy = false, first = false;

	for (uint32_t i = 0; i < f->n; i++) {
		const struct region_unit *u = &f->unit[i];

		if (!is_member(n, i, part))
			continue;
		heavy |= is_heavy(f, i);
		if (is_rule(f, i, RULE_CONCAT))
			bitset_add(concat, i);
		for (uint32_t k = 0; k < u->nargs; k++)
			if (u->arg[k] != UNIT_NONE
			    && is_member(n, u->arg[k], part)
			    && bitset_has(concat, u->arg[k]))
				bitset_add(concat, i);
		first |= u->kind != UNIT_TUPLE && bitset_has(concat, i)
		    && reads_param(n, i, part);
	}
	return !heavy || first;
}

/* ---- collecting ---- */

/* Parameters in the order in which they were met, named by the first place
 * among the region's uses; constants are bound inside, but have their places. */
static void
collect_params(
    const struct numbering *n, const struct part *p, struct low_region *r)
{
	struct arena *a = n->find->arena;
	low_id *param = arena_new(a, low_id, p->nparams);
	uint32_t *place = arena_new(a, uint32_t, p->nparams);
	uint32_t *met = arena_new(a, uint32_t, p->nparams), k = 0;

	for (uint32_t i = 0; i < p->nparams; i++) {
		struct entry e = p->param[i];
		uint32_t at = 0;

		while (at < k && param[at] != e.value)
			at++;
		if (at < k || low_is_const(n->find->low, e.value))
			continue;
		for (at = k++; at > 0 && met[at - 1] > e.met; at--) {
			param[at] = param[at - 1];
			place[at] = place[at - 1];
			met[at] = met[at - 1];
		}
		param[at] = e.value;
		place[at] = i;
		met[at] = e.met;
	}
	r->nparams = k;
	r->param = param;
	r->place = place;
}

/* Layers as upstream's serialiser meets them: inputs first, from the outputs
 * in order. */
static void
collect_members(const struct numbering *n, uint32_t part, struct low_region *r)
{
	const struct region_finder *f = n->find;
	struct bitset seen = bitset_new(f->arena, f->n);
	struct region_frame *stack =
	    arena_new(f->arena, struct region_frame, f->n);
	low_id *member = arena_new(f->arena, low_id, f->n);

	for (uint32_t o = 0; o < r->noutputs; o++) {
		uint32_t top = 0, start = f->unit_of[r->output[o]];

		if (start == UNIT_NONE || bitset_has(seen, start))
			continue;
		bitset_add(seen, start);
		stack[top++] = (struct region_frame){start, 0};
		while (top > 0) {
			struct region_frame *at = &stack[top - 1];
			const struct region_unit *u = &f->unit[at->unit];
			uint32_t arg;

			if (at->next == u->nargs) {
				if (u->kind == UNIT_COMPOSITE
				    || u->kind == UNIT_OPERATOR)
					member[r->nmembers++] = u->id;
				top--;
				continue;
			}
			arg = u->arg[at->next++];
			if (arg == UNIT_NONE || bitset_has(seen, arg)
			    || !is_member(n, arg, part))
				continue;
			bitset_add(seen, arg);
			stack[top++] = (struct region_frame){arg, 0};
		}
	}
	r->member = member;
}

void
low_find_regions(struct low_regions *out, const struct lowered *l,
    const struct composites *c, struct arena *a)
{
	struct region_finder f = {.low = l, .comp = c, .arena = a};
	struct numbering n = {.find = &f};

	make_units(&f);
	grow_all(&f);
	number_all(&n);
	*out = (struct low_regions){0};
	out->region = arena_new(a, struct low_region, n.nparts);
	for (uint32_t p = 0; p < n.nparts; p++) {
		struct low_region *r = &out->region[out->n];

		if (part_root(&n, p) != p)
			continue;
		*r = (struct low_region){.number = p,
		    .given_back = is_given_back(&n, p),
		    .noutputs = n.part[p].noutputs,
		    .output = n.part[p].output};
		collect_params(&n, &n.part[p], r);
		collect_members(&n, p, r);
		out->n++;
	}
}
