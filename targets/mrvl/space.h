/* The accelerator's own memory. */
#ifndef TARGETS_MRVL_SPACE_H
#define TARGETS_MRVL_SPACE_H

#include "targets/format.h"

extern const struct space space_mrvl;
#define SPACE_MRVL (&space_mrvl)

#endif
