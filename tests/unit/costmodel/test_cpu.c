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

/* As the kernel prints a core of Arm's. */
#define ARM(number, features, part, variant, revision) \
	"processor\t: " number "\nBogoMIPS\t: 50.00\nFeatures\t: " features \
	"\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: " variant \
	"\nCPU part\t: " part "\nCPU revision\t: " revision "\n\n"
#define OLD "fp asimd evtstrm aes crc32 cpuid"
#define NEW OLD " asimdhp asimddp sve i8mm bf16 sve2"
#define A53(n) ARM(n, OLD, "0xd03", "0x0", "4")
#define A72(n) ARM(n, OLD, "0xd08", "0x0", "3")
#define N1(n) ARM(n, NEW, "0xd0c", "0x3", "1")

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

	(void)state;
	arena_init(&a);
	assert_string_equal(facts(intel, 0, 1, &a),
	    "cpu.cpu family=6\ncpu.model=85\ncpu.model name=Some CPU\n"
	    "cpu.stepping=7\ncpu.vendor_id=GenuineIntel\nisa=sse4_2,avx2,fma\n");
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

int
main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(arm_cores_are_told_apart),
	    cmocka_unit_test(only_cores_in_use_count),
	    cmocka_unit_test(other_processors_have_names),
	    cmocka_unit_test(caches_are_those_of_sysfs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
