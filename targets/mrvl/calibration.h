/* What `marq calibrate` does for this kind. */
#ifndef TARGETS_MRVL_CALIBRATION_H
#define TARGETS_MRVL_CALIBRATION_H

#include "targets/calibration.h"

extern const struct calibration mrvl_calibration;

#endif
