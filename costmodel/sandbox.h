/* What a measuring process may do: kernels compute, and need neither network
 * nor programs nor files to write. Each part that the kernel cannot do is left
 * out; `marq doctor` says which. */
#ifndef COSTMODEL_SANDBOX_H
#define COSTMODEL_SANDBOX_H

#include <stdbool.h>

struct sandbox_means {
	bool seccomp; /* no network, no other programs, no tracing */
	bool landlock; /* no file is changed, but in the scratch folder */
};

/* What this kernel offers. */
struct sandbox_means sandbox_offered(void);

/* Give up, for good, what is not needed; `scratch` (NULL: none) stays
 * writable. Says what took effect. The process has one thread. */
struct sandbox_means sandbox_enter(const char *scratch);

#endif
