/* What files a model is read from, and whether that says enough to remember by. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "costmodel/model_memory.h"
#include "ir/external.h"

#define SECOND INT64_C(1000000000)
#define THEN (1700000000 * SECOND + 123456789)

static struct mapping beside = {
    NULL, {NULL, 70, {1, 3, 70, THEN, THEN}}, "weights"};
static struct mapping own = {&beside, {NULL, 50, {1, 2, 50, THEN, THEN}}, NULL};
static const struct model model = {.mappings = &own};

static bool
identity(struct hash128 *h, int64_t later_s)
{
	return model_identity(&model, THEN + later_s * SECOND, h);
}

static void
each_fact_of_each_file_counts(void **state)
{
	struct file_id *const id[] = {&own.file.id, &beside.file.id};
	struct hash128 first, other;

	(void)state;
	assert_true(identity(&first, 3600));
	for (int i = 0; i < 2; i++) {
		uint64_t *const fact[] = {
		    &id[i]->device, &id[i]->inode, &id[i]->bytes};
		int64_t *const time[] = {
		    &id[i]->changed_ns, &id[i]->modified_ns};

		for (int k = 0; k < 3; k++) {
			++*fact[k];
			assert_true(identity(&other, 3600));
			assert_memory_not_equal(&first, &other, sizeof first);
			--*fact[k];
		}
		for (int k = 0; k < 2; k++) {
			++*time[k];
			assert_true(identity(&other, 3600));
			assert_memory_not_equal(&first, &other, sizeof first);
			--*time[k];
		}
	}
	assert_true(identity(&other, 7200));
	assert_memory_equal(&first, &other, sizeof first);
	beside.location = "others";
	assert_true(identity(&other, 3600));
	assert_memory_not_equal(&first, &other, sizeof first);
	beside.location = "weights";
}

/* One that was just written could be written again at the same time by its clock;
 * whole seconds, and no time at all, tell nothing; nor does a clock that was set
 * back. */
static void
what_does_not_tell(void **state)
{
	struct file_id *id = &beside.file.id;
	static const struct model bare;
	struct hash128 h;

	(void)state;
	assert_false(identity(&h, 59));
	assert_false(identity(&h, -3600));
	id->changed_ns = THEN / SECOND * SECOND;
	assert_false(identity(&h, 3600));
	id->changed_ns = 0;
	assert_false(identity(&h, 3600));
	id->changed_ns = THEN;
	assert_true(identity(&h, 3600));
	assert_false(model_identity(&bare, THEN + 3600 * SECOND, &h));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_fact_of_each_file_counts),
	    cmocka_unit_test(what_does_not_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
