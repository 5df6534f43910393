/* Reading the text form: a cursor over characters that knows line and column.
 * Internal to ir/text*.c. */
#ifndef IR_TEXT_READ_H
#define IR_TEXT_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"
#include "ir/graph.h"
#include "ir/infer/num.h"

/* TUNING: real models nest bodies 4 deep. */
#define TEXT_DEPTH 32u

/* What each attr_kind is called. */
extern const char *const text_kind[ATTR_TYPES + 1];

struct reader {
	const char *start, *p, *end;
	const char *name; /* of the document, for messages */
	struct arena *a;
	struct err *err;
	struct symbols *symbols; /* of the graph being read */
	uint32_t depth; /* of nested bodies and types */
	size_t ids_left; /* values there can still be in a text this long */
};

/* A fault at the cursor: "name:line:column: expected ...". Always false. */
bool text_fault(struct reader *r, const char *expected);

/* Skip blanks and line ends; is the next character (or word) this one? Takes
 * it when it is. */
bool text_takes(struct reader *r, const char *token);
/* The same, and a fault when it is not. */
bool text_needs(struct reader *r, const char *token);

/* Nothing but blanks is left? */
bool text_ends(struct reader *r);

bool text_uint(struct reader *r, uint32_t *out);
bool text_int(struct reader *r, int64_t *out);
bool text_float(struct reader *r, float *out);
bool text_string(struct reader *r, struct string_view *out);
/* A string without NUL, as a C string. */
bool text_name(struct reader *r, const char **out);

/* A type or a tensor of the graph being read (symbols are added to it). */
bool text_type(struct reader *r, struct type *out);
bool text_tensor(struct reader *r, struct tensor *out);

#endif
