/* The graph of a device-placement file, between placement.c, which reads it, and
 * placement_build.c, which makes a problem of it. */
#ifndef SEARCH_PLACEMENT_GRAPH_H
#define SEARCH_PLACEMENT_GRAPH_H

#include "ir/base/err.h"
#include "ir/base/map.h"
#include "search/problem.h"

#define NONE UINT32_MAX

enum { CPU, ACCELERATOR, NDEVICES }; /* targets, and formats */

/* A node of the file. */
struct placement_node {
	int64_t id, colour;
	uint32_t group;
	uint32_t next; /* of its group, in file order */
	uint32_t value; /* what it sends to other groups, or NONE */
	cost_ns cost[NDEVICES];
	cost_ns transfer; /* of that value, between the devices */
	bool priced; /* an edge said what the transfer costs */
};

struct link {
	uint32_t from, to; /* places */
	uint32_t next; /* into the same group from another */
};

/* Places of one colour, or one without: a node of the problem. */
struct colour_group {
	uint32_t place, link; /* heads of the lists */
	uint32_t nplaces, nlinks, nvalues;
	uint32_t waiting; /* links to consumers not in the order yet */
	cost_ns cost[NDEVICES];
	uint64_t size;
	bool supported; /* by the accelerator */
};

struct placement {
	struct problem *p;
	struct arena *a;
	struct placement_node *place;
	struct link *link;
	struct colour_group *group;
	uint32_t *order; /* of groups: producers first */
	uint32_t nplaces, nlinks, ngroups;
	int64_t naccelerators; /* of which one is used */
	struct map by_id, by_colour;
	uint64_t total[NDEVICES], bytes; /* kept within WHOLE_MAX */
};

/* Order the groups and fill im->p with nodes, values, conversions and
 * candidates. ERR_INPUT or ERR_UNSUPPORTED naming a node on a circle. */
bool placement_build(struct placement *im, struct err *err);

#endif
