#include "tests/support/orders.h"

static const uint32_t ids[] = {0, 1, 2};

static struct problem_candidate
step_by(uint32_t node, uint32_t target, uint32_t class, struct arena *a)
{
	struct problem_port *port = arena_new(a, struct problem_port, 2);

	port[0] = (struct problem_port){node, target};
	port[1] = (struct problem_port){node + 1, target};
	return (struct problem_candidate){.target = target,
	    .cost = target == TARGET_A ? 10 : 2,
	    .class = class,
	    .nnodes = 1,
	    .ninputs = 1,
	    .noutputs = 1,
	    .node = &ids[node],
	    .input = &port[0],
	    .output = &port[1]};
}

struct problem *
problem_two_nodes(struct arena *a)
{
	struct problem *p = arena_new(a, struct problem, 1);

	*p = (struct problem){.nnodes = 2,
	    .nvalues = 3,
	    .ncandidates = 4,
	    .ntargets = 2,
	    .nformats = 2,
	    .nclasses = 1,
	    .node = arena_new(a, struct problem_node, 2),
	    .value = arena_new(a, struct problem_value, 3),
	    .candidate = arena_new(a, struct problem_candidate, 4),
	    .target = arena_new(a, struct problem_target, 2),
	    .conversion = arena_new(a, cost_ns, 4)};
	p->conversion[1] = p->conversion[2] = 3;
	for (uint32_t n = 0; n < 2; n++)
		p->node[n] =
		    (struct problem_node){1, 1, &ids[n], &ids[n + 1], NULL};
	p->value[VALUE_X] =
	    (struct problem_value){.producer = NO_NODE, .initial = PLAIN};
	p->value[VALUE_Y] = (struct problem_value){.producer = 0};
	p->value[VALUE_Z] =
	    (struct problem_value){.producer = 1, .required = PLAIN};
	for (uint32_t t = 0; t < 2; t++)
		p->target[t] = (struct problem_target){.name = t ? "b" : "a",
		    .launch = t == TARGET_B ? 5 : 0,
		    .max_runs = NO_LIMIT,
		    .max_run_nodes = NO_LIMIT,
		    .capacity = UINT64_MAX};
	for (uint32_t k = 0; k < 4; k++)
		p->candidate[k] = step_by(k / 2, k % 2, k, a);
	return p;
}

bool
order_replay(struct stepper *s, struct forward_state *x,
    const struct cover *cover, uint32_t n, struct arena *a)
{
	struct forward_state before = forward_state_new(s->p, a);

	if (!stepper_start(s, x))
		return false;
	for (uint32_t i = 0; i < n; i++) {
		const struct cover_step *step = &cover->step[i];
		const struct problem_candidate *c =
		    &s->p->candidate[step->candidate];
		bool extend = i > 0 && step->run == step[-1].run
		    && s->p->tracked[c->target];

		forward_state_copy(&before, x);
		if (!candidate_is_ready(s->p, &before, c)
		    || (extend && !run_can_take(s->p, &before, c))
		    || !stepper_take(s, x, &before, c, extend))
			return false;
	}
	return true;
}
