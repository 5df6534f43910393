/* Defaults for a test's stand-in for a pricer: nothing is on record, measured, near or
 * priced twice, there is no deadline, all has a price. For one file of a program, which
 * defines `struct pricer` and, before it includes this, STANDIN_... for the functions
 * below that it writes itself. */
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

bool
pricer_price_again(struct pricer *p, const uint32_t *candidate, uint32_t n,
    bool *moved, struct err *err)
{
	(void)p, (void)candidate, (void)n, (void)err;
	*moved = false;
	return true;
}

#ifndef STANDIN_READMIT
uint32_t
pricer_readmit(struct pricer *p, bool readmitted)
{
	(void)p, (void)readmitted;
	return 0;
}
#endif

#ifndef STANDIN_WORK
cost_ns
pricer_work(const struct pricer *p, uint32_t target, node_id node)
{
	(void)p, (void)target, (void)node;
	return 0;
}
#endif

#ifndef STANDIN_PRICE
bool
pricer_price(
    struct pricer *p, const uint32_t *candidate, uint32_t n, struct err *err)
{
	(void)p, (void)candidate, (void)n, (void)err;
	return true;
}
#endif

#ifndef STANDIN_CONVERSIONS
bool
pricer_price_conversions(struct pricer *p, const struct pricer_conversion *c,
    uint32_t n, struct err *err)
{
	(void)p, (void)c, (void)n, (void)err;
	return true;
}
#endif

#ifndef STANDIN_PROBE
bool
pricer_may_measure(const struct pricer *p)
{
	(void)p;
	return false;
}

bool
pricer_probe(struct pricer *p, const uint32_t *candidate, uint32_t n,
    uint32_t nprobes, bool *any, struct err *err)
{
	(void)p, (void)candidate, (void)n, (void)nprobes, (void)err;
	*any = false;
	return true;
}
#endif

#ifndef STANDIN_COMPARE
bool
pricer_compare(
    struct pricer *p, struct pricer_pair *pair, uint32_t n, struct err *err)
{
	(void)p, (void)pair, (void)n, (void)err;
	return true;
}

bool
pricer_fit(struct pricer *p)
{
	(void)p;
	return false;
}

void
pricer_unfit(struct pricer *p)
{
	(void)p;
}
#endif

#endif
