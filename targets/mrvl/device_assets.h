/* Files of targets/mrvl/device, built into the program (cmake/assets.cmake). */
#ifndef TARGETS_MRVL_DEVICE_ASSETS_H
#define TARGETS_MRVL_DEVICE_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_build_sh[], asset_ops_h[], asset_Makefile[];
extern const size_t asset_build_sh_size, asset_ops_h_size, asset_Makefile_size;

#endif
