/* Where things lie by default (XDG base directories). */
#ifndef CLI_PATHS_H
#define CLI_PATHS_H

#include "ir/base/arena.h"

/* $MARQ_DB, else $XDG_DATA_HOME/marq/tuning.db, else
 * ~/.local/share/marq/tuning.db; NULL where $MARQ_DB is "none" and for a user
 * without a folder. The folder of the file may not exist yet. */
const char *path_default_db(struct arena *a);

/* "<stem>.marq" in the current folder, stem from a model's path. */
const char *path_default_result(const char *model, struct arena *a);

/* Make the folder a file will lie in; failures show when the file is opened. */
void path_make_parents(const char *file);

#endif
