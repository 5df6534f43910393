/* Which nodes of a region something is that a runtime made of them. */
#ifndef PLUGINS_COMMON_ORIGIN_H
#define PLUGINS_COMMON_ORIGIN_H

#include <stdint.h>

/* Nodes and their outputs are called n<i> (marq_plugin.h), and runtimes call what
 * they fuse after one or more of them: "n3", "n3_nchwc", "n3 + n4". Those below
 * nnodes, each once, at most `room`; their number. */
uint32_t origin_nodes(
    const char *name, uint32_t nnodes, uint32_t *node, uint32_t room);

#endif
