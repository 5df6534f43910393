/* Private folders, and the end of any. */
#ifndef IR_BASE_FOLDER_H
#define IR_BASE_FOLDER_H

#include <dirent.h>

#include "ir/base/arena.h"
#include "ir/base/err.h"

/* A new private folder in `parent` (NULL: $TMPDIR or /tmp), and the end of one
 * with all that is in it. NULL and ERR_IO when it cannot be made. */
const char *folder_new(const char *parent, struct arena *a, struct err *err);
void folder_remove(const char *path);

/* The next name in an open folder; NULL at the end, and, with an error, where it
 * cannot be read. */
const struct dirent *folder_next(DIR *d, const char *path, struct err *err);

#endif
