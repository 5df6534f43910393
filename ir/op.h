/* Operators: enum, names and arities, all from schema.def. */
#ifndef IR_OP_H
#define IR_OP_H

#include <stddef.h>
#include <stdint.h>

enum op {
	OP_CUSTOM, /* another domain, or a type we do not know: opaque */
#define OP(name, type, min_in, max_in, min_out, max_out, kind) OP_##name,
#define ML_OP OP
#define MS_OP OP
#include "ir/schema.def"
	NOP
};

enum fusion_class {
	FUSE_ELEMWISE,
	FUSE_BROADCAST,
	FUSE_INJECTIVE,
	FUSE_REDUCTION,
	FUSE_ANCHOR,
	FUSE_OPAQUE,
};

#define OP_MANY UINT32_MAX /* no upper bound on the number */

/* How many of n inputs must be there: of those of which there may be many, all
 * (but those of Loop and Scan, where some before them may be left out). */
static inline uint32_t
arity_needed(uint32_t least, uint32_t most, uint32_t n)
{
	return most == OP_MANY && least > 0 && n > least ? n : least;
}

struct op_info {
	const char *type;
	uint32_t min_inputs, max_inputs, min_outputs, max_outputs;
	enum fusion_class fusion;
};

/* Facts of an operator; op < NOP. */
const struct op_info *op_get(enum op op);

/* The default-domain operator of a type name (n bytes); OP_CUSTOM if none. */
enum op op_find(const char *type, size_t n);
/* Likewise in any domain. */
enum op op_find_in(const char *domain, const char *type);

#endif
