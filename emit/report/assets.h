/* Files of emit/report, built into the program (cmake/assets.cmake). */
#ifndef EMIT_REPORT_ASSETS_H
#define EMIT_REPORT_ASSETS_H

#include <stddef.h>

extern const unsigned char asset_report_html[], asset_report_css[],
    asset_graph_js[], asset_report_js[];
extern const size_t asset_report_html_size, asset_report_css_size,
    asset_graph_js_size, asset_report_js_size;

#endif
