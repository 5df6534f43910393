/* A plug-in that misbehaves on request, for tests/cli/plugin.sh. It copies: its
 * rules are a MaxPool of 1x1 and a Flatten. The option does=ACTION is for the
 * MaxPool only; what is wrong before there are options is in $STANDIN. Built with
 * another SYMBOL it is made for another version of the interface. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity, feenableexcept */
#endif
#include <dirent.h>
#include <fenv.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <marq_plugin.h>

#define HEAD "{\"format\": \"marq-plugin\", \"version\": 1, \"name\": "
#define RULE(name, op) "{\"name\": \"" name "\", \"pattern\": \"" op "\"}"

static const char about[] = HEAD
    "\"standin\", \"options\": [{\"name\": \"does\", \"values\": \"<what>\"},"
    " {\"name\": \"level\", \"values\": \"low|high\", \"default\": \"low\"}],"
    " \"rules\": [" RULE("standin.pool", "MaxPool(*)") ", " RULE(
        "standin.flatten", "Flatten(*)") "], \"unknown\": {\"key\": 1}}";

static char longest[(1 << 20) + 2]; /* beyond PLUGIN_ABOUT */

/* $STANDIN -> what it says of itself. */
static const struct {
	const char *when, *text;
} faults[] = {
    {"regions",
        HEAD
        "\"standin\", \"options\": [{\"name\": \"does\"}], \"rules\": [" RULE(
            "standin.node", "op") "], \"regions\": true}"},
    {"authored",
        HEAD
        "\"standin\", \"options\": [{\"name\": \"does\"}], \"rules\": [" RULE(
            "standin.node",
            "op") "], \"regions\": true, \"authored\": true,"
                  " \"opsets\": {\"\": [1, 99], \"ai.onnx.ml\": [1, 5]}}"},
    {"json", "{\"format\": "},
    {"format", "{\"format\": \"marq-rules\", \"version\": 1, \"name\": \"x\"}"},
    {"later", "{\"format\": \"marq-plugin\", \"version\": 2, \"name\": \"x\"}"},
    {"name", HEAD "\"host\", \"rules\": []}"},
    {"none", HEAD "\"x\", \"rules\": []}"},
    {"twice",
        HEAD "\"x\", \"rules\": [" RULE("a", "Relu(*)") ", " RULE(
            "a", "Abs(*)") "]}"},
    {"pattern", HEAD "\"x\", \"rules\": [" RULE("a", "Rleu(") "]}"},
};

struct marq_target {
	char *does;
};

struct marq_program {
	const struct marq_target *target;
	uint64_t bytes;
	int chosen; /* the action is for it */
};

static int
says(const char *what)
{
	const char *s = getenv("STANDIN");

	return s != NULL && strcmp(s, what) == 0;
}

static int
does(const struct marq_program *p, const char *what)
{
	return p->chosen && strcmp(p->target->does, what) == 0;
}

static _Noreturn void
hang(void)
{
	for (;;)
		pause();
}

/* "crash-CALL" or "hang-CALL", where it is said. */
static void
misbehave(const char *said, const char *call)
{
	const char *dash = strchr(said, '-');

	if (dash == NULL || strcmp(dash + 1, call) != 0)
		return;
	if (strncmp(said, "crash-", 6) == 0)
		abort();
	if (strncmp(said, "hang-", 5) == 0)
		hang();
}

/* Before there are options. */
static void
misbehave_early(const char *call)
{
	const char *s = getenv("STANDIN");

	if (s != NULL)
		misbehave(s, call);
}

/* Of the program that was chosen for it. */
static void
misbehave_in(const struct marq_program *p, const char *call)
{
	if (p->chosen)
		misbehave(p->target->does, call);
}

/* ---- the backend ---- */

static marq_status
open_it(const struct marq_option *const *option, uint32_t noptions,
    const struct marq_sink *sink, struct marq_target **out,
    struct marq_error *e)
{
	struct marq_target *t = calloc(1, sizeof *t);

	for (uint32_t i = 0; i < noptions; i++)
		if (strcmp(option[i]->name, "does") == 0 && !t->does)
			t->does = strdup(option[i]->value);
	if (!t->does)
		t->does = strdup("");
	misbehave_early("open");
	if (says("exit"))
		exit(3);
	if (says("nothing"))
		return MARQ_OK;
	if (says("absent")) {
		snprintf(
		    e->text, e->capacity, "no board\nis\tthere; plug one in");
		return MARQ_UNAVAILABLE;
	}
	if (sink->note != NULL)
		sink->note(sink->context, "opened");
	puts("this is not for standard output");
	*out = t;
	return MARQ_OK;
}

