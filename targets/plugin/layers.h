/* What a plug-in makes of the regions of a plan: its operations as layers, and
 * files for other tools. */
#ifndef TARGETS_PLUGIN_LAYERS_H
#define TARGETS_PLUGIN_LAYERS_H

#include "targets/toolchain.h"

extern const struct toolchain plugin_toolchain;

#endif
