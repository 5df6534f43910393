/* Which operators are inferred, run and matched: docs/coverage.md says so, and
 * is what the tables say. With the argument `update` it is written anew. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "ir/infer/rule.h"
#include "targets/host/host.h"
#include "targets/target.h"
#include "tests/support/support.h"

extern const struct target_kind target_dnnl, target_xnnpack, target_blas,
    target_native, target_mrvl;
static const struct target_kind *const kinds[] = {
    &target_dnnl, &target_xnnpack, &target_blas, &target_native, &target_mrvl};
#define NKINDS (sizeof kinds / sizeof *kinds)

/* Operators without a type rule or a host kernel, and why. */
static const struct {
	enum op op;
	const char *why;
} lacking[] = {
#define LACKS(op, why) {OP_##op, why},
#include "tests/unit/targets/lacking.def"
#undef LACKS
};
#define NLACKING (sizeof lacking / sizeof *lacking)

static const struct {
	const char *type;
	unsigned since;
} version[] = {
#define VERSION(type, since, a, b, c, d) {type, since},
#include "ir/schema.def"
};

static const struct {
	const char *domain, *type;
} expanded[] = {
#define EXPAND(domain, type, function) {domain, type},
#include "ir/expand/expand.def"
#undef EXPAND
};

static bool
has_kernel(enum op op)
{
	struct node n = {
	    .op = op, .op_type = op_get(op)->type, .domain = "", .name = ""};
	struct graph g = {.node = &n, .nnodes = 1};
	struct err err = {.kind = ERR_NONE};

	return host_takes(&g, &n, &err);
}

static bool
is_in(const struct pattern *p, enum op op)
{
	if ((p->kind == PATTERN_NODE || p->kind == PATTERN_MAYBE)
	    && p->op == op)
		return true;
	for (uint32_t i = 0; i < p->nargs; i++)
		if (is_in(p->arg[i], op))
			return true;
	return false;
}

static bool
is_matched(const struct target_kind *k, enum op op)
{
	for (uint32_t i = 0; i < k->nrules; i++)
		if (is_in(k->rule[i].pattern, op))
			return true;
	return false;
}

static bool
has_idiom(const struct pattern *p, enum idiom kind)
{
	if (p->kind == PATTERN_IDIOM && p->idiom == kind)
		return true;
	for (uint32_t i = 0; i < p->nargs; i++)
		if (has_idiom(p->arg[i], kind))
			return true;
	return false;
}

static bool
is_spelled(const struct target_kind *k, enum idiom kind)
{
	for (uint32_t i = 0; i < k->nrules; i++)
		if (has_idiom(k->rule[i].pattern, kind))
			return true;
	return false;
}

static const char *
why_lacking(enum op op)
{
	for (size_t i = 0; i < NLACKING; i++)
		if (lacking[i].op == op)
			return lacking[i].why;
	return NULL;
}

static void
write_row(FILE *f, enum op op)
{
	const char *type = op_get(op)->type;
	const char *sep = "";

	fprintf(f, "| %s | ", type);
	for (size_t i = 0; i < sizeof version / sizeof *version; i++)
		if (strcmp(version[i].type, type) == 0) {
			fprintf(f, "%s%u", sep, version[i].since);
			sep = ", ";
		}
	fprintf(f, " | %s | %s |", rule_get(op)->type ? "yes" : "-",
	    has_kernel(op) ? "yes" : "-");
	for (size_t k = 0; k < NKINDS; k++)
		fprintf(f, " %s |", is_matched(kinds[k], op) ? "yes" : "-");
	fprintf(f, "\n");
}

static const enum op idiom_op[] = {
#define IDIOM(kind, name, op, opset) OP_##op,
#include "targets/idiom.def"
#undef IDIOM
};

static void
write_idioms(FILE *f)
{
	fprintf(f,
	    "\n## Spelled out by exporters\n\n"
	    "Recognised as one operator (targets/README.md); the host runs it "
	    "where there is one.\n\n"
	    "| idiom | operator | dnnl | xnnpack | blas | native | mrvl |\n"
	    "|---|---|---|---|---|---|---|\n");
	for (uint32_t i = 0; i < NIDIOMS; i++) {
		fprintf(f, "| %s | %s |", idiom_name((enum idiom)i),
		    idiom_op[i] == OP_CUSTOM ? "-" : op_get(idiom_op[i])->type);
		for (size_t k = 0; k < NKINDS; k++)
			fprintf(f, " %s |",
			    is_spelled(kinds[k], (enum idiom)i) ? "yes" : "-");
		fprintf(f, "\n");
	}
}