static void
close_it(struct marq_target *t)
{
	misbehave_early("close");
	free(t->does);
	free(t);
}

static marq_status
environment(
    struct marq_target *t, const struct marq_sink *sink, struct marq_error *e)
{
	(void)t, (void)e;
	misbehave_early("environment");
	sink->fact(sink->context, "board", "7");
	sink->fact(sink->context, "lines", "a\ncost=measured");
	for (int i = 0; says("facts") && i < 9000; i++)
		sink->fact(sink->context, "fact", "10 bytes..");
	return MARQ_OK;
}

/* ---- regions ---- */

#define SLEEPER \
	"standin-sleeper" /* 15 characters, as many as a thread's name has */

static bool
is_sleeper(const char *task)
{
	char path[300], name[20] = "";
	FILE *f;

	snprintf(path, sizeof path, "/proc/self/task/%s/comm", task);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fgets(name, sizeof name, f) == NULL)
		name[0] = '\0';
	fclose(f);
	return strncmp(name, SLEEPER, strlen(SLEEPER)) == 0;
}

/* Does a thread of start_sleeping() run here? Others may. */
static bool
others_sleep_here(void)
{
	DIR *d = opendir("/proc/self/task");
	const struct dirent *e;
	bool found = false;

	while (d != NULL && !found && (e = readdir(d)) != NULL)
		found = is_sleeper(e->d_name);
	if (d != NULL)
		closedir(d);
	return found;
}

static marq_status
refuse_in_words(struct marq_error *e, const char *why)
{
	snprintf(e->text, e->capacity, "%s", why);
	return MARQ_REFUSED;
}

/* A huge reason without an end. */
static marq_status
refuse_hugely(struct marq_program *p, struct marq_error *e)
{
	memset(e->text, 'x', e->capacity);
	memcpy(e->text, "no such unit\n\033[31m", 17);
	free(p);
	return MARQ_REFUSED;
}

static marq_status
compile(struct marq_target *t, const struct marq_region *r,
    const struct marq_settings *settings, struct marq_program **out,
    struct marq_error *e)
{
	struct marq_program *p = calloc(1, sizeof *p);

	p->target = t;
	p->bytes = r->output[0]->bytes;
	p->chosen = r->output[0]->rank == 4;
	if (strcmp(t->does, "needs-author") == 0
	    && !memmem(r->model, r->model_bytes, "Scaler", 6))
		return refuse_in_words(e, "no Scaler");
	if (settings->threads < 1 || (r->nnodes != 1 && !says("regions"))
	    || r->noutputs != 1 || r->input[0]->bytes != p->bytes
	    || does(p, "refuse"))
		return refuse_hugely(p, e);
#ifndef BEFORE_ALONE
	if (strcmp(t->does, "needs-alone") == 0 && r->nnodes > 1
	    && !MARQ_HAS(struct marq_settings, settings, alone))
		return refuse_hugely(p, e);
#endif
	if (does(p, "alone") && others_sleep_here())
		return refuse_in_words(e, "others are beside it");
	if (strcmp(t->does, "crash-product") == 0 && r->ninputs == 2)
		abort();
	misbehave_in(p, "compile");
	if (does(p, "no-program"))
		return MARQ_OK;
	if (does(p, "status"))
		return 77;
	*out = p;
	return MARQ_OK;
}

static void
release(struct marq_program *p)
{
	misbehave_in(p, "release");
	free(p);
}

static void *
spin(void *context)
{
	volatile int *on = context;

	while (*on)
		continue;
	return NULL;
}

static void
start_spinning(void)
{
	static int on = 1;
	pthread_t thread;

	pthread_create(&thread, NULL, spin, &on);
}

static void *
sleep_on(void *context)
{
	pthread_setname_np(pthread_self(), SLEEPER);
	pthread_mutex_lock(context);
	return NULL;
}

/* One for all programs, as a runtime's pool. */
static void
start_sleeping(void)
{
	static pthread_mutex_t never = PTHREAD_MUTEX_INITIALIZER;
	static int started;
	pthread_t thread;

	if (started++ == 0) {
		pthread_mutex_lock(&never);
		pthread_create(&thread, NULL, sleep_on, &never);
	}
}

