#include "costmodel/cpu.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>
#ifdef __aarch64__
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

#include "db/facts.h"

/* ---- /proc/cpuinfo ---- */

/* The value behind "name<tabs>: " in a line of /proc/cpuinfo, or NULL. */
static const char *
field(const char *line, const char *name)
{
	size_t n = strlen(name);

	if (strncmp(line, name, n) != 0)
		return NULL;
	while (isspace((unsigned char)line[n]))
		n++;
	return line[n] == ':' && line[n + 1] == ' ' ? line + n + 2 : NULL;
}

/* Instruction sets that decide which kernels a library picks. */
static const char *const isa[] = {"sse4_2", "avx2", "fma", "f16c", "avx512f",
    "avx512bw", "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile",
    "amx_bf16", "asimd", "asimdhp", "asimddp", "i8mm", "bf16", "sve", "sve2",
    "svei8mm", "svebf16", "sme", "sme2", NULL};

static bool
has_word(const char *text, const char *word)
{
	size_t n = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ')
		    && (at[n] == ' ' || at[n] == '\0'))
			return true;
	return false;
}

static void
add_isa(struct buf *b, const char *flags)
{
	const char *comma = "";

	buf_str(b, "isa=");
	for (uint32_t i = 0; isa[i]; i++)
		if (has_word(flags, isa[i])) {
			buf_printf(b, "%s%s", comma, isa[i]);
			comma = ",";
		}
	buf_str(b, "\n");
}

/* An Arm core: SOURCE: Arm's MIDR_EL1, whose fields Linux prints. */
enum midr { IMPLEMENTER, PART, VARIANT, REVISION, NMIDR };
static const char *const midr_name[NMIDR] = {
    "CPU implementer", "CPU part", "CPU variant", "CPU revision"};

#define TYPES_MAX 8
#define TYPE_CHARS 48

struct cpuinfo {
	struct buf *b;
	const uint32_t *core;
	uint32_t ncores;
	bool in_use; /* the processor being read */
	char midr[NMIDR][12]; /* of it */
	char type[TYPES_MAX][TYPE_CHARS];
	uint32_t ntypes;
};

static bool
is_in_use(const struct cpuinfo *c, const char *number)
{
	unsigned long id = strtoul(number, NULL, 10);

	for (uint32_t i = 0; i < c->ncores; i++)
		if (c->core[i] == id)
			return true;
	return false;
}

/* A processor's entry has ended. */
static void
take_type(struct cpuinfo *c)
{
	char text[TYPE_CHARS];
	bool is_new = c->midr[PART][0] != '\0' && c->in_use;

	snprintf(text, sizeof text, "%s/%s/%s/%s", c->midr[IMPLEMENTER],
	    c->midr[PART], c->midr[VARIANT], c->midr[REVISION]);
	for (uint32_t i = 0; i < c->ntypes; i++)
		is_new = is_new && strcmp(c->type[i], text) != 0;
	if (is_new && c->ntypes < TYPES_MAX)
		memcpy(c->type[c->ntypes++], text, sizeof text);
	memset(c->midr, 0, sizeof c->midr);
}

static int
compare_types(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void
add_types(struct cpuinfo *c)
{
	if (c->ntypes == 0)
		return;
	qsort(c->type, c->ntypes, sizeof *c->type, compare_types);
	buf_str(c->b, "cpu.core=");
	for (uint32_t i = 0; i < c->ntypes; i++)
		buf_printf(c->b, "%s%s", i ? "," : "", c->type[i]);
	buf_str(c->b, "\n");
}

static void
read_line(struct cpuinfo *c, const char *line)
{
	static const char *const wanted[] = {
	    "vendor_id", "cpu family", "model", "stepping"};
	const char *text;

	if ((text = field(line, "processor"))) {
		take_type(c);
		c->in_use = is_in_use(c, text);
	}
	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++)
		if ((text = field(line, wanted[i])))
			buf_printf(c->b, "cpu.%s=%s\n", wanted[i], text);
	for (int i = 0; i < NMIDR; i++)
		if ((text = field(line, midr_name[i])))
			snprintf(c->midr[i], sizeof c->midr[i], "%s", text);
	if (c->in_use
	    && ((text = field(line, "flags"))
	        || (text = field(line, "Features"))))
		add_isa(c->b, text);
}

