/* The interface of plug-ins, version 1.1, as compiled ones know it: no size and no
 * offset of it ever changes. What comes later is behind it. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "targets/plugin/marq_plugin.h"

#define AT(type, field, offset) \
	_Static_assert(offsetof(struct type, field) == (offset), #field)
#define FIRST_SIZE(type, n) \
	_Static_assert(sizeof(struct type) >= (n), #type); \
	AT(type, size, 0)

#if UINTPTR_MAX == UINT64_MAX
FIRST_SIZE(marq_error, 16);
AT(marq_error, capacity, 4);
AT(marq_error, text, 8);

FIRST_SIZE(marq_layer, 48);
AT(marq_layer, nnodes, 4);
AT(marq_layer, node, 8);
AT(marq_layer, name, 16);
AT(marq_layer, type, 24);
AT(marq_layer, implementation, 32);
AT(marq_layer, ns, 40);

FIRST_SIZE(marq_sink, 48);
AT(marq_sink, context, 8);
AT(marq_sink, fact, 16);
AT(marq_sink, layer, 24);
AT(marq_sink, file, 32);
AT(marq_sink, note, 40);

FIRST_SIZE(marq_port, 40);
AT(marq_port, type, 4);
AT(marq_port, rank, 8);
AT(marq_port, dim, 16);
AT(marq_port, bytes, 24);
AT(marq_port, name, 32);

FIRST_SIZE(marq_region, 56);
AT(marq_region, nnodes, 4);
AT(marq_region, name, 8);
AT(marq_region, model, 16);
AT(marq_region, model_bytes, 24);
AT(marq_region, ninputs, 32);
AT(marq_region, noutputs, 36);
AT(marq_region, input, 40);
AT(marq_region, output, 48);

FIRST_SIZE(marq_settings, 24);
AT(marq_settings, threads, 4);
AT(marq_settings, purpose, 8);
AT(marq_settings, deadline_ns, 16);
AT(marq_settings, alone, 24); /* since 1.1 */

FIRST_SIZE(marq_option, 24);
AT(marq_option, name, 8);
AT(marq_option, value, 16);

FIRST_SIZE(marq_plugin, 80);
AT(marq_plugin, minor, 4);
AT(marq_plugin, about, 8);
AT(marq_plugin, open, 16);
AT(marq_plugin, close, 24);
AT(marq_plugin, environment, 32);
AT(marq_plugin, compile, 40);
AT(marq_plugin, release, 48);
AT(marq_plugin, execute, 56);
AT(marq_plugin, layers, 64);
AT(marq_plugin, emit, 72);
#endif

static void
test_codes(void **state)
{
	(void)state;
	assert_int_equal(MARQ_PLUGIN_MAJOR, 1);
	assert_string_equal(MARQ_PLUGIN_SYMBOL, "marq_plugin_1");
	assert_int_equal(MARQ_OK, 0);
	assert_int_equal(MARQ_REFUSED, 1);
	assert_int_equal(MARQ_UNAVAILABLE, 2);
	assert_int_equal(MARQ_BAD_DATA, 3);
	assert_int_equal(MARQ_NO_MEMORY, 4);
	assert_int_equal(MARQ_FAILED, 5);
	assert_int_equal(MARQ_TO_PRICE, 0);
	assert_int_equal(MARQ_TO_RUN, 1);
	assert_int_equal(MARQ_TO_MAP, 2);
}

/* A table as an older version made it: what is behind its end is not there. */
static void
test_fields_behind_the_end_are_absent(void **state)
{
	struct marq_plugin p = {.size = offsetof(struct marq_plugin, layers)};

	(void)state;
	p.layers = (marq_status(*)(struct marq_program *,
	    const struct marq_sink *, struct marq_error *))(uintptr_t)1;
	assert_false(MARQ_HAS(struct marq_plugin, &p, layers));
	p.size = sizeof p;
	assert_true(MARQ_HAS(struct marq_plugin, &p, layers));
	assert_false(MARQ_HAS(struct marq_plugin, &p, emit));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_codes),
	    cmocka_unit_test(test_fields_behind_the_end_are_absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