static void
change_affinity(void)
{
	cpu_set_t set;

	/* workers are pinned: to none but one processor that is there */
	CPU_ZERO(&set);
	sched_getaffinity(0, sizeof set, &set);
	for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		cpu_set_t other;

		CPU_ZERO(&other);
		CPU_SET(cpu, &other);
		if (!CPU_EQUAL(&other, &set)
		    && sched_setaffinity(0, sizeof other, &other) == 0)
			return;
	}
}

static marq_status
execute(struct marq_program *p, const void *const *in, void *const *out,
    struct marq_error *e)
{
	memcpy(out[0], in[0], p->bytes);
	misbehave_in(p, "execute");
	if (does(p, "exit"))
		exit(5);
	if (does(p, "fail")) {
		snprintf(e->text, e->capacity, "the board is on fire");
		return MARQ_FAILED;
	}
	if (does(p, "wrong"))
		((float *)out[0])[0] += 1000;
	if (does(p, "slack"))
		((char *)out[0])[p->bytes] = 1;
	if (does(p, "input"))
		*(char *)(uintptr_t)in[0] ^= 1;
	if (does(p, "rounding"))
		fesetround(FE_UPWARD);
	if (does(p, "control"))
		feenableexcept(FE_DIVBYZERO);
	if (does(p, "affinity"))
		change_affinity();
	if (does(p, "spin"))
		start_spinning();
	if (strcmp(p->target->does, "threads") == 0)
		start_sleeping();
	return MARQ_OK;
}

/* What it made of a region: one operation; and a file of it. Too much of either is
 * more than the host takes; of more than a GiB only the size is told. */
static marq_status
layers(
    struct marq_program *p, const struct marq_sink *sink, struct marq_error *e)
{
	const uint32_t node = 0;
	const struct marq_layer l = {.size = sizeof l,
	    .nnodes = 1,
	    .node = &node,
	    .name = "copy",
	    .type = "memcpy"};

	misbehave_in(p, "layers");
	if (does(p, "no-layers"))
		return refuse_in_words(e, "no layers today");
	for (uint32_t i = says("layers") ? 1 << 20 : 1; i > 0; i--)
		sink->layer(sink->context, &l);
	return MARQ_OK;
}

static marq_status
emit(struct marq_target *t, const struct marq_region *r,
    const struct marq_settings *settings, const struct marq_sink *sink,
    struct marq_error *e)
{
	static const char large[9 << 20];

	(void)r, (void)settings;
	misbehave(t->does, "emit");
	if (strcmp(t->does, "no-emit") == 0)
		return refuse_in_words(e, "no file today");
	sink->file(sink->context, "copy.txt", "copy\n", 5);
	if (says("file"))
		sink->file(sink->context, "large", large, sizeof large);
	if (says("files"))
		sink->file(sink->context, "larger", large, (1 << 30) + 1);
	return MARQ_OK;
}

/* ---- the table ---- */

static struct {
	struct marq_plugin table;
	void *more[4]; /* of a version to come */
} plugin = {
    .table =
        {
            .size = sizeof plugin.table,
            .minor = MARQ_PLUGIN_MINOR,
            .about = about,
            .open = open_it,
            .close = close_it,
            .environment = environment,
            .compile = compile,
            .release = release,
            .execute = execute,
            .layers = layers,
            .emit = emit,
        },
};

#ifndef SYMBOL
#define SYMBOL marq_plugin_1
#endif
MARQ_PLUGIN_EXPORT const struct marq_plugin *SYMBOL(uint32_t host_minor);

const struct marq_plugin *
SYMBOL(uint32_t host_minor)
{
	misbehave_early("entry");
	for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
		if (says(faults[i].when))
			plugin.table.about = faults[i].text;
	if (says("long")) {
		memset(longest, ' ', sizeof longest - 1);
		plugin.table.about = longest;
	}
	if (says("newer")) {
		plugin.table.size = sizeof plugin;
		plugin.table.minor = 7;
		memset(plugin.more, 0xff, sizeof plugin.more);
	}
	if (says("older"))
		plugin.table.size = offsetof(struct marq_plugin, execute)
		    + sizeof plugin.table.execute;
	if (says("short"))
		plugin.table.size = offsetof(struct marq_plugin, execute);
	if (says("holes"))
		plugin.table.compile = NULL;
	if (says("refuses") || host_minor > 1000)
		return NULL;
	return &plugin.table;
}