static void
write_page(FILE *f)
{
	fprintf(f,
	    "# Operators: who takes what\n\n"
	    "Written from the tables by `unit_targets_coverage update`; a test "
	    "compares. Versions are those of the\noperator's inputs and "
	    "outputs. A library's `yes` says that some rule of it has the "
	    "operator in its pattern; its\nconditions decide about each "
	    "node.\n\n"
	    "| operator | versions | inferred | host | dnnl | xnnpack | blas | "
	    "native | mrvl |\n|---|---|---|---|---|---|---|---|---|\n");
	for (enum op op = OP_CUSTOM + 1; op < NOP; op++)
		write_row(f, op);
	write_idioms(f);
	fprintf(f,
	    "\n## Without a type rule or a host kernel\n\n"
	    "| operator | why |\n|---|---|\n");
	for (size_t i = 0; i < NLACKING; i++)
		fprintf(f, "| %s | %s |\n", op_get(lacking[i].op)->type,
		    lacking[i].why);
	fprintf(f,
	    "\n## Written out in the operators above when a model is read\n\n"
	    "| domain | operator |\n|---|---|\n");
	for (size_t i = 0; i < sizeof expanded / sizeof *expanded; i++)
		fprintf(f, "| %s | %s |\n",
		    expanded[i].domain[0] ? expanded[i].domain : "ai.onnx",
		    expanded[i].type);
}

static bool
libraries_are_missing(void)
{
	for (size_t k = 0; k < NKINDS; k++)
		if (kinds[k]->lacks)
			return true;
	return false;
}

static void
nothing_lacks_without_a_reason(void **state)
{
	(void)state;
	for (enum op op = OP_CUSTOM + 1; op < NOP; op++) {
		const bool whole = rule_get(op)->type && has_kernel(op);

		if (whole == (why_lacking(op) == NULL))
			continue;
		fail_msg("%s %s", op_get(op)->type,
		    whole ? "is listed as lacking, but is not"
		          : "has no rule or no kernel, and no reason");
	}
}

static void
the_page_is_what_the_tables_say(void **state)
{
	FILE *f = fopen(source_path("docs/coverage.md"), "r");
	char *made = NULL, *text;
	size_t nmade = 0, n;
	FILE *to = open_memstream(&made, &nmade);

	(void)state;
	if (libraries_are_missing()) {
		fclose(to);
		free(made);
		if (f)
			fclose(f);
		skip();
	}
	assert_non_null(f);
	assert_non_null(to);
	write_page(to);
	fclose(to);
	text = calloc(1, nmade + 2);
	n = fread(text, 1, nmade + 1, f);
	fclose(f);
	if (n != nmade || memcmp(text, made, n) != 0)
		fail_msg("docs/coverage.md is old: run "
		         "unit_targets_coverage update");
	free(text);
	free(made);
}

/* People read them in `marq targets show` and in reasons. */
static void
patterns_are_told_in_a_few_lines(void **state)
{
	struct arena a;

	(void)state;
	arena_init(&a);
	for (size_t k = 0; k < NKINDS; k++)
		for (uint32_t i = 0; i < kinds[k]->nrules; i++)
			assert_true(
			    strlen(pattern_print(kinds[k]->rule[i].pattern, &a))
			    < 4096);
	arena_release(&a);
}

int
main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(nothing_lacks_without_a_reason),
	    cmocka_unit_test(patterns_are_told_in_a_few_lines),
	    cmocka_unit_test(the_page_is_what_the_tables_say),
	};

	if (argc > 1 && strcmp(argv[1], "update") == 0) {
		FILE *f = fopen(source_path("docs/coverage.md"), "w");

		if (!f)
			return 1;
		write_page(f);
		return fclose(f) == 0 ? 0 : 1;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
