/* Text from outside on its way to people: what would steer a terminal (control
 * characters, C1 controls, changes of direction) or is no UTF-8 becomes '?'. */
#ifndef IR_BASE_PLAIN_H
#define IR_BASE_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Does the well-formed UTF-8 sequence of `n` bytes steer a terminal? Line
 * feeds and tabs do, too. */
bool plain_is_control(const char *s, size_t n);

/* Make it one plain line, in place. It grows no longer. */
void plain_line(char *text);

/* The first character of a text that has one, as it may be shown in a file for people:
 * its bytes in `out`, of which there are so many; *taken: those in `text`. White space
 * is a space. */
size_t plain_next(char out[4], const char *text, size_t *taken);

/* From now on standard output is filtered: line feeds and tabs of ours stay. */
void plain_stdout(void);

/* Standard output as it is, for bytes that are no text; to be closed. NULL
 * where there is none. */
FILE *plain_raw_stdout(void);

#endif
