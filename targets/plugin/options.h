/* The options of a plug-in's target: the user's, checked against what it
 * declares, and the rest at their defaults. */
#ifndef TARGETS_PLUGIN_OPTIONS_H
#define TARGETS_PLUGIN_OPTIONS_H

#include "targets/target.h"

/* Make t->option what `declared` (to a NULL name) lists, each with a value.
 * ERR_USAGE for one that is not declared, or a value it does not take. */
bool options_settle(struct target *t, const struct target_option *declared,
    struct arena *a, struct err *err);

#endif
