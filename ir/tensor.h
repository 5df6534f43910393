/* A tensor's type and content. Content is a view (often into the mapped model
 * file, at any alignment) or one repeated element (a ConstantOfShape weight is
 * never materialised unless a kernel needs it). */
#ifndef IR_TENSOR_H
#define IR_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/dtype.h"

/* Dimensions are int64. Below zero they are not static: */
#define DIM_UNKNOWN INT64_C(-1) /* equal to nothing, itself included */
#define DIM_SYMBOL(s) (INT64_C(-2) - (s)) /* symbol s of graph->symbol[] */

#define RANK_UNKNOWN UINT32_MAX
#define RANK_MAX 64u /* TUNING: more is refused; real models stay below 12 */

enum type_kind {
	TYPE_UNKNOWN,
	TYPE_TENSOR,
	TYPE_SEQUENCE, /* of elem */
	TYPE_OPTIONAL, /* of elem */
	TYPE_OPAQUE, /* sparse, map, ...: carried, never looked into */
};

struct string_view {
	const char *s;
	size_t n;
};

bool view_is(struct string_view v, const char *text);
bool views_same(struct string_view a, struct string_view b);

struct type {
	enum type_kind kind;
	enum dtype dtype; /* of a tensor; DT_UNDEFINED: not known */
	uint32_t rank; /* of a tensor, or RANK_UNKNOWN */
	const int64_t *dim; /* [rank] */
	const struct type *elem; /* of a sequence or optional */
	const struct string_view *proto; /* of an opaque type: as it was
	                                  * imported; NULL: it was not */
};

enum tensor_kind {
	TENSOR_VIEW, /* data[bytes], little-endian, C order */
	TENSOR_FILL, /* every element is the same: fill */
	TENSOR_STRINGS, /* string[count] */
	TENSOR_SEQUENCE, /* item[nitems]; at run time only */
	TENSOR_NONE, /* an empty optional; at run time only */
	TENSOR_HALVES, /* data[] of `held` that stand for floats; among what
			* targets/widened.h shows */
};

struct tensor {
	enum tensor_kind kind;
	enum dtype dtype;
	uint32_t rank;
	const int64_t *dim; /* [rank], all static */
	size_t count; /* product of dim */
	size_t bytes; /* of the whole content as a view */
	bool made_up; /* the model lacks this content: nothing may be concluded
	               * from it */
	enum dtype held; /* what floats were rounded to that stand here as
			  * floats; DT_UNDEFINED: to dtype */
	union {
		const void *data;
		uint8_t fill[16]; /* one element, little-endian */
		const struct string_view *string;
		struct {
			const struct tensor *item;
			uint32_t nitems;
		};
	};
};

/* Is every dimension of a tensor type known? */
bool type_is_static(const struct type *t);
/* Can its memory be laid out before anything runs: a tensor of numbers and of
 * static shape? Of other values (shapes that data decide, strings, sequences,
 * optionals) a plan's kernels hand each other a struct tensor. */
bool type_has_size(const struct type *t);
/* The product of the dimensions from `first` on; static, and known to fit. */
size_t type_elements(const struct type *t, uint32_t first);
/* Likewise of those before the last so many. */
size_t type_leading(const struct type *t, uint32_t last);

/* *n = product of dims, *bytes = their size; false when a dim is negative or
 * the product or the byte size does not fit in 2^47 (an address space). */
bool tensor_size(enum dtype dtype, const int64_t *dim, uint32_t rank, size_t *n,
    size_t *bytes);

/* A tensor over bytes that already exist; dims must be static and fitting. */
struct tensor tensor_view(
    enum dtype dtype, uint32_t rank, const int64_t *dim, const void *data);

/* A tensor of strings that already exist. */
struct tensor tensor_strings(
    uint32_t rank, const int64_t *dim, const struct string_view *string);

/* A tensor whose elements all equal *element. */
struct tensor tensor_fill(
    enum dtype dtype, uint32_t rank, const int64_t *dim, const void *element);

/* A tensor of halves as floats: few of them in `a`, many where they lie. Others
 * as they are. */
struct tensor tensor_widened(const struct tensor *t, struct arena *a);
/* The same with all floats in `a`. */
struct tensor tensor_opened(const struct tensor *t, struct arena *a);
/* Is its content numbers? */
bool tensor_is_numbers(const struct tensor *t);
/* What its numbers were rounded to. */
enum dtype tensor_held(const struct tensor *t);

/* The content of a VIEW, FILL or HALVES as bytes aligned for kernels: the view itself
 * when it is aligned to 64, else a copy in `a`. */
const void *tensor_data(const struct tensor *t, struct arena *a);

/* The type of a value that holds it; its dims are borrowed. */
struct type tensor_type(const struct tensor *t);

/* Element i of an integer or bool tensor / of any tensor of real numbers. */
int64_t tensor_int(const struct tensor *t, size_t i);
double tensor_real(const struct tensor *t, size_t i);

/* Same kind, dtype, dims and content? Views and fills are of one kind. */
bool tensor_equal(const struct tensor *a, const struct tensor *b);

/* "float32[1,3,224,224]", "?" where unknown; text in `a`. */
const char *type_text(
    const struct type *t, const char *const *symbol, struct arena *a);

#endif
