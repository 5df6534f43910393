/* Code generation for Marvell's compiler: per region a nodes file, a constants
 * file (both in upstream's exact schema), a map from layers back to the model,
 * and the command that compiles them. Everything is streamed. */
#ifndef TARGETS_MRVL_CODEGEN_H
#define TARGETS_MRVL_CODEGEN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "ir/base/err.h"
#include "targets/target.h"

struct layers;
struct region; /* targets/toolchain.h */

/* Write <symbol>-nodes.json, <symbol>-consts.json, <symbol>-map.json. */
void mrvl_write_nodes(FILE *f, const struct layers *l, struct arena *a);
void mrvl_write_consts(FILE *f, const struct layers *l, struct arena *a);
void mrvl_write_map(
    FILE *f, const struct layers *l, const struct graph *g, struct arena *a);

/* The name of a layer's function in the nodes file ("n1_Conv2D_NHWC"); NULL for
 * layers that have none. */
const char *mrvl_func_name(
    const struct layers *l, uint32_t layer, struct arena *a);

struct toolchain_constant; /* targets/toolchain.h */
/* The constants of a layer, by the names consts.json has; how many. */
uint32_t mrvl_constants(const struct layers *l, uint32_t layer,
    struct toolchain_constant *out, struct arena *a);
#define MRVL_CONSTANTS NCONST /* at most */

/* The batch size of a region: of its last input, as upstream has it. */
int64_t mrvl_batch(const struct layers *l);

/* The compiler's command line for a region, files beside it:
 * mrvl-tmlc -mn <symbol> -f1 ... -f2 ... <options> -b <batch>. Text in `a`. */
const char *mrvl_command(
    const struct target *t, const struct layers *l, struct arena *a);

/* What emit/ writes with (targets/toolchain.h). */
extern const struct toolchain mrvl_toolchain;

#endif
