/* Files of cli/night/assets, built into the program (cmake/assets.cmake). */
#ifndef CLI_NIGHT_ASSETS_H
#define CLI_NIGHT_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_night_css[], asset_night_js[],
    asset_kinds_svg[];
extern const size_t asset_night_css_size, asset_night_js_size,
    asset_kinds_svg_size;

#endif
