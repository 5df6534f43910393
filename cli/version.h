/* The version, as CMakeLists.txt states it. */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

#ifndef MARQ_VERSION
#define MARQ_VERSION "unknown"
#endif

#endif
