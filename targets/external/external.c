/* Targets that are other people's programs: a runner takes a candidate as an
 * ONNX file and tells latencies, or refuses. README.md has the protocol. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cJSON.h>

#include "ir/base/json.h"
#include "ir/base/jsonin.h"
#include "ir/base/memory.h"
#include "targets/command.h"
#include "targets/external/files.h"
#include "targets/external/runner.h"
#include "targets/part.h"
#include "targets/threads.h"

struct external_target {
	struct target_kind kind; /* with the runner's rules */
	struct runner_hello hello;
	const char *command;
	struct runner *runner;
};

static const struct external_target *
external_of(const struct target *t)
{
	return (const struct external_target *)t->state;
}

/* ---- questions ---- */

static void
add_paths(struct json *j, const char *key, const char *const *path, uint32_t n)
{
	json_key(j, key);
	json_array(j);
	for (uint32_t i = 0; i < n; i++)
		json_str(j, path[i]);
	json_close(j);
}

/* {"marq": what, "id": ...} about a candidate's files, as one line. */
static char *
question(const char *what, uint32_t id, const struct files *f)
{
	char *text = NULL;
	size_t n;
	FILE *out = memory_stream(&text, &n);
	struct json j;

	json_init(&j, out, 0);
	json_object(&j);
	json_key_str(&j, "marq", what);
	json_key_uint(&j, "id", id);
	json_key_str(&j, "model", f->model);
	json_key_uint(&j, "threads", target_threads());
	add_paths(&j, "inputs", f->input, f->candidate->ninputs);
	add_paths(&j, "outputs", f->output, f->candidate->noutputs);
	json_close(&j);
	memory_stream_close(out);
	return text;
}

/* The runner's answer, or NULL with how and why it failed in *answer. */
static struct cJSON *
ask_runner(const struct external_target *x, const char *what,
    const struct files *f, struct sample *answer)
{
	uint32_t id = runner_next_id(x->runner);
	char *line = question(what, id, f);
	struct cJSON *doc = NULL;

	answer->outcome = OUTCOME_CRASH;
	doc = runner_ask(x->runner, line, id, &answer->outcome, answer->detail,
	    sizeof answer->detail);
	free(line);
	if (doc && jsonin_has(doc, "refused")) {
		const struct cJSON *why =
		    cJSON_GetObjectItemCaseSensitive(doc, "refused");

		answer->outcome = OUTCOME_UNSUPPORTED;
		snprintf(answer->detail, sizeof answer->detail, "%s",
		    cJSON_IsString(why) ? why->valuestring : "refused");
		jsonin_close(doc);
		return NULL;
	}
	return doc;
}

/* ---- prices ---- */

/* True: the outputs are filled in. */
static bool
price(const struct external_target *x, const struct files *f, void *const *out,
    struct sample *answer, struct err *err)
{
	struct cJSON *doc = ask_runner(x, "price", f, answer);

	if (!doc)
		return false;
	answer->outcome = OUTCOME_WRONG;
	if (runner_read_latencies(answer, doc, err)
	    && (!x->hello.runs || files_read_outputs(f, out, err))) {
		answer->outcome = OUTCOME_OK;
		snprintf(answer->detail, sizeof answer->detail, "%s %s",
		    x->hello.name, x->hello.version);
	}
	jsonin_close(doc);
	return answer->outcome == OUTCOME_OK && x->hello.runs;
}

static bool
ask(const struct region *r, const void *const *in, void *const *out,
    struct sample *answer)
{
	struct err err = {.kind = ERR_NONE};
	struct arena scratch;
	struct files f;
	bool computed = false;

	*answer = (struct sample){.outcome = OUTCOME_UNSUPPORTED};
	arena_init(&scratch);
	if (files_open(&f, r->graph, r->candidate[0], &scratch, &err)) {
		if (files_write_inputs(&f, in, &err))
			computed = price(
			    external_of(r->target), &f, out, answer, &err);
		files_close(&f);
	}
	if (err.kind != ERR_NONE)
		snprintf(answer->detail, sizeof answer->detail, "%s", err.text);
	arena_release(&scratch);
	return computed;
}

