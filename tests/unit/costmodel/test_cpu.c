/* Facts of processors: cores that have only numbers are told apart by them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/cpu.h"
#include "db/facts.h"
#include "db/origin.h"

/* As the kernel prints a core of Arm's. */
#define ARM(number, features, part, variant, revision) \
	"processor\t: " number "\nBogoMIPS\t: 50.00\nFeatures\t: " features \
	"\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: " variant \
	"\nCPU part\t: " part "\nCPU revision\t: " revision "\n\n"
#define OLD "fp asimd evtstrm aes crc32 cpuid"
#define NEW OLD " asimdhp asimddp sve i8mm bf16 sve2"
#define A53(n) ARM(n, OLD, "0xd03", "0x0", "4")
#define A72(n) ARM(n, OLD, "0xd08", "0x0", "3")
#define DOT OLD " fphp asimdhp asimdrdm lrcpc dcpop asimddp"
#define A76(n) ARM(n, DOT, "0xd0b", "0x4", "1")
#define N1(n) ARM(n, NEW, "0xd0c", "0x3", "1")
#define N2(n) ARM(n, NEW " svei8mm svebf16", "0xd49", "0x0", "0")

static const char *
facts(const char *text, uint32_t first, uint32_t n, struct arena *a)
{
	uint32_t core[4];
	struct buf b;
	const char *canonical;
	char *copy = arena_str(a, text);
	FILE *f = fmemopen(copy, strlen(copy), "r");

	for (uint32_t i = 0; i < n; i++)
		core[i] = first + i;
	buf_init(&b);
	cpu_facts_read(&b, f, core, n);
	fclose(f);
	canonical = facts_canonical(b.data, a);
	buf_release(&b);
	return canonical;
}

static void
arm_cores_are_told_apart(void **state)
{
	struct arena a;
	const char *a72, *n1;

	(void)state;
	arena_init(&a);
	a72 = facts(A72("0") A72("1"), 0, 2, &a);
	n1 = facts(N1("0") N1("1"), 0, 2, &a);
	assert_string_equal(a72, "cpu.core=0x41/0xd08/0x0/3\nisa=asimd\n");
	assert_string_equal(n1,
	    "cpu.core=0x41/0xd0c/0x3/1\n"
	    "isa=asimd,asimdhp,asimddp,i8mm,bf16,sve,sve2\n");
	assert_int_equal(facts_compare(a72, n1, &a).relation, FACTS_OTHER);
	/* A new revision of a core may have another price, too. */
	assert_int_equal(
	    facts_compare(
	        a72, facts(ARM("0", OLD, "0xd08", "0x0", "2"), 0, 1, &a), &a)
	        .relation,
	    FACTS_OTHER);
	arena_release(&a);
}

/* No two of them have one name, nor are they compatible. */
static void
cores_are_machines_of_their_own(void **state)
{
	struct arena a;
	const char *core[4];
	static const char *const words[] = {"Cortex-A72 r0p3",
	    "Cortex-A76 r4p1", "Neoverse-N1 r3p1", "Neoverse-N2 r0p0"};

	(void)state;
	arena_init(&a);
	core[0] = facts(A72("0"), 0, 1, &a);
	core[1] = facts(A76("0"), 0, 1, &a);
	core[2] = facts(N1("0"), 0, 1, &a);
	core[3] = facts(N2("0"), 0, 1, &a);
	for (int i = 0; i < 4; i++) {
		assert_string_equal(origin_words(core[i], &a), words[i]);
		assert_int_equal(
		    strlen(origin_name(core[i], &a)), ORIGIN_CHARS);
		for (int k = 0; k < i; k++) {
			assert_string_not_equal(
			    origin_name(core[i], &a), origin_name(core[k], &a));
			assert_int_equal(
			    facts_compare(core[i], core[k], &a).relation,
			    FACTS_OTHER);
		}
	}
	assert_string_equal(
	    origin_words("cpu.core=0x41/0xd08/0x0/3,0x48/0xd01/0x1/0\n", &a),
	    "Cortex-A72 r0p3 + 0x48/0xd01/0x1/0");
	assert_string_equal(origin_words("cpu.core=0x41/0xd08/0x0/3\n"
	                                 "cpu.vendor_id=GenuineIntel\n",
	                        &a),
	    "Cortex-A72 r0p3, emulated");
	arena_release(&a);
}

static void
only_cores_in_use_count(void **state)
{
	static const char both[] = A53("0") A53("1") A72("2") A72("3");
	struct arena a;

	(void)state;
	arena_init(&a);
	assert_string_equal(facts_get(facts(both, 0, 2, &a), "cpu.core", &a),
	    "0x41/0xd03/0x0/4");
	assert_string_equal(facts_get(facts(both, 2, 2, &a), "cpu.core", &a),
	    "0x41/0xd08/0x0/3");
	assert_string_equal(facts_get(facts(both, 0, 4, &a), "cpu.core", &a),
	    "0x41/0xd03/0x0/4,0x41/0xd08/0x0/3");
	assert_int_equal(cpu_core_types(facts(both, 0, 4, &a), &a), 2);
	assert_int_equal(cpu_core_types(facts(both, 2, 2, &a), &a), 1);
	assert_int_equal(cpu_core_types("isa=avx2\n", &a), 0);
	arena_release(&a);
}

