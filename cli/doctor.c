/* marq doctor: what this machine has and lacks. One row a check. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "cli/answer.h"
#include "cli/options.h"
#include "cli/paths.h"
#include "costmodel/core_type.h"
#include "costmodel/cpu.h"
#include "costmodel/machine.h"
#include "costmodel/sandbox.h"
#include "db/facts.h"
#include "db/origin.h"
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

/* The facts of some cores. */
static const char *
facts_of(const uint32_t *core, uint32_t n, struct arena *a)
{
	struct buf b;

	buf_init(&b);
	cpu_facts(&b, core, n);
	return facts_gathered(&b, a);
}

static void
check_cores(struct cli *c, struct diagnosis *f)
{
	const long online = sysconf(_SC_NPROCESSORS_ONLN);
	uint32_t core[CORES_MAX], n = machine_cores(core);
	const uint32_t ntypes =
	    cpu_core_types(facts_of(core, n, c->run), c->run);

	snprintf(f->text, sizeof f->text, "%ld online", online);
	if (ntypes > 1) {
		n = measuring_cores(core, 1);
		snprintf(f->text, sizeof f->text,
		    "%ld online, of %u types (big.LITTLE, hybrid): measured on "
		    "%u of them, %s; `taskset` chooses others",
		    online, (unsigned)ntypes, (unsigned)n,
		    origin_words(facts_of(core, n, c->run), c->run));
	}
	if (online > 1)
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
	char *folder;
	struct statvfs s;

	if (!db) {
		f->grade = GRADE_LACKS;
		snprintf(f->text, sizeof f->text,
		    "none: prices are not kept (use --db)");
		return;
	}
	folder = arena_str(c->run, db);
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
check_sandbox(struct cli *c, struct diagnosis *f)
{
	const struct sandbox_means m = sandbox_offered();

	(void)c;
	if (!m.seccomp || !m.landlock)
		f->grade = GRADE_LACKS;
	snprintf(f->text, sizeof f->text, "measuring processes: %s, %s",
	    m.seccomp ? "no network, no programs (seccomp)"
	              : "network and programs as yours (no seccomp here)",
	    m.landlock ? "no file is changed (Landlock)"
	               : "files as yours (no Landlock here)");
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

/* Findings, printed as they come or kept for the document. */
struct findings {
	struct cli *cli;
	struct answer answer;
	enum grade worst;
};

static void
add(struct findings *all, const char *name, const struct diagnosis *f)
{
	if (f->grade > all->worst)
		all->worst = f->grade;
	ANSWER_LINE(&all->answer, "{grade:-6}  {name:-12} {text}\n",
	    F("name", name), F("grade", grade_word[f->grade]),
	    F("text", f->text));
}

static const struct check {
	const char *name;
	void (*check)(struct cli *c, struct diagnosis *f);
} machine[] = {
    {"cores", check_cores},
    {"scheduler", check_autogroup},
    {"sandbox", check_sandbox},
    {"environment", check_environment},
    {"database", check_database},
};

static void
check_machine(struct findings *all)
{
	for (size_t i = 0; i < sizeof machine / sizeof machine[0]; i++) {
		struct diagnosis f = {.grade = GRADE_OK};

		machine[i].check(all->cli, &f);
		add(all, machine[i].name, &f);
	}
}

/* Kinds that measure kernels of a library of their own. */
static void
check_libraries(struct findings *all)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);

	for (uint32_t i = 0; i < n; i++) {
		struct diagnosis f = {.grade = GRADE_OK};

		if (!kind[i]->kernel_library)
			continue;
		check_library(&f, kind[i]->name);
		add(all, kind[i]->name, &f);
	}
}

static void
check_programs(struct findings *all)
{
	uint32_t n;
	const struct target_kind *const *kind = target_kinds(&n);

	for (uint32_t i = 0; i < n; i++)
		for (const struct target_program *p = kind[i]->program;
		     p && p->name; p++) {
			struct diagnosis f = {.grade = GRADE_OK};

			check_program(all->cli, &f, p->name, p->without);
			add(all, p->name, &f);
		}
}

static const struct command_line line = {
    .doc = "Say what this machine has and lacks for marq.",
};

bool
cmd_doctor(struct cli *c, int argc, char **argv, struct err *err)
{
	struct findings all = {.cli = c, .worst = GRADE_OK};

	if (!cli_parse(c, &line, argc, argv, NULL, err))
		return false;
	answer_begin(&all.answer, c, "marq.doctor/1");
	answer_list(&all.answer, "checks");
	check_machine(&all);
	check_libraries(&all);
	check_programs(&all);
	answer_close(&all.answer);
	answer_end(&all.answer);
	cli_next(c, "marq targets list, marq model make squeezenet");
	if (all.worst == GRADE_BROKEN)
		c->status = err_exit(ERR_VERDICT);
	return true;
}
