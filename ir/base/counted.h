/* Streams to files that share a budget of bytes. */
#ifndef IR_BASE_COUNTED_H
#define IR_BASE_COUNTED_H

#include <stdint.h>
#include <stdio.h>

/* A stream to `fd`, which it owns from now on, that takes at most *left bytes
 * and counts them off; a write of more fails with EFBIG and leaves *left 0.
 * NULL, and `fd` still the caller's, when there is no memory. */
FILE *counted_open(int fd, uint64_t *left);

/* The same to a file that is to be made at `path`. If all that is written is what the
 * open file `fd`, found at `former`, has, the new file is another name of that, so
 * nothing is written to the disk. Both paths live as long as the stream. */
FILE *counted_follow(
    int fd, const char *former, const char *path, uint64_t *left);

#endif