void
cpu_facts_read(
    struct buf *b, FILE *cpuinfo, const uint32_t *core, uint32_t ncores)
{
	struct cpuinfo c = {
	    .b = b, .core = core, .ncores = ncores, .in_use = true};
	char *line = NULL;
	size_t cap = 0;

	while (getline(&line, &cap, cpuinfo) > 0) {
		line[strcspn(line, "\n")] = '\0';
		read_line(&c, line);
	}
	take_type(&c);
	add_types(&c);
	free(line);
}

const char *
cpu_sold_as(FILE *cpuinfo, struct arena *a)
{
	const char *name = NULL;
	char *line = NULL;
	size_t cap = 0;

	while (!name && getline(&line, &cap, cpuinfo) > 0) {
		line[strcspn(line, "\n")] = '\0';
		name = field(line, "model name");
		name = name ? arena_str(a, name) : NULL;
	}
	free(line);
	return name;
}

uint32_t
cpu_core_types(const char *facts, struct arena *a)
{
	const char *core = facts_get(facts, "cpu.core", a);
	const char *types = core ? core : facts_get(facts, "cpu.kind", a);
	uint32_t n = types != NULL;

	for (; types && *types; types++)
		n += *types == ',';
	return n;
}

/* ---- x86 cores of several kinds ---- */

/* SOURCE: Linux, arch/x86/events/intel/core.c (struct pmu names): a
 * hybrid processor has a device for each kind, whose file `cpus` is a list of
 * ranges. */
static const char *const kinds[] = {"core", "atom", "lowpower"};

/* Is one of the cores in a list like "0-7,12"? */
static bool
lists_any(const char *list, const uint32_t *core, uint32_t ncores)
{
	while (isdigit((unsigned char)*list)) {
		char *end;
		unsigned long first = strtoul(list, &end, 10), last = first;

		if (*end == '-')
			last = strtoul(end + 1, &end, 10);
		for (uint32_t i = 0; i < ncores; i++)
			if (core[i] >= first && core[i] <= last)
				return true;
		list = *end == ',' ? end + 1 : "";
	}
	return false;
}

static bool
is_used(
    const char *folder, const char *kind, const uint32_t *core, uint32_t ncores)
{
	char path[256], list[1024] = "";
	FILE *f;

	snprintf(path, sizeof path, "%s/cpu_%s/cpus", folder, kind);
	f = fopen(path, "re");
	if (!f)
		return false;
	if (!fgets(list, sizeof list, f))
		list[0] = '\0';
	fclose(f);
	return lists_any(list, core, ncores);
}

void
cpu_kinds(
    struct buf *b, const char *folder, const uint32_t *core, uint32_t ncores)
{
	const char *before = "cpu.kind=";

	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (is_used(folder, kinds[i], core, ncores)) {
			buf_printf(b, "%s%s", before, kinds[i]);
			before = ",";
		}
	if (*before == ',')
		buf_str(b, "\n");
}

/* ---- an Arm core that /proc/cpuinfo does not tell of ---- */

#ifdef __aarch64__
/* What the kernel calls these. */
static const struct {
	const char *name;
	unsigned long first, second; /* of AT_HWCAP, AT_HWCAP2 */
} hwcap[] = {
    {"asimd", HWCAP_ASIMD, 0},
    {"asimdhp", HWCAP_ASIMDHP, 0},
    {"asimddp", HWCAP_ASIMDDP, 0},
    {"i8mm", 0, HWCAP2_I8MM},
    {"bf16", 0, HWCAP2_BF16},
    {"sve", HWCAP_SVE, 0},
    {"sve2", 0, HWCAP2_SVE2},
    {"svei8mm", 0, HWCAP2_SVEI8MM},
    {"svebf16", 0, HWCAP2_SVEBF16},
};

static void
add_own_isa(struct buf *b)
{
	unsigned long first = getauxval(AT_HWCAP),
	              second = getauxval(AT_HWCAP2);
	struct buf words;

	buf_init(&words);
	for (size_t i = 0; i < sizeof hwcap / sizeof *hwcap; i++)
		if ((first & hwcap[i].first) || (second & hwcap[i].second))
			buf_printf(&words, "%s ", hwcap[i].name);
	add_isa(b, words.n ? words.data : "");
	buf_release(&words);
}

