/* What the stand-ins for a pricer in tests have no part in: nothing is on record,
 * there is no deadline, no run before this one, and nobody is a tool. For one file
 * of a program, which defines `struct pricer` and the rest. */
#ifndef TESTS_SUPPORT_STANDIN_PRICER_H
#define TESTS_SUPPORT_STANDIN_PRICER_H

#include "costmodel/pricer.h"

uint32_t
pricer_asked(const struct pricer *p)
{
	(void)p;
	return 0;
}

void
pricer_set_deadline(struct pricer *p, uint64_t deadline_ns)
{
	(void)p, (void)deadline_ns;
}

bool
pricer_restart(struct pricer *p, bool *done, struct err *err)
{
	(void)p, (void)err;
	*done = false;
	return true;
}

bool
pricer_price_region(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err)
{
	(void)p, (void)candidate, (void)n, (void)err;
	return true;
}

/* A test of what work bounds defines its own. */
#ifndef STANDIN_WORK
cost_ns
pricer_work(const struct pricer *p, uint32_t target, node_id node)
{
	(void)p, (void)target, (void)node;
	return 0;
}
#endif

#endif
