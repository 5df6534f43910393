/* The machine as the database knows it. */
#ifndef COSTMODEL_MACHINE_FACTS_H
#define COSTMODEL_MACHINE_FACTS_H

#include <stdint.h>

#include "ir/base/buf.h"

/* Hard facts of this machine and process that measurements depend on, as
 * "key=value" lines: CPU model, ISA, caches, threads, protocol. */
void measure_environment(struct buf *b, uint32_t threads);

#endif
