/* Invariants that take longer to check than to keep: in debug builds only. */
#ifndef IR_BASE_VERIFY_H
#define IR_BASE_VERIFY_H

#ifdef MARQ_VERIFY
#define VERIFY(call) \
	do { \
		call; \
	} while (0)
#else
#define VERIFY(call) \
	do { \
		if (0) \
			call; \
	} while (0)
#endif

#endif
