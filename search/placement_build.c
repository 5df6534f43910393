/* From the graph of a device-placement file to a problem: groups in topological
 * order, a value for what crosses between groups, a candidate per device. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "search/placement_graph.h"

#define ID_CHARS 21u /* of an int64, and a separator or the end */

/* Lists of each group's places and of the links into it, in file order. */
static void
chain(struct placement *im)
{
	for (uint32_t i = im->nplaces; i-- > 0;) {
		struct colour_group *g = &im->group[im->place[i].group];

		im->place[i].next = g->place;
		g->place = i;
	}
	for (uint32_t i = im->nlinks; i-- > 0;) {
		struct link *link = &im->link[i];
		struct placement_node *from = &im->place[link->from];
		struct colour_group *g = &im->group[im->place[link->to].group];

		if (g == &im->group[from->group])
			continue;
		link->next = g->link;
		g->link = i;
		g->nlinks++;
		im->group[from->group].waiting++;
		if (from->value == NONE)
			im->group[from->group].nvalues++;
		from->value = 0; /* numbered in number_values() */
	}
}

/* Groups still waiting wait for another such: going from one to the next ends
 * in a circle, and a group of several places on it is to blame. */
static bool
refuse_circle(const struct placement *im, struct err *err)
{
	uint32_t *next = arena_new(im->a, uint32_t, im->ngroups);
	const struct placement_node *place;
	uint32_t at = 0, blamed;

	for (uint32_t i = 0; i < im->nlinks; i++) {
		uint32_t from = im->place[im->link[i].from].group;
		uint32_t to = im->place[im->link[i].to].group;

		if (from != to && im->group[to].waiting)
			next[from] = to;
	}
	while (!im->group[at].waiting)
		at++;
	for (uint32_t i = 0; i < im->ngroups; i++)
		at = next[at];
	blamed = at;
	for (uint32_t g = next[at]; g != at; g = next[g])
		if (im->group[g].nplaces > im->group[blamed].nplaces)
			blamed = g;
	place = &im->place[im->group[blamed].place];
	if (im->group[blamed].nplaces == 1)
		return err_set(err, ERR_INPUT,
		    "node %" PRId64 " waits for its own output", place->id);
	return err_set(err, ERR_UNSUPPORTED,
	    "node %" PRId64 ": nodes outside its colorClass %" PRId64
	    " run between those in it, so they cannot be one",
	    place->id, place->colour);
}

/* From the last group to the first, depth first: what few need comes right
 * before they do, which keeps few values live at a time. */
static bool
order_groups(struct placement *im, struct err *err)
{
	uint32_t *stack = arena_new(im->a, uint32_t, im->ngroups);
	uint32_t depth = 0, left = im->ngroups;

	im->order = arena_new(im->a, uint32_t, im->ngroups);
	for (uint32_t g = 0; g < im->ngroups; g++)
		if (!im->group[g].waiting)
			stack[depth++] = g;
	while (depth > 0) {
		uint32_t g = stack[--depth];

		im->order[--left] = g;
		for (uint32_t l = im->group[g].link; l != NONE;
		     l = im->link[l].next) {
			uint32_t from = im->place[im->link[l].from].group;

			if (--im->group[from].waiting == 0)
				stack[depth++] = from;
		}
	}
	return left == 0 || refuse_circle(im, err);
}

/* A value for each place that sends, and a conversion class per cost. */
static void
number_values(struct placement *im)
{
	struct problem *p = im->p;
	struct map classes;

	map_init(&classes, im->a);
	p->value = arena_new(im->a, struct problem_value, im->nplaces);
	p->conversion = arena_new(
	    im->a, cost_ns, (size_t)im->nplaces * NDEVICES * NDEVICES);
	for (uint32_t n = 0; n < im->ngroups; n++)
		for (uint32_t i = im->group[im->order[n]].place; i != NONE;
		     i = im->place[i].next) {
			struct placement_node *s = &im->place[i];
			uint32_t class;

			if (s->value == NONE)
				continue;
			class = map_add(&classes, &s->transfer,
			    sizeof s->transfer, p->nclasses);
			if (class == p->nclasses) {
				cost_ns *c = &p->conversion[(size_t)4 * class];

				c[1] = c[2] = s->transfer;
				p->nclasses++;
			}
			s->value = p->nvalues++;
			p->value[s->value] = (struct problem_value){
			    .producer = n, .class = class};
		}
}

