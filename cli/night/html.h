/* Text inside HTML and XML. */
#ifndef CLI_NIGHT_HTML_H
#define CLI_NIGHT_HTML_H

#include "ir/base/arena.h"

/* With entities for what markup could be taken for, and a blank for control
 * characters, which XML cannot hold. */
const char *escaped(const char *text, struct arena *a);

#endif
