/* Bytes as a file, for readers that take a path. */
#ifndef TESTS_SUPPORT_INFILE_H
#define TESTS_SUPPORT_INFILE_H

#include <stddef.h>
#include <stdint.h>

/* The path of a regular file with these bytes, until the next call. */
const char *infile(const uint8_t *data, size_t size);

/* Write a file into scratch_folder(). */
void infolder_put(const char *name, const uint8_t *data, size_t size);

#endif
