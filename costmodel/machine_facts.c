#include "costmodel/machine_facts.h"

#include "costmodel/core_type.h"
#include "costmodel/cpu.h"
#include "costmodel/job.h"
#include "ir/base/sanitized.h"

/* Our own kernels are as fast as they were compiled. */
static const char *
build_text(void)
{
	if (SANITIZED)
		return "sanitized";
#ifdef __OPTIMIZE__
	return "optimised";
#else
	return "unoptimised";
#endif
}

void
measure_environment(struct buf *b, uint32_t threads)
{
	uint32_t core[CORES_MAX], n = measuring_cores(core, threads);

	cpu_facts(b, core, n);
	if (threads > 1)
		buf_str(b, "waiting=spin100us\n");
	buf_printf(b, "threads=%u\nprotocol=%u\nbuild=%s\n", (unsigned)threads,
	    (unsigned)MEASURE_PROTOCOL, build_text());
}
