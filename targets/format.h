/* Formats: where and how a value lives (memory space x layout x dtype).
 * Interned per run; ids are dense and small. */
#ifndef TARGETS_FORMAT_H
#define TARGETS_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/tensor.h"

typedef uint8_t format_id;
#define FORMAT_PLAIN \
	((format_id)0) /* host memory, C order, the value's own
				     * dtype: what the caller sees */

enum layout {
	LAYOUT_PLAIN, /* C order of the ONNX shape (rank 4: NCHW) */
	LAYOUT_NHWC, /* rank 4 only: channels last */
	LAYOUT_BLK8, /* rank 4 only: nChw8c, channels padded to 8 */
	LAYOUT_BLK16, /* rank 4 only: nChw16c, channels padded to 16 */
};

struct target;
struct format;
struct estimate;

/* Where values lie: the host's memory, or one that a kind declares. */
struct space {
	const char *name;
	char letter; /* in price keys: it never changes, and no two share one */
	/* Cost of moving a value between the host and this memory, of a target
	 * that lives in it; false: it moves no such value. */
	bool (*transfer)(const struct target *t, const struct format *from,
	    const struct format *to, const struct type *type,
	    struct estimate *out);
};

extern const struct space space_host;
#define SPACE_HOST (&space_host)

struct format {
	const struct space *space;
	enum layout layout;
	enum dtype dtype; /* DT_UNDEFINED: the value's own */
};

#define MAX_FORMATS 32

struct quant; /* targets/quant.h */

struct formats {
	struct format format[MAX_FORMATS]; /* [0] is FORMAT_PLAIN */
	uint32_t n;
	const struct quant *quant; /* [nvalues] what 8 bits of a value mean;
				    * NULL: nobody holds floats so */
};

void formats_init(struct formats *f);
/* The id of a format, added when new. */
format_id format_intern(struct formats *f, struct format what);
/* What 8 bits of value v mean; NULL: nothing is known. */
const struct quant *format_quant(const struct formats *f, uint32_t v);

/* "host/nchw/f32"-like text; static storage per id is not used: text in `a`. */
const char *format_text(struct format f, struct arena *a);

/* Bytes a static value of `type` occupies in a format (padding included);
 * layouts other than PLAIN need rank 4. */
size_t format_bytes(struct format f, const struct type *type);
/* The same, or of what has no size beforehand a struct tensor: where it is. */
size_t format_place_bytes(struct format f, const struct type *type);

#endif