static const char *
group_name(const struct placement *im, const struct colour_group *g)
{
	size_t room = (size_t)g->nplaces * ID_CHARS, used = 0;
	char *name = arena_alloc(im->a, room);

	for (uint32_t i = g->place; i != NONE; i = im->place[i].next)
		used += (size_t)snprintf(name + used, room - used, "%s%" PRId64,
		    used ? "+" : "", im->place[i].id);
	return name;
}

static int
ascending(const void *x, const void *y)
{
	const uint32_t *a = x, *b = y;

	return (*a > *b) - (*a < *b);
}

static void
make_node(struct placement *im, uint32_t n)
{
	const struct colour_group *g = &im->group[im->order[n]];
	uint32_t *input = arena_new(im->a, uint32_t, g->nlinks);
	uint32_t *output = arena_new(im->a, uint32_t, g->nvalues);
	uint32_t ninputs = 0, noutputs = 0, kept = 0;

	for (uint32_t l = g->link; l != NONE; l = im->link[l].next)
		input[ninputs++] = im->place[im->link[l].from].value;
	qsort(input, ninputs, sizeof *input, ascending);
	for (uint32_t i = 0; i < ninputs; i++)
		if (kept == 0 || input[i] != input[kept - 1])
			input[kept++] = input[i];
	for (uint32_t i = g->place; i != NONE; i = im->place[i].next)
		if (im->place[i].value != NONE)
			output[noutputs++] = im->place[i].value;
	im->p->node[n] = (struct problem_node){.name = group_name(im, g),
	    .ninputs = kept,
	    .noutputs = noutputs,
	    .input = input,
	    .output = output};
}

static const struct problem_port *
make_ports(struct arena *a, const uint32_t *value, uint32_t n, uint32_t format)
{
	struct problem_port *port = arena_new(a, struct problem_port, n);

	for (uint32_t i = 0; i < n; i++)
		port[i] = (struct problem_port){value[i], format};
	return port;
}

static void
make_candidate(struct placement *im, uint32_t n, uint32_t device)
{
	const struct problem_node *node = &im->p->node[n];
	const struct colour_group *g = &im->group[im->order[n]];
	uint32_t c = im->p->ncandidates++;

	im->p->candidate[c] = (struct problem_candidate){.target = device,
	    .cost = g->cost[device],
	    .resource = device == ACCELERATOR ? g->size : 0,
	    .class = c,
	    .nnodes = 1,
	    .ninputs = node->ninputs,
	    .noutputs = node->noutputs,
	    .node = arena_copy(im->a, &n, sizeof n),
	    .input = make_ports(im->a, node->input, node->ninputs, device),
	    .output = make_ports(im->a, node->output, node->noutputs, device)};
}

static void
make_problem(struct placement *im)
{
	struct problem *p = im->p;

	number_values(im);
	p->nnodes = im->ngroups;
	p->node = arena_new(im->a, struct problem_node, im->ngroups);
	p->candidate = arena_new(
	    im->a, struct problem_candidate, (size_t)NDEVICES * im->ngroups);
	for (uint32_t n = 0; n < im->ngroups; n++) {
		make_node(im, n);
		make_candidate(im, n, CPU);
		if (im->group[im->order[n]].supported)
			make_candidate(im, n, ACCELERATOR);
	}
}

bool
placement_build(struct placement *im, struct err *err)
{
	chain(im);
	if (!order_groups(im, err))
		return false;
	make_problem(im);
	return true;
}
