/* The version, as CMakeLists.txt states it, and those of what it is built on. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#ifndef MARQ_VERSION
#define MARQ_VERSION "unknown"
#endif

struct cli;

/* "marq 1.2.3", then a line a library: on stdout. */
void version_print(const struct cli *c);

#endif
