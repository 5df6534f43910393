/* Cores that measure: big.LITTLE and hybrid processors have cores of several types,
 * and a price is of one. */
#ifndef COSTMODEL_CORE_TYPE_H
#define COSTMODEL_CORE_TYPE_H

#include <stdint.h>
#include <stdio.h>

#include "costmodel/machine.h"

/* Of the cores this process may run on, ascending, those where so many threads
 * are measured at a time; the number (at least 1). */
uint32_t measuring_cores(uint32_t core[CORES_MAX], uint32_t threads);

/* The choice alone: keep of core[n] those of one type; the number. Of types with
 * as many cores as threads the fastest, by what the kernel tells; of equals the one
 * with the last core. All, where no type has as many. cpuinfo is a text as of
 * /proc/cpuinfo, sysfs a folder as /sys/devices. */
uint32_t cores_of_one_type(uint32_t *core, uint32_t n, uint32_t threads,
    FILE *cpuinfo, const char *sysfs);

#endif
