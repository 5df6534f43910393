#include "targets/mrvl/space.h"

const struct space space_mrvl = {"mrvl", 'm'};
