#include "targets/native/recurrent_ports.h"

#include "targets/weights.h"

struct recurrent_ports
recurrent_ports_of(const struct graph *g, const struct node *n,
    const struct candidate *c, struct arena *a)
{
	struct recurrent_ports p = {.x = candidate_input(c, n->input[X])};

	for (uint32_t i = 0; i < 2; i++) {
		const value_id v = node_input(n, FIRST_H + i);

		p.first[i] = candidate_input(c, v);
		if (p.first[i] < 0 && v != VALUE_NONE)
			p.start[i] = scaled_floats(g, v, 1, a);
	}
	for (uint32_t i = 0; i < NOUTPUTS; i++)
		p.out[i] = candidate_output(c, node_output(n, i));
	return p;
}

struct recurrent_places
recurrent_places_of(
    const struct recurrent_ports *p, const void *const *in, void *const *out)
{
	struct recurrent_places at = {.x = in[p->x]};

	for (size_t i = 0; i < 2; i++)
		at.start[i] = p->first[i] >= 0 ? in[p->first[i]] : p->start[i];
	for (size_t i = 0; i < NOUTPUTS; i++)
		at.out[i] = p->out[i] >= 0 ? out[p->out[i]] : NULL;
	return at;
}
