/* Small pieces of memory for SQLite in fuzz entries: those of ASan, some
 * thousands for a file that is opened, are half of what such an entry takes. */
#ifndef TESTS_SUPPORT_POOL_H
#define TESTS_SUPPORT_POOL_H

#include <stdbool.h>

/* Before SQLite is first used, and by one thread. */
bool pool_for_sqlite(void);

#endif
