/* What inference found meets what the model states. */
#include "ir/infer/pass.h"

#include <inttypes.h>

#include "ir/base/size.h"
#include "ir/lenient.h"

/* TUNING: elements of one tensor; 4 TiB of floats. No machine this runs on
 * holds one, so a model that asks for it is malformed or hostile. */
#define MAX_ELEMENTS ((int64_t)1 << 36)

static const char *
text(struct site *s, const struct type *t)
{
	return type_text(t, s->g->symbol, s->pass->scratch);
}

/* The known dimensions alone must not exceed what can exist. */
static bool
check_size(struct site *s, uint32_t i)
{
	const struct type *t = &s->out[i];
	int64_t n = 1;

	if (t->kind != TYPE_TENSOR || t->rank == RANK_UNKNOWN)
		return true;
	if (t->rank > RANK_MAX)
		return fault(s,
		    "output %" PRIu32 " has rank %" PRIu32
		    ", above the limit of %u",
		    i, t->rank, RANK_MAX);
	for (uint32_t k = 0; k < t->rank; k++)
		if (t->dim[k] == 0)
			return true;
	for (uint32_t k = 0; k < t->rank; k++)
		if (t->dim[k] > 0
		    && (!i64_mul(n, t->dim[k], &n) || n > MAX_ELEMENTS))
			return fault(s, "output %" PRIu32 ", %s, is too large",
			    i, text(s, t));
	return true;
}

/* A size some exporters mean as "unknown" is not believed against inference. */
static bool
dims_clash(int64_t inferred, int64_t stated)
{
	return inferred >= 0 && stated > 0 && inferred != stated;
}

/* What inference does not know is taken from the statement. */
static int64_t
dim_refined(int64_t inferred, int64_t stated)
{
	if (inferred != DIM_UNKNOWN)
		return inferred;
	return stated > 0 || stated < DIM_UNKNOWN ? stated : DIM_UNKNOWN;
}

/* Is the node one with bodies, or does what it takes come of one? */
static bool
rests_on_a_body(const struct site *s)
{
	bool *asked = arena_new(s->pass->scratch, bool, s->g->nnodes);

	asked[s->id] = true;
	for (node_id id = s->id + 1; id-- > 0;) {
		const struct node *n = &s->g->node[id];

		if (asked[id] && node_body(n, 0))
			return true;
		for (uint32_t i = 0; asked[id] && i < n->ninputs; i++)
			if (node_in(s->g, n, i)
			    && node_in(s->g, n, i)->producer != NODE_NONE)
				asked[node_in(s->g, n, i)->producer] = true;
	}
	return false;
}

/* Is every size that was stated otherwise stated as 1? */
static bool
stated_as_one(const struct type *stated, const struct type *found)
{
	bool ones = stated->rank == found->rank;

	for (uint32_t i = 0; ones && i < found->rank; i++)
		ones = stated->dim[i] == 1
		    || !dims_clash(found->dim[i], stated->dim[i]);
	return ones;
}

/* By which rule is another statement accepted? NLENIENT: by none. What is
 * empty or only handed on is computed the same way whatever was stated, and
 * a shape with open sizes, of 1, or of what bodies make, is an exporter's guess;
 * any other output of the model may be what a consumer counts on. */
static enum lenient
harmless(const struct site *s, const struct value *v, const struct type *found)
{
	if (!(v->flags & VALUE_OUTPUT) || s->pass->depth > 0)
		return LENIENT_INNER_SHAPE;
	if (v->type.dtype != found->dtype)
		return NLENIENT;
	for (uint32_t i = 0; i < found->rank; i++)
		if (found->dim[i] == 0)
			return LENIENT_EMPTY_OUTPUT;
	if (s->n->op == OP_DROPOUT)
		return LENIENT_DROPOUT_OUTPUT;
	for (uint32_t i = 0; i < v->type.rank; i++)
		if (v->type.dim[i] < 0)
			return LENIENT_OPEN_OUTPUT;
	if (stated_as_one(&v->type, found))
		return LENIENT_BATCH_OUTPUT;
	return rests_on_a_body(s) ? LENIENT_BODY_OUTPUT : NLENIENT;
}

