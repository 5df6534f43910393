/* Faults for SQLite: the n-th input or output operation, or the n-th
 * allocation, fails; once, or from there on. */
#ifndef TESTS_SUPPORT_FAULTVFS_H
#define TESTS_SUPPORT_FAULTVFS_H

#include <stdbool.h>
#include <stdint.h>

enum fault {
	FAULT_NONE,
	FAULT_IO, /* SQLITE_IOERR from read, write, sync, lock, ... */
	FAULT_FULL, /* SQLITE_FULL from writes */
	FAULT_SHORT, /* half of a write arrives, then SQLITE_IOERR */
	FAULT_KILL, /* the process is killed where FAULT_IO would strike */
	FAULT_MEMORY,
};

/* Put the shims in place; before anything else uses SQLite. Syncing becomes
 * free: what is tested is order, not the disk. */
void faults_install(void);

/* Let operation number `at` (from 1) fail; with `on`, all after it too. */
void faults_arm(enum fault kind, uint64_t at, bool on);

/* Stop failing; did any fault fire since arming? */
bool faults_disarm(void);

#endif
