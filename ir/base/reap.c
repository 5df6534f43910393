#include "ir/base/reap.h"

#include <errno.h>
#include <sys/wait.h>

int
reap(long process)
{
	int status = 0;

	while (waitpid((pid_t)process, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}
