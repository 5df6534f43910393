/* What killed processes left beside their outputs. */
#ifndef IR_BASE_STALE_H
#define IR_BASE_STALE_H

/* Delete every `<path>.tmp-<pid>` whose process is gone. Only this machine's
 * processes are known: a path belongs to one machine at a time. */
void stale_remove(const char *path);

#endif
