/* Writing to descriptors. */
#ifndef IR_BASE_FD_H
#define IR_BASE_FD_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <unistd.h>

/* Write all n bytes, again after a signal; false, and errno, when it fails. */
static inline bool
fd_write_all(int fd, const char *s, size_t n)
{
	while (n > 0) {
		ssize_t put = write(fd, s, n);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return false;
		s += put;
		n -= (size_t)put;
	}
	return true;
}

#endif