/* SOURCE: Linux, "ARM64 CPU Feature Registers": with HWCAP_CPUID a program may
 * read this register. */
static void
add_own_core(struct buf *b)
{
	uint64_t midr;

	if (!(getauxval(AT_HWCAP) & HWCAP_CPUID))
		return;
	__asm__("mrs %0, midr_el1" : "=r"(midr));
	buf_printf(b, "cpu.core=0x%02x/0x%03x/0x%x/%u\n",
	    (unsigned)(midr >> 24) & 0xff, (unsigned)(midr >> 4) & 0xfff,
	    (unsigned)(midr >> 20) & 0xf, (unsigned)midr & 0xf);
}

/* An emulator shows the other processor's /proc/cpuinfo, whose facts stay: it is
 * what does the work. The last of equal keys counts. */
static void
add_emulated(struct buf *b)
{
	if (b->n && strstr(b->data, "cpu.core="))
		return;
	add_own_core(b);
	add_own_isa(b);
}
#else
static void
add_emulated(struct buf *b)
{
	(void)b;
}
#endif

/* ---- caches ---- */

static bool
read_text(
    char *text, size_t size, const char *folder, int index, const char *name)
{
	char path[256];
	FILE *f;
	bool ok;

	snprintf(path, sizeof path, "%s/index%d/%s", folder, index, name);
	f = fopen(path, "re");
	ok = f && fgets(text, (int)size, f);
	if (f)
		fclose(f);
	return ok;
}

void
cpu_caches(uint64_t bytes[CACHE_LEVELS], const char *folder)
{
	char text[32];

	memset(bytes, 0, CACHE_LEVELS * sizeof *bytes);
	for (int i = 0; read_text(text, sizeof text, folder, i, "level"); i++) {
		unsigned long level = strtoul(text, NULL, 10);
		uint64_t size;
		char *unit;

		if (level < 1 || level > CACHE_LEVELS
		    || !read_text(text, sizeof text, folder, i, "type")
		    || text[0] == 'I'
		    || !read_text(text, sizeof text, folder, i, "size"))
			continue;
		size = strtoull(text, &unit, 10);
		bytes[level - 1] = size << (*unit == 'K'  ? 10
		                           : *unit == 'M' ? 20
		                                          : 0);
	}
}

static void
add_caches(struct buf *b, uint32_t core)
{
	static const int name[CACHE_LEVELS] = {_SC_LEVEL1_DCACHE_SIZE,
	    _SC_LEVEL2_CACHE_SIZE, _SC_LEVEL3_CACHE_SIZE};
	uint64_t bytes[CACHE_LEVELS];
	char folder[80];

	snprintf(folder, sizeof folder, "/sys/devices/system/cpu/cpu%u/cache",
	    (unsigned)core);
	cpu_caches(bytes, folder);
	buf_str(b, "cache=");
	for (int i = 0; i < CACHE_LEVELS; i++) {
		long known = sysconf(name[i]);

		if (bytes[i] == 0 && known > 0)
			bytes[i] = (uint64_t)known;
		buf_printf(
		    b, "%s%llu", i ? "," : "", (unsigned long long)bytes[i]);
	}
	buf_str(b, "\n");
}

/* Of registers whose length the instruction set leaves open. */
static void
add_vector_length(struct buf *b)
{
#if defined(__aarch64__) && defined(PR_SVE_GET_VL)
	int length = prctl(PR_SVE_GET_VL);

	if (length > 0)
		buf_printf(
		    b, "cpu.vector_bytes=%d\n", length & PR_SVE_VL_LEN_MASK);
#else
	(void)b;
#endif
}

void
cpu_facts(struct buf *b, const uint32_t *core, uint32_t ncores)
{
	FILE *f = fopen("/proc/cpuinfo", "re");

	if (f) {
		cpu_facts_read(b, f, core, ncores);
		fclose(f);
	}
	cpu_kinds(b, "/sys/devices", core, ncores);
	add_emulated(b);
	add_vector_length(b);
	add_caches(b, core[0]);
}
