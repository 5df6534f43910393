/* marq doctor: what this machine has and lacks. One row a check. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/options.h"
#include "cli/paths.h"
#include "costmodel/cpu.h"
#include "costmodel/machine.h"
#include "db/facts.h"
#include "ir/base/json.h"
#include "targets/command.h"
#include "targets/target.h"

enum grade { GRADE_OK, GRADE_LACKS, GRADE_BROKEN };

struct diagnosis {
	enum grade grade;
	char text[400];
};

static const char *const grade_word[] = {
    [GRADE_OK] = "ok",
    [GRADE_LACKS] = "lacks",
    [GRADE_BROKEN] = "broken",
};

/* A program on PATH goes into the finding, or what goes without it. */
static void
check_program(struct cli *c, struct diagnosis *f, const char *program,
    const char *without)
{
	const char *where;

	if (command_program(program, &where, c->run)) {
		snprintf(f->text, sizeof f->text, "%s", where);
		return;
	}
	f->grade = GRADE_LACKS;
	snprintf(
	    f->text, sizeof f->text, "no `%s` on PATH: %s", program, without);
}

static void
check_dot(struct cli *c, struct diagnosis *f)
{
	check_program(c, f, "dot",
	    "reports go without the region graph (install graphviz)");
}

static void
check_tmlc(struct cli *c, struct diagnosis *f)
{
	check_program(c, f, "mrvl-tmlc",
	    "whether Marvell's compiler takes a region is not checked, prices "
	    "of mrvl are simulated");
}

static void
check_mlsim(struct cli *c, struct diagnosis *f)
{
	check_program(
	    c, f, "mrvl-mlsim", "`marq run` computes regions of mrvl itself");
}

static void
check_cores(struct cli *c, struct diagnosis *f)
{
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t core[CORES_MAX], ncores = machine_cores(core), ntypes;
	struct buf facts;

	snprintf(f->text, sizeof f->text, "%ld online", n);
	buf_init(&facts);
	cpu_facts(&facts, core, ncores);
	ntypes = cpu_core_types(
	    facts_canonical(facts.n ? facts.data : "", c->run), c->run);
	buf_release(&facts);
	if (ntypes > 1) {
		f->grade = GRADE_LACKS;
		snprintf(f->text, sizeof f->text,
		    "%ld online, of %u types (big.LITTLE): a price is of "
		    "whichever it ran on; choose those of one type with "
		    "taskset",
		    n, (unsigned)ntypes);
	}
	if (n > 1)
		return;
	f->grade = GRADE_LACKS;
	snprintf(f->text, sizeof f->text,
	    "one core: measuring shares it with everything else");
}

static void
check_autogroup(struct cli *c, struct diagnosis *f)
{
	(void)c;
	if (access("/proc/self/autogroup", F_OK) != 0) {
		snprintf(f->text, sizeof f->text, "scheduler autogroups off");
		return;
	}
	if (geteuid() == 0) {
		snprintf(f->text, sizeof f->text,
		    "measuring can raise its own autogroup");
		return;
	}
	f->grade = GRADE_LACKS;
	snprintf(f->text, sizeof f->text,
	    "not root: other sessions' load will disturb measurements");
}

/* The deepest existing folder at or above path. */
static void
existing_parent(char *path)
{
	while (access(path, F_OK) != 0) {
		char *slash = strrchr(path, '/');

		if (!slash || slash == path) {
			strcpy(path, slash ? "/" : ".");
			return;
		}
		*slash = '\0';
	}
}

static void
check_database(struct cli *c, struct diagnosis *f)
{
	const char *db = path_default_db(c->run);
	char *folder = arena_str(c->run, db);
	struct statvfs s;

	existing_parent(folder);
	if (access(folder, W_OK) != 0) {
		f->grade = GRADE_BROKEN;
		snprintf(f->text, sizeof f->text, "%s: %s (use --db)", folder,
		    strerror(errno));
		return;
	}
	if (statvfs(folder, &s) != 0)
		memset(&s, 0, sizeof s);
	snprintf(f->text, sizeof f->text, "%s (%llu MiB free)", db,
	    (unsigned long long)s.f_bavail * s.f_frsize >> 20);
}

static void
check_environment(struct cli *c, struct diagnosis *f)
{
	static const char *const names[] = {"OPENBLAS_CORETYPE",
	    "OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "DNNL_MAX_CPU_ISA"};

	(void)c;
	snprintf(f->text, sizeof f->text, "no variable changes the kernels");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		if (!getenv(names[i]))
			continue;
		snprintf(f->text, sizeof f->text,
		    "%s=%s is set; measuring processes run without it",
		    names[i], getenv(names[i]));
	}
}

/* A kernel library, or why this build goes without it. */
static void
check_library(struct diagnosis *f, const char *kind)
{
	struct err err = {.kind = ERR_NONE};

	if (target_kind_usable(target_kind_find(kind), &err)) {
		snprintf(f->text, sizeof f->text, "built in");
		return;
	}
	f->grade = GRADE_LACKS;
	snprintf(f->text, sizeof f->text, "%s", err.text);
}

static void
check_dnnl(struct cli *c, struct diagnosis *f)
{
	(void)c;
	check_library(f, "dnnl");
}

static void
check_xnnpack(struct cli *c, struct diagnosis *f)
{
	(void)c;
	check_library(f, "xnnpack");
}

static void
check_blas(struct cli *c, struct diagnosis *f)
{
	(void)c;
	check_library(f, "blas");
}

static const struct {
	const char *name;
	void (*check)(struct cli *c, struct diagnosis *f);
} checks[] = {
    {"cores", check_cores},
    {"scheduler", check_autogroup},
    {"environment", check_environment},
    {"database", check_database},
    {"dnnl", check_dnnl},
    {"xnnpack", check_xnnpack},
    {"blas", check_blas},
    {"graphviz", check_dot},
    {"mrvl-tmlc", check_tmlc},
    {"mrvl-mlsim", check_mlsim},
};

#define NCHECKS (sizeof checks / sizeof checks[0])

static void
print_json(const struct diagnosis *found)
{
	struct json j;

	json_init(&j, stdout, 2);
	json_object(&j);
	json_key_str(&j, "schema", "marq.doctor/1");
	json_key(&j, "checks");
	json_array(&j);
	for (size_t i = 0; i < NCHECKS; i++) {
		json_inline_object(&j);
		json_key_str(&j, "name", checks[i].name);
		json_key_str(&j, "grade", grade_word[found[i].grade]);
		json_key_str(&j, "text", found[i].text);
		json_close(&j);
	}
	json_close(&j);
	json_close(&j);
}

static const struct command_line line = {
    .doc = "Say what this machine has and lacks for marq.",
};

bool
cmd_doctor(struct cli *c, int argc, char **argv, struct err *err)
{
	struct diagnosis found[NCHECKS] = {{.grade = GRADE_OK}};
	enum grade worst = GRADE_OK;

	if (!cli_parse(c, &line, argc, argv, NULL, err))
		return false;
	for (size_t i = 0; i < NCHECKS; i++) {
		checks[i].check(c, &found[i]);
		if (found[i].grade > worst)
			worst = found[i].grade;
		if (c->format == OUT_TEXT)
			printf("%-6s  %-12s %s\n", grade_word[found[i].grade],
			    checks[i].name, found[i].text);
	}
	if (c->format == OUT_JSON)
		print_json(found);
	cli_next(c, "marq targets list, marq model make squeezenet");
	if (worst == GRADE_BROKEN)
		c->status = err_exit(ERR_VERDICT);
	return true;
}
