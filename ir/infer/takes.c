/* Which element types operators take. */
#include <string.h>

#include "ir/infer.h"
#include "ir/infer/pass.h"
#include "ir/lenient.h"

#define B(t) (UINT32_C(1) << DT_##t)
#define REALS (B(FLOAT16) | B(FLOAT) | B(DOUBLE))
#define REALS_B (REALS | B(BFLOAT16))
#define SIGNED_INTS (B(INT8) | B(INT16) | B(INT32) | B(INT64))
#define UNSIGNED (B(UINT8) | B(UINT16) | B(UINT32) | B(UINT64))
#define WIDE_INTS (B(INT32) | B(INT64) | B(UINT32) | B(UINT64))
#define WIDE (REALS | WIDE_INTS)
#define WIDE_B (REALS_B | WIDE_INTS)
#define SIGNED (REALS | SIGNED_INTS)
#define SIGNED_B (REALS_B | SIGNED_INTS)
#define NUMBERS (SIGNED | UNSIGNED)
#define NUMBERS_B (SIGNED_B | UNSIGNED)
#define PLAIN (NUMBERS | B(BOOL))
#define PLAIN_B (NUMBERS_B | B(BOOL))
#define PLAIN_S (PLAIN | B(STRING))
#define PLAIN_BS (PLAIN_B | B(STRING))
#define INDEX (B(INT32) | B(INT64))
#define BYTES (B(INT8) | B(UINT8))
#define ANY UINT32_MAX

static const struct takes {
	enum op op;
	uint32_t since, inputs, set;
} rows[] = {
#define TAKES(op, since, inputs, set) {OP_##op, since, inputs, set},
#include "ir/schema.def"
};

#define NROWS ((uint32_t)(sizeof rows / sizeof rows[0]))

/* The first row of an operator (or of a later one). */
static uint32_t
first_row(enum op op)
{
	uint32_t low = 0, high = NROWS;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;

		if (rows[mid].op < op)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* What input i takes at an opset. The table ends with opset 17, or with an
 * operator's own last row; later versions only added small float types to what
 * takes floats. */
static uint32_t
set_of(const struct node *n, uint32_t i, uint32_t opset)
{
	uint32_t set = ANY, end = 17;

	for (uint32_t r = first_row(n->op); r < NROWS && rows[r].op == n->op;
	     r++) {
		if (rows[r].since <= opset && i < 32 && rows[r].inputs >> i & 1)
			set = rows[r].set;
		if (rows[r].since > end)
			end = rows[r].since - 1;
	}
	if (opset <= end || set == B(BOOL))
		return set;
	if (set & ~REALS_B)
		return ANY;
	for (unsigned t = 0; t < NDTYPE; t++)
		if (dtype_is_float((enum dtype)t))
			set |= UINT32_C(1) << t;
	return set;
}

/* What any version of the operator takes there. */
static uint32_t
set_of_any(const struct node *n, uint32_t i)
{
	uint32_t set = 0;

	for (uint32_t r = first_row(n->op); r < NROWS && rows[r].op == n->op;
	     r++)
		if (i < 32 && rows[r].inputs >> i & 1)
			set |= rows[r].set;
	return set;
}

/* "bool, int32, int64" */
static const char *
set_text(const struct site *s, uint32_t set)
{
	const char *text = "";

	for (unsigned t = 1; t < NDTYPE; t++)
		if (set >> t & 1)
			text = arena_printf(s->pass->scratch, "%s%s%s", text,
			    text[0] ? ", " : "", dtype_name((enum dtype)t));
	return text;
}

bool
node_takes(const struct graph *g, const struct node *n, uint32_t opset)
{
	for (uint32_t i = 0; i < n->ninputs; i++) {
		const struct value *v = node_in(g, n, i);

		if (v && v->type.dtype != DT_UNDEFINED
		    && !(set_of(n, i, opset) >> v->type.dtype & 1))
			return false;
	}
	return true;
}

bool
check_dtypes(struct site *s)
{
	for (uint32_t i = 0; i < s->n->ninputs; i++) {
		enum dtype t = in_dtype(s, i);
		uint32_t set = set_of(s->n, i, s->n->opset);

		if (t == DT_UNDEFINED || set >> t & 1)
			continue;
		if (!(set_of_any(s->n, i) >> t & 1))
			return fault(s, "input %u is %s; opset %u takes %s", i,
			    dtype_name(t), s->n->opset, set_text(s, set));
		/* exporters write a type before the version that allows it */
		lenient_note(s->pass->o->notes, LENIENT_LATER_TYPE,
		    "node '%s%s': input %u is %s, which %s takes only after"
		    " opset %u",
		    s->pass->path, node_label(s->g, s->id, s->pass->scratch), i,
		    dtype_name(t), s->n->op_type, s->n->opset);
	}
	return true;
}
