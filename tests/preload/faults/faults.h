/* Preloaded into a program: call after call of one kind fails. Kinds: memory
 * (allocations) and io (system calls on files, whoever makes them). Only the
 * first process and its first thread: what it starts runs as ever. */
#ifndef TESTS_PRELOAD_FAULTS_H
#define TESTS_PRELOAD_FAULTS_H

#include <stdbool.h>

enum kind { NONE, MEMORY, IO };

/* Does this call fail? It does so here, or in a copy of the process that has
 * been made for it. */
bool faults_now(enum kind kind);

/* Of each call a number that is another where the functions that are being run
 * are: FAULTS_SITES has them, 8 bytes each, in the end. */
void sites_begin(void);
void sites_note(void);
void sites_tell(void);

/* System calls on files are told to faults_now(); false: this kernel or
 * processor has no way to. */
bool calls_watch(void);
/* None is until it is set back; the old state. */
bool calls_let(bool let);

/* Go on twice from here: true in the copy, whose folder and streams are copies
 * in FAULTS_WALK, numbered; the original waits until that has ended and its
 * maker has looked at it. FAULTS_MOUNT: the copy of the folder has its path,
 * too (which root may do). */
void walk_begin(void); /* called before the program begins */
bool walk_twice(unsigned long number);

#endif
