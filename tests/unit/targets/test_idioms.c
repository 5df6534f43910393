/* Every idiom as exporters spell it: it is found, with all nodes, the operator
 * that stands for it computes what the nodes do, and what is a little different
 * is not found. */
#include "tests/support/kind.h"
#include "tests/support/spell.h"

extern const struct target_kind target_host;
const struct target_kind *const tested = &target_host;

static const struct spelled {
	const char *what;
	uint32_t opset;
	enum idiom kind;
	const char *text;
	bool is_it;
} spelled[] = {
#undef SPELLED /* the pattern */
#define SPELLED(exporter, opset, kind, text) \
	{exporter, opset, IDIOM_##kind, text, true},
#define UNLIKE(what, opset, kind, text) \
	{what, opset, IDIOM_##kind, text, false},
#include "tests/unit/targets/idioms.def"
};
#define NSPELLED (sizeof spelled / sizeof *spelled)

static void
make(const struct spelled *s)
{
	make_begin(&m, &arena);
	m.opset = s->opset;
	make_output(&m, spell(&m, s->text));
}

/* The idiom of that kind that is all of the graph. */
static const struct idiom_match *
whole(enum idiom kind)
{
	const struct idioms *all = found.idioms;

	for (uint32_t i = 0; i < all->n; i++)
		if (all->match[i].kind == kind
		    && all->match[i].nnodes == m.graph->nnodes)
			return &all->match[i];
	return NULL;
}

static bool
any(enum idiom kind)
{
	for (uint32_t i = 0; i < found.idioms->n; i++)
		if (found.idioms->match[i].kind == kind)
			return true;
	return false;
}

static void
test_found_and_computed(void **state)
{
	uint32_t nrun = 0;

	(void)state;
	for (size_t i = 0; i < NSPELLED; i++) {
		const struct spelled *s = &spelled[i];
		const struct idiom_match *it;

		if (!s->is_it)
			continue;
		make(s);
		find("host");
		it = whole(s->kind);
		if (!it)
			fail_msg("%s of %s is not found: %s",
			    idiom_name(s->kind), s->what, s->text);
		if (it->as) {
			make(s);
			check_all("host.idiom", m.graph->nnodes);
			nrun++;
		}
	}
	assert_true(nrun >= 50);
}

static void
test_unlike(void **state)
{
	(void)state;
	for (size_t i = 0; i < NSPELLED; i++) {
		const struct spelled *s = &spelled[i];

		if (s->is_it)
			continue;
		make(s);
		find("host");
		if (any(s->kind))
			fail_msg("%s, %s: found in %s", idiom_name(s->kind),
			    s->what, s->text);
	}
}

/* Three spellings each at least, but for what only one exporter spells out. */
static void
test_spellings(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < NIDIOMS; k++) {
		uint32_t n = 0;

		for (size_t i = 0; i < NSPELLED; i++)
			n += spelled[i].is_it && spelled[i].kind == k;
		if (n < (k == IDIOM_SOFTPLUS ? 1 : 3))
			fail_msg("%s: %u spellings", idiom_name((enum idiom)k),
			    (unsigned)n);
	}
}

static void
test_names(void **state)
{
	(void)state;
	for (uint32_t k = 0; k < NIDIOMS; k++) {
		const char *name = idiom_name((enum idiom)k);

		assert_int_equal(idiom_named(name, strlen(name)), k);
	}
	assert_int_equal(idiom_named("geluu", 5), NIDIOMS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(
	        test_found_and_computed, setup, teardown),
	    cmocka_unit_test_setup_teardown(test_unlike, setup, teardown),
	    cmocka_unit_test(test_spellings),
	    cmocka_unit_test(test_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
