/* A candidate compiled by a plug-in, as a kernel. */
#ifndef TARGETS_PLUGIN_PROGRAM_H
#define TARGETS_PLUGIN_PROGRAM_H

#include "targets/plugin/library.h"
#include "targets/target.h"

/* A plug-in's backend, opened once in each process that runs it. */
struct session {
	struct opened *open; /* NULL: not yet, in no process */
	bool idles; /* it runs a product, which may wait beside others */
	struct arena idle; /* of that product, in processes that measure */
};

struct plugin {
	struct target_kind kind; /* with its rules and options */
	struct greeting *greeting;
	const char *path;
	char hash[33]; /* of the file */
	struct session *session;
};

/* In this process, where it is not yet. */
bool program_open(const struct target *t, struct err *err);

/* ERR_UNSUPPORTED when it refuses. */
bool program_compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err);

/* Compile a candidate in this process, run it once on zeros and give its layers
 * to sink->layer. What fails is told as compiling and running do. */
bool program_layers(const struct target *t, const struct graph *g,
    const struct candidate *c, const struct marq_sink *sink, struct err *err);

/* Give the plug-in's own files of a candidate to sink->file. */
bool program_emit(const struct target *t, const struct graph *g,
    const struct candidate *c, const struct marq_sink *sink, struct err *err);

#endif