static void
environment(const struct target *t, struct buf *b)
{
	const struct external_target *x = external_of(t);

	if (!x)
		return;
	buf_printf(b, "runner=%s\nrunner_version=%s\nprotocol=%d\n%s",
	    x->hello.name, x->hello.version, RUNNER_PROTOCOL, x->hello.facts);
	command_facts(b, "cmd", x->command);
}

/* ---- running ---- */

struct loaded {
	const struct external_target *external;
	struct files files;
};

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct loaded *l = k->state;
	struct sample answer = {.outcome = OUTCOME_OK};
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc;

	if (files_write_inputs(&l->files, in, &err)) {
		doc = ask_runner(l->external, "run", &l->files, &answer);
		if (!doc)
			err_set(&err, ERR_TARGET, "%s", answer.detail);
		else if (!files_read_outputs(&l->files, out, &err))
			err_in(&err, "the runner's answer");
		if (doc)
			jsonin_close(doc);
	}
	if (err.kind != ERR_NONE && k->fault)
		*k->fault = err;
}

static void
release(struct kernel *k)
{
	struct loaded *l = k->state;

	files_close(&l->files);
	runner_drop(l->external->runner);
}

static bool
compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct external_target *x = external_of(t);
	struct loaded *l = arena_new(a, struct loaded, 1);

	l->external = x;
	if (!files_open(&l->files, g, c, a, err))
		return false;
	runner_hold(x->runner);
	*out = (struct kernel){.kind = t->kind,
	    .candidate = c,
	    .run = run,
	    .release = release,
	    .state = l};
	return true;
}

/* ---- the kind ---- */

static const struct rule any_node[] = {
    {.name = "external.node", .pattern = OPERATOR},
};

extern const struct target_kind target_external;

static bool
take_timeout(const struct target *t, uint32_t *ms, struct err *err)
{
	const char *text = target_option_get(t, "timeout");
	char *end;
	double seconds = strtod(text, &end);

	if (end == text || *end || !(seconds > 0) || !(seconds <= 86400))
		return err_set(err, ERR_USAGE,
		    "timeout is '%s', must be seconds above 0, at most 86400",
		    text);
	*ms = (uint32_t)ceil(seconds * 1000);
	return true;
}

static bool
open_external(
    struct target *t, struct formats *f, struct arena *a, struct err *err)
{
	struct external_target *x = arena_new(a, struct external_target, 1);
	const char *first, *where;
	uint32_t timeout_ms;

	(void)f;
	x->command = target_option_get(t, "cmd");
	if (!*x->command)
		return err_set(
		    err, ERR_USAGE, "it needs the option cmd=COMMAND");
	if (!command_check(x->command, NULL, 0, a, err)
	    || !take_timeout(t, &timeout_ms, err))
		return false;
	first = command_first(x->command, a);
	if (first && !command_program(first, &where, a))
		return err_set(err, ERR_TARGET, "'%s' is not there", first);
	x->runner = runner_new(x->command, timeout_ms, a);
	if (!runner_greet(x->runner, &x->hello, a, err))
		return false;
	x->kind = target_external;
	if (!x->hello.runs)
		x->kind.compile = NULL;
	x->kind.summary =
	    arena_printf(a, "%s %s, a runner", x->hello.name, x->hello.version);
	x->kind.rule = x->hello.nrules ? x->hello.rule : any_node;
	x->kind.nrules = x->hello.nrules ? x->hello.nrules : 1;
	t->kind = &x->kind;
	t->state = x;
	t->is_this_cpu = x->hello.is_this_cpu;
	/* a process that turns out to be used up; to start it anew, and for
	 * its answer; and what is done around that */
	t->ask_ms = 3 * timeout_ms + 10000;
	t->only_prices = !x->hello.runs;
	return true;
}

static const struct target_option options[] = {
    {"cmd", "<command>", "",
        "the runner: speaks the protocol of targets/external/README.md on "
        "standard input and output (a comma is written \\,)"},
    {"timeout", "<seconds>", "60", "for each of its answers"},
    {NULL, NULL, NULL, NULL},
};

static const struct target_tool tool = {.ask = ask};

const struct target_kind target_external = {
    .name = "external",
    .summary = "a program that prices (and runs) ONNX sub-graphs: "
               "external:cmd=COMMAND",
    .option = options,
    .source = PRICE_EXTERNAL,
    .open = open_external,
    .implementations = part_implementations,
    .compile = compile,
    .tool = &tool,
    .environment = environment,
};
