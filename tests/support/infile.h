/* Bytes as a file, for readers that take a path. */
#ifndef TESTS_SUPPORT_INFILE_H
#define TESTS_SUPPORT_INFILE_H

#include <stddef.h>
#include <stdint.h>

/* The path of a regular file with these bytes, until the next call. */
const char *infile(const uint8_t *data, size_t size);

/* A folder that is deleted at the end of the process. */
const char *infolder(void);

/* Write a file into it. */
void infolder_put(const char *name, const uint8_t *data, size_t size);

#endif