static bool
contradiction(struct site *s, const struct value *v, const struct type *found)
{
	const char *stated = text(s, &v->type), *inferred = text(s, found);
	enum lenient rule = harmless(s, v, found);

	if (rule == NLENIENT)
		return fault(s, "output '%s' is declared %s but is %s", v->name,
		    stated, inferred);
	lenient_note(s->pass->o->notes, rule,
	    "value '%s' is stated %s but is %s; the latter is used", v->name,
	    stated, inferred);
	return true;
}

static bool
merge_dims(struct site *s, struct value *v, struct type *found)
{
	const struct type *stated = &v->type;
	int64_t *dim;

	if (found->rank == RANK_UNKNOWN) {
		found->rank = stated->rank;
		found->dim = stated->dim;
		return true;
	}
	if (stated->rank == RANK_UNKNOWN)
		return true;
	if (stated->rank != found->rank)
		return contradiction(s, v, found);
	for (uint32_t i = 0; i < found->rank; i++)
		if (dims_clash(found->dim[i], stated->dim[i]))
			return contradiction(s, v, found);
	dim = dims_copy(s, found->dim, found->rank);
	for (uint32_t i = 0; i < found->rank; i++)
		dim[i] = dim_refined(dim[i], stated->dim[i]);
	found->dim = dim;
	return true;
}

static bool
merge_type(struct site *s, struct value *v, struct type found)
{
	const struct type *stated = &v->type;

	if (found.kind == TYPE_UNKNOWN)
		return true;
	if (stated->kind == TYPE_TENSOR && found.kind == TYPE_TENSOR) {
		if (found.dtype == DT_UNDEFINED)
			found.dtype = stated->dtype;
		if (stated->dtype != DT_UNDEFINED
		    && stated->dtype != found.dtype) {
			if (!contradiction(s, v, &found))
				return false;
		} else if (!merge_dims(s, v, &found)) {
			return false;
		}
	}
	v->type = found;
	return true;
}

/* The bytes of known numbers in an integer or bool type; NULL when they do
 * not fit it. */
static const void *
known_bytes(struct site *s, const struct small *small, enum dtype dtype)
{
	size_t size = dtype_bits(dtype) / 8;
	unsigned char *data = arena_alloc(s->g->arena, small->n * size);

	for (uint32_t i = 0; i < small->n; i++) {
		int64_t v = small->e[i].v;

		if (!small->e[i].known
		    || (dtype == DT_INT32 && (v > INT32_MAX || v < INT32_MIN)))
			return NULL;
		for (size_t b = 0; b < size; b++)
			data[i * size + b] =
			    (unsigned char)((uint64_t)v >> 8 * b);
	}
	return data;
}

/* A small value that is wholly known is a constant. */
static const struct tensor *
promote_small(struct site *s, const struct small *small, const struct type *t)
{
	struct tensor *made;
	const void *data;

	if (!small->e || !type_is_static(t)
	    || (t->dtype != DT_INT64 && t->dtype != DT_INT32
	        && t->dtype != DT_BOOL))
		return NULL;
	data = known_bytes(s, small, t->dtype);
	if (!data)
		return NULL;
	made = arena_new(s->g->arena, struct tensor, 1);
	*made = tensor_view(t->dtype, t->rank, t->dim, data);
	return made->count == small->n ? made : NULL;
}

bool
settle_outputs(struct site *s)
{
	for (uint32_t i = 0; i < s->n->noutputs; i++) {
		value_id id = s->n->output[i];
		struct value *v;

		if (id == VALUE_NONE)
			continue;
		v = graph_value(s->g, id);
		if (!check_size(s, i) || !merge_type(s, v, s->out[i]))
			return false;
		if (!s->out_content[i])
			s->out_content[i] =
			    promote_small(s, &s->out_small[i], &v->type);
		s->pass->small[id] = s->out_small[i];
		s->pass->content[id] = s->out_content[i];
		if (s->out_content[i])
			v->constant = s->out_content[i];
	}
	return true;
}
