/* What files a model is read from, and whether that says enough to remember by. */
#include <math.h>
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

/* ---- magnitudes ---- */

#define FLOATS 8192

/* Two constants in the file one after the other, one elsewhere, one too small. */
static struct graph *
constants(struct arena *a, const float *file)
{
	static const int64_t dim[] = {FLOATS}, few[] = {8};
	static float elsewhere[FLOATS];
	struct graph *g = arena_new(a, struct graph, 1);
	struct tensor *t = arena_new(a, struct tensor, 4);

	t[0] = tensor_view(DT_FLOAT, 1, dim, file);
	t[1] = tensor_view(DT_FLOAT, 1, dim, file + FLOATS);
	t[2] = tensor_view(DT_FLOAT, 1, dim, elsewhere);
	t[3] = tensor_view(DT_FLOAT, 1, few, file);
	g->nvalues = 5;
	g->value = arena_new(a, struct value, 5);
	for (int i = 0; i < 4; i++)
		g->value[i].constant = &t[i];
	return g;
}

static bool
was_not_asked(const struct value *v)
{
	const struct magnitude *m = &v->magnitude;

	return m->most == 0 && m->rows == 0 && m->columns == 0;
}

static void
magnitudes_come_back(void **state)
{
	static const struct magnitude size[] = {{.most = .5f, .rows = 12.25f},
	    {.most = INFINITY, .columns = INFINITY}};
	/* Places that are not there, and numbers that are none. */
	static const char *const odd[] = {"", " ", "=", "1.0.32768.1",
	    "1.0.32768.1=", "1.0.32768.1=3f800000.3f800000",
	    "1.0.32768.1=3f800000.3f800000.7fc00000",
	    "1.0.32768.1=bf800000.3f800000.3f800000",
	    "s1.0.32768.1 1.0.32768=3f800000.3f800000.3f800000"};
	static float file[2 * FLOATS];
	struct mapping whole = {
	    NULL, {(const unsigned char *)file, sizeof file, {0}}, NULL};
	struct mapping first = {NULL, {NULL, 0, {0}}, "empty"};
	struct arena a;
	struct model m;
	const char *text;

	(void)state;
	arena_init(&a);
	first.next = &whole;
	m = (struct model){.mappings = &first, .graph = constants(&a, file)};
	assert_string_equal(magnitudes_print(&m, &a), "");
	for (int i = 0; i < 5; i++)
		m.graph->value[i].magnitude = size[i == 1];
	text = magnitudes_print(&m, &a);
	m.graph = constants(&a, file);
	magnitudes_read(&m, text, &a);
	assert_memory_equal(
	    &m.graph->value[0].magnitude, &size[0], sizeof *size);
	assert_memory_equal(
	    &m.graph->value[1].magnitude, &size[1], sizeof *size);
	for (int i = 2; i < 5; i++)
		assert_true(was_not_asked(&m.graph->value[i]));
	for (size_t k = 0; k < sizeof odd / sizeof *odd; k++) {
		m.graph = constants(&a, file);
		magnitudes_read(&m, odd[k], &a);
		for (int i = 0; i < 5; i++)
			assert_true(was_not_asked(&m.graph->value[i]));
	}
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(magnitudes_come_back),
	    cmocka_unit_test(each_fact_of_each_file_counts),
	    cmocka_unit_test(what_does_not_tell),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
