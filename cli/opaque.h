/* Nodes that nothing here knows, kept as opaque steps on the host: --opaque. */
#ifndef CLI_OPAQUE_H
#define CLI_OPAQUE_H

#include "ir/graph.h"

struct job;

/* Refuse them by name, or (--opaque) see that all is known that a plan needs: what
 * comes out of them, and what the user says they cost (after candidates_find). */
bool opaque_settle(struct job *j, struct err *err);

/* `marq run` needs somebody who runs them: ERR_UNSUPPORTED naming the first. */
bool opaque_run(const struct job *j, struct err *err);

/* "'foo' (some.where.Foo)", or what it holds of the kind. */
const char *opaque_text(const struct graph *g, node_id id, struct arena *a);

#endif
