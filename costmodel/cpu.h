/* What tells processors apart, as facts. */
#ifndef COSTMODEL_CPU_H
#define COSTMODEL_CPU_H

#include <stdint.h>
#include <stdio.h>

#include "ir/base/arena.h"
#include "ir/base/buf.h"

/* Append the facts of the cores in use: type, instruction sets, caches. */
void cpu_facts(struct buf *b, const uint32_t *core, uint32_t ncores);

/* The part of them that /proc/cpuinfo tells, from its text. Where processors
 * have an implementer and a part (Arm), each distinct type among the cores in
 * use is named, so that prices of big cores are not those of little ones. */
void cpu_facts_read(
    struct buf *b, FILE *cpuinfo, const uint32_t *core, uint32_t ncores);

/* What the processor is sold as, which is no fact that prices depend on; NULL
 * where it has no such name. */
const char *cpu_sold_as(FILE *cpuinfo, struct arena *a);

/* Where cores of one family and model are of several kinds (x86, hybrid), the kinds
 * in use, from a folder of sysfs ("/sys/devices") that lists the cores of each. */
void cpu_kinds(
    struct buf *b, const char *folder, const uint32_t *core, uint32_t ncores);

/* How many types of cores these facts name: more than one on big.LITTLE. 0:
 * they name none. */
uint32_t cpu_core_types(const char *facts, struct arena *a);

/* The sizes of a core's caches from its folder of sysfs, bytes by level;
 * zero where it has none. */
#define CACHE_LEVELS 3
void cpu_caches(uint64_t bytes[CACHE_LEVELS], const char *folder);

#endif
