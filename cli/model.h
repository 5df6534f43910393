/* The verbs of `marq model`, one file each (cli/model_<verb>.c). argv[0] is
 * the verb; the exit status is returned. */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli/cli.h"

#define VERB(name, what) int model_##name(struct cli *c, int argc, char **argv);
#include "cli/model.def"
#undef VERB

#endif
