/* The verbs of `marq model`, one file each (cli/model_<verb>.c). argv[0] is
 * the verb. */
#ifndef CLI_MODEL_H
#define CLI_MODEL_H

#include "cli/cli.h"

#define VERB(name, what) cli_command model_##name;
#include "cli/model.def"
#undef VERB

#endif
