/* The verbs of `marq model`, one file each (cli/model_<verb>.c). argv[0] is
 * the verb; the exit status is returned. */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli/cli.h"

int model_check(struct cli *c, int argc, char **argv);
int model_info(struct cli *c, int argc, char **argv);
int model_make(struct cli *c, int argc, char **argv);

#endif