static void
other_processors_have_names(void **state)
{
	static const char intel[] =
	    "processor\t: 0\nvendor_id\t: GenuineIntel\ncpu family\t: 6\n"
	    "model\t\t: 85\nmodel name\t: Some CPU\nstepping\t: 7\n"
	    "flags\t\t: fpu sse4_2 avx2 fma\n\n";
	struct arena a;
	const char *now, *before;
	FILE *f;

	(void)state;
	arena_init(&a);
	now = facts(intel, 0, 1, &a);
	assert_string_equal(now,
	    "cpu.cpu family=6\ncpu.model=85\n"
	    "cpu.stepping=7\ncpu.vendor_id=GenuineIntel\nisa=sse4_2,avx2,fma\n");
	assert_string_equal(origin_words(now, &a), "GenuineIntel 6/85/7");
	/* What it is sold as is no fact; programs before this one thought so. */
	before = facts_canonical(
	    arena_printf(&a, "%scpu.model name=Some CPU\n", now), &a);
	assert_int_equal(facts_compare(before, now, &a).relation, FACTS_SAME);
	assert_string_equal(origin_name(before, &a), origin_name(now, &a));
	f = fmemopen(arena_str(&a, intel), sizeof intel - 1, "r");
	assert_string_equal(cpu_sold_as(f, &a), "Some CPU");
	fclose(f);
	arena_release(&a);
}

static void
put(const char *folder, int index, const char *name, const char *text)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s/index%d", folder, index);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static void
caches_are_those_of_sysfs(void **state)
{
	static const char *const level[] = {"1", "1", "2", "3"};
	static const char *const type[] = {
	    "Data", "Instruction", "Unified", "Unified"};
	static const char *const size[] = {"64K", "32K", "1024K", "32M"};
	char folder[] = "cpu-caches-XXXXXX", command[64];
	uint64_t bytes[CACHE_LEVELS];

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (int i = 0; i < 4; i++) {
		put(folder, i, "level", level[i]);
		put(folder, i, "type", type[i]);
		put(folder, i, "size", size[i]);
	}
	cpu_caches(bytes, folder);
	assert_int_equal(bytes[0], 64 << 10);
	assert_int_equal(bytes[1], 1 << 20);
	assert_int_equal(bytes[2], 32 << 20);
	cpu_caches(bytes, "no-such-folder");
	assert_int_equal(bytes[0], 0);
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

static void
put_kind(const char *folder, const char *kind, const char *list)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof path, "%s/cpu_%s", folder, kind);
	mkdir(path, 0700);
	snprintf(path, sizeof path, "%s/cpu_%s/cpus", folder, kind);
	f = fopen(path, "w");
	assert_non_null(f);
	fprintf(f, "%s\n", list);
	fclose(f);
}

/* Family and model of a hybrid's cores are the same. */
static void
hybrid_cores_are_told_apart(void **state)
{
	static const struct {
		uint32_t core[2];
		const char *facts;
	} cases[] = {
	    {{0, 3}, "cpu.kind=core\n"},
	    {{5, 5}, "cpu.kind=core\n"},
	    {{8, 9}, "cpu.kind=atom\n"},
	    {{10, 10}, "cpu.kind=lowpower\n"},
	    {{3, 9}, "cpu.kind=core,atom\n"},
	    {{4, 77}, ""},
	};
	static const char model[] =
	    "cpu.cpu family=6\ncpu.model=151\n"
	    "cpu.stepping=2\ncpu.vendor_id=GenuineIntel\n";
	char folder[] = "cpu-kinds-XXXXXX", command[64];
	struct arena a;
	struct buf b;

	(void)state;
	arena_init(&a);
	assert_non_null(mkdtemp(folder));
	put_kind(folder, "core", "0-3,5");
	put_kind(folder, "atom", "6-9");
	put_kind(folder, "lowpower", "10");
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		buf_init(&b);
		cpu_kinds(&b, folder, cases[i].core, 2);
		assert_string_equal(b.n ? b.data : "", cases[i].facts);
		buf_release(&b);
	}
	buf_init(&b);
	cpu_kinds(&b, "no-such-folder", cases[0].core, 2);
	assert_int_equal(b.n, 0);
	assert_int_equal(cpu_core_types("cpu.kind=core,atom\n", &a), 2);
	assert_int_equal(cpu_core_types("cpu.kind=atom\n", &a), 1);
	assert_string_equal(
	    origin_words(arena_printf(&a, "%scpu.kind=atom\n", model), &a),
	    "GenuineIntel 6/151/2 atom");
	assert_string_equal(origin_words(model, &a), "GenuineIntel 6/151/2");
	assert_int_equal(
	    facts_compare(arena_printf(&a, "%scpu.kind=atom\n", model),
	        arena_printf(&a, "%scpu.kind=core\n", model), &a)
	        .relation,
	    FACTS_OTHER);
	snprintf(command, sizeof command, "rm -r %s", folder);
	assert_int_equal(system(command), 0);
	arena_release(&a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arm_cores_are_told_apart),
	    cmocka_unit_test(cores_are_machines_of_their_own),
	    cmocka_unit_test(only_cores_in_use_count),
	    cmocka_unit_test(other_processors_have_names),
	    cmocka_unit_test(caches_are_those_of_sysfs),
	    cmocka_unit_test(hybrid_cores_are_told_apart),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
