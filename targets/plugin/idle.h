/* A plug-in that waits while others run: loaded, its threads asleep. */
#ifndef TARGETS_PLUGIN_IDLE_H
#define TARGETS_PLUGIN_IDLE_H

#include "targets/target.h"

extern const struct target_rest plugin_rest;

#endif
