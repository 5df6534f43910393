/* Of cores of several types those of one measure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "costmodel/core_type.h"

#define ARM(number, part) \
	"processor\t: " number "\nFeatures\t: asimd\n" \
	"CPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: " part \
	"\nCPU revision\t: 4\n\n"
#define LITTLE "0xd03"
#define BIG "0xd08"
#define PRIME "0xd44"

static char folder[] = "core-types-XXXXXX";

static void
put(const char *name, const char *text)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof path, "%s/%s", folder, name);
	for (char *at = strchr(path + strlen(folder) + 1, '/'); at;
	     at = strchr(at + 1, '/')) {
		*at = '\0';
		mkdir(path, 0700);
		*at = '/';
	}
	f = fopen(path, "w");
	assert_non_null(f);
	fputs(text, f);
	fclose(f);
}

static int
make_folder(void **state)
{
	(void)state;
	memcpy(folder, "core-types-XXXXXX", sizeof folder);
	return mkdtemp(folder) ? 0 : -1;
}

static int
remove_folder(void **state)
{
	char command[64];

	(void)state;
	snprintf(command, sizeof command, "rm -r %s", folder);
	return system(command);
}

static void
expect(char *cpuinfo, uint32_t threads, const char *want)
{
	uint32_t core[6] = {0, 1, 2, 3, 4, 5};
	FILE *f = fmemopen(cpuinfo, strlen(cpuinfo), "r");
	uint32_t n = cores_of_one_type(core, 6, threads, f, folder);
	char is[32] = "";

	fclose(f);
	for (uint32_t i = 0; i < n; i++)
		snprintf(is + strlen(is), sizeof is - strlen(is), "%u",
		    (unsigned)core[i]);
	assert_string_equal(is, want);
}

static char three_types[] = ARM("0", PRIME) ARM("1", LITTLE) ARM("2", LITTLE)
    ARM("3", LITTLE) ARM("4", BIG) ARM("5", BIG);

/* The fastest, of which there are enough; without a type that has, all. */
static void
fastest_that_suffices(void **state)
{
	static const char *const capacity[] = {
	    "1024", "300", "300", "300", "800", "800"};
	char name[64];

	(void)state;
	for (int i = 0; i < 6; i++) {
		snprintf(name, sizeof name, "system/cpu/cpu%d/cpu_capacity", i);
		put(name, capacity[i]);
	}
	expect(three_types, 0, "0");
	expect(three_types, 1, "0");
	expect(three_types, 2, "45");
	expect(three_types, 3, "123");
	expect(three_types, 4, "012345");
}

/* Where the kernel says no capacity, by frequency; nor that, the last. */
static void
frequency_or_the_last(void **state)
{
	(void)state;
	expect(three_types, 1, "45");
	expect(three_types, 3, "123");
	put("system/cpu/cpu2/cpufreq/cpuinfo_max_freq", "2000000\n");
	expect(three_types, 1, "123");
	put("system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "no number\n");
	expect(three_types, 1, "123");
}

static void
one_type_is_all(void **state)
{
	char same[] = ARM("0", BIG) ARM("1", BIG) ARM("2", BIG) ARM("3", BIG)
	    ARM("4", BIG) ARM("5", BIG);
	char unknown[] = "processor\t: 0\nflags\t: avx2\n";

	(void)state;
	expect(same, 1, "012345");
	expect(unknown, 1, "012345");
}

static void
kinds_of_a_hybrid(void **state)
{
	char intel[] = "processor\t: 0\nvendor_id\t: GenuineIntel\n";

	(void)state;
	put("cpu_core/cpus", "0-1\n");
	put("cpu_atom/cpus", "2-5\n");
	put("system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "5000000\n");
	put("system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "5000000\n");
	put("system/cpu/cpu5/cpufreq/cpuinfo_max_freq", "3900000\n");
	expect(intel, 1, "01");
	expect(intel, 3, "2345");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) \
	cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)
	    TEST(fastest_that_suffices),
	    TEST(frequency_or_the_last),
	    TEST(one_type_is_all),
	    TEST(kinds_of_a_hybrid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
