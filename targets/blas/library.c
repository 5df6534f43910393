#define _DEFAULT_SOURCE /* realpath */
#include "targets/blas/library.h"

#include <stdlib.h>
#include <string.h>

#include "targets/blas/room.h"
#include "targets/loaded.h"
#include "targets/threads.h"

struct openblas openblas;

/* Of the file that will be loaded; "": that is not known yet. */
static const char *
build_of_file(void)
{
	static char build[BUILD_TEXT];

	if (build[0] == '\0' && blas_file())
		(void)library_build(blas_file(), build);
	return build;
}

/* What was said of the file holds for what was loaded. */
static bool
is_as_said(struct err *err)
{
	char now[BUILD_TEXT];
	const char *said = build_of_file();

	return said[0] == '\0' || !loaded_find("libopenblas", now)
	    || strcmp(said, now) == 0
	    || err_set(err, ERR_TARGET,
	        "OpenBLAS was replaced after its build had been read: %s, now %s",
	        said, now);
}

bool
blas_ready(struct err *err)
{
	struct openblas found;

	if (openblas.sgemm)
		return true;
	if (!blas_find(&found, err) || !is_as_said(err))
		return false;
	openblas = found;
	return true;
}

bool
blas_there(struct err *err)
{
	if (openblas.sgemm || build_of_file()[0] == '\0')
		return blas_ready(err);
	return room_for_loading(err);
}

/* (A library that was built for OpenMP sets the runtime's number, too.) */
void
library_single(void)
{
	openblas.set_threads(1);
	target_threads_apply();
}

/* Which of its kernels it takes depends on the processor, unless this says so. */
#define CORE_TYPE "OPENBLAS_CORETYPE"

/* "0.3.21" of libopenblasp-r0.3.21.so; of other names all. */
static void
put_version(struct buf *b, const char *name)
{
	const char *from = strstr(name, "-r");
	const char *end = from ? strstr(from, ".so") : NULL;

	if (end)
		buf_printf(
		    b, "openblas=%.*s\n", (int)(end - from - 2), from + 2);
	else
		buf_printf(b, "openblas=%s\n", name);
}

static void
file_facts(struct buf *b)
{
	char *path = realpath(blas_file(), NULL);
	const char *core = getenv(CORE_TYPE);

	put_version(b, strrchr(path ? path : blas_file(), '/') + 1);
	buf_printf(b, "openblas_build=%s\n", build_of_file());
	if (core)
		buf_printf(b, "openblas_coretype=%s\n", core);
	free(path);
}

static void
loaded_facts(struct buf *b)
{
	const char *config = openblas.config(); /* "OpenBLAS 0.3.21 ..." */
	size_t word = strcspn(config, " "), version;

	config += word + (config[word] == ' ');
	version = strcspn(config, " "); /* a patch level is a version's */
	buf_printf(b, "openblas=%.*s\nopenblas_config=%s\nopenblas_core=%s\n",
	    (int)version, config, config + version + (config[version] == ' '),
	    openblas.core());
	loaded_build(b, "openblas_build", "libopenblas");
}

void
library_facts(struct buf *b)
{
	struct err none = {.kind = ERR_NONE};

	if (build_of_file()[0])
		file_facts(b);
	else if (blas_ready(&none))
		loaded_facts(b);
	else
		buf_printf(b, "openblas=%s\n", none.text);
}
