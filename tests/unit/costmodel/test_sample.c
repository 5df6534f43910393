/* How kernels are timed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "costmodel/sample.h"

/* As long as denormals are off they are zeros, where they come from and where
 * they would come out. */
static void
denormals_are_zeros(void **state)
{
	volatile float least = 0x1p-126f, denormal = 0x1p-127f, two = 2.0f;
	volatile float made, read, back;
	uint32_t mode;

	(void)state;
	mode = sample_denormals_off();
	made = least / two;
	read = denormal * two;
	sample_denormals_back(mode);
	back = least / two;
	assert_true(made == 0);
	assert_true(read == 0);
	assert_true(back == denormal);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(denormals_are_zeros),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
