/* An activated Marvell target: its attributes as tvmc has them, and the
 * parameters of its cost simulator. */
#ifndef TARGETS_MRVL_OPTIONS_H
#define TARGETS_MRVL_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "targets/mrvl/params.h"
#include "targets/mrvl/templates.h"
#include "targets/target.h"

struct mrvl {
	const char *mcpu; /* "cn10ka", "cnf10kb"; the compiler never sees it */
	uint32_t num_tiles; /* 1, 2, 4, 8 */
	bool int8; /* quantize=int8 */
	bool pin; /* wb_pin_ocm=1: weights stay on chip */
	bool hw; /* run_mode */
	bool legacy; /* compat=legacy-v0.19 */
	const char *mattr; /* upstream's text, or NULL */
	struct params params;
	struct mrvl_tools tools; /* Marvell's own, those that are used */
	struct format nhwc, plain; /* what lives on the accelerator */
};

const struct mrvl *mrvl_of(const struct target *t);

extern const struct target_option mrvl_options[];

/* Check the attributes and fill target->state. */
bool mrvl_open(
    struct target *t, struct formats *f, struct arena *a, struct err *err);

/* What the compiler is told: "-arch=mlip -quantize=fp16 ...". Upstream's own
 * composition, odd blanks included. */
const char *mrvl_compiler_options(const struct mrvl *m, struct arena *a);

#endif
