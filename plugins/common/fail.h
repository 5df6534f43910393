/* How a plug-in's calls say why they end badly. */
#ifndef PLUGINS_COMMON_FAIL_H
#define PLUGINS_COMMON_FAIL_H

#include <stdint.h>

struct marq_error;

/* Put the words where the caller wants them, if anywhere; gives `s`, a status of
 * marq_plugin.h, back. */
__attribute__((format(printf, 3, 4))) uint32_t fail(
    uint32_t s, struct marq_error *e, const char *format, ...);

#endif
