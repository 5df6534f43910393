/* standin_runner [ACTION [OPERATOR]]: a runner (targets/external/README.md) on
 * the host's kernels. For models that hold the operator it does something else
 * than answer: refuse, hang, crash, garbage, wrong, silent (no outputs), error,
 * other (another id), negative, escape (a refusal with terminal escapes), loud
 * (64 MiB of messages); or answer and then: quit, twice (answer again), detach
 * (leave daemons behind, their numbers in $DAEMONS), orphan (crash, and leave
 * one that holds the streams). As an action alone: prices (it does not run),
 * rules, facts (60,000), old (another protocol), mute (no hello), dead. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cJSON.h>

#include "ir/base/file.h"
#include "ir/base/jsonin.h"
#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "ir/onnx_write.h"
#include "targets/host/host.h"

#define LATENCIES "[2000,1000,1500,1200]"

static const char *action = "", *op_type = "";

struct request {
	struct model model;
	const struct cJSON *inputs, *outputs;
	uint32_t id;
	bool is_chosen; /* the action is for this model */
};

static bool
does(const struct request *r, const char *what)
{
	return r->is_chosen && strcmp(action, what) == 0;
}

static bool
read_request(struct request *r, const struct cJSON *doc, struct arena *a,
    struct err *err)
{
	const struct infer_options infer = {.eval = host_eval};
	const struct onnx_options options = {0};
	const char *path;

	if (!jsonin_u32(doc, "id", &r->id, err)
	    || !jsonin_str(doc, "model", &path, err)
	    || !jsonin_array(doc, "inputs", &r->inputs, err)
	    || !jsonin_array(doc, "outputs", &r->outputs, err)
	    || !onnx_read(&r->model, arena_str(a, path), &options, a, err))
		return false;
	for (node_id i = 0; i < r->model.graph->nnodes; i++)
		r->is_chosen |=
		    strcmp(r->model.graph->node[i].op_type, op_type) == 0;
	return normalize(r->model.graph, &infer, err);
}

struct write_job {
	const char *name;
	const struct tensor *tensor;
};

static bool
write_tensor(FILE *f, void *context, struct err *err)
{
	const struct write_job *w = context;

	return onnx_write_tensor(f, w->name, w->tensor, err);
}

static bool
compute(const struct request *r, struct arena *a, struct err *err)
{
	const struct graph *g = r->model.graph;
	struct tensor *in = arena_new(a, struct tensor, g->ninputs);
	struct tensor *out = arena_new(a, struct tensor, g->noutputs);

	for (uint32_t i = 0; i < g->ninputs; i++)
		if (!onnx_read_tensor(&in[i],
		        cJSON_GetArrayItem(r->inputs, (int)i)->valuestring, a,
		        err))
			return false;
	if (!host_run(g, in, out, a, err))
		return false;
	for (uint32_t i = 0; i < g->noutputs; i++) {
		struct write_job w = {g->value[g->output[i]].name, &out[i]};

		if (does(r, "wrong"))
			out[i].data = arena_alloc(a, out[i].bytes);
		if (!file_write(
		        cJSON_GetArrayItem(r->outputs, (int)i)->valuestring,
		        write_tensor, &w, err))
			return false;
	}
	return true;
}

/* A process with its streams as ours that nothing but a signal ends; it is in the list
 * when this returns. */
static void
leave_daemon(bool new_session)
{
	int listed[2];
	char byte;
	FILE *f;

	if (pipe(listed) != 0)
		abort();
	if (fork() != 0) {
		close(listed[1]);
		if (read(listed[0], &byte, 1) != 1)
			abort();
		close(listed[0]);
		return;
	}
	if (new_session)
		setsid();
	if (fork() != 0)
		_exit(0);
	f = fopen(getenv("DAEMONS"), "a");
	fprintf(f, "%ld\n", (long)getpid());
	fclose(f);
	if (write(listed[1], "", 1) != 1)
		abort();
	for (;;)
		sleep(1000);
}

static void
be_loud(void)
{
	static const char line[] = "0123456789abcdef0123456789abcdef\n";

	for (int i = 0; i < (64 << 20) / 33; i++)
		fwrite(line, 1, sizeof line - 1, stderr);
	fprintf(stderr, "the last words\n");
}

/* What it does before or instead of an answer. */
static void
misbehave(const struct request *r)
{
	if (does(r, "detach"))
		for (int i = 0; i < 3; i++)
			leave_daemon(i > 0);
	if (does(r, "orphan")) {
		leave_daemon(true);
		raise(SIGKILL);
	}
	if (does(r, "loud")) {
		be_loud();
		exit(9);
	}
}

static void
answer(const struct request *r, const char *what, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};

	misbehave(r);
	if (does(r, "hang"))
		sleep(100);
	if (does(r, "crash")) {
		fprintf(stderr, "out of luck\n");
		raise(SIGKILL);
	}
	if (does(r, "refuse"))
		printf("{\"id\":%u,\"refused\":\"no such unit\"}\n", r->id);
	else if (does(r, "escape"))
		printf("{\"id\":%u,\"refused\":\"a\\u001b[31mb\\u009bc"
		       "\\u202ed\"}\n",
		    r->id);
	else if (does(r, "garbage"))
		printf("Segmentation fault\n");
	else if (does(r, "error"))
		printf("{\"error\":\"KeyError\"}\n");
	else if (does(r, "other"))
		printf("{\"id\":%u,\"latencies_ns\":[1]}\n", r->id + 1);
	else if (does(r, "negative"))
		printf("{\"id\":%u,\"latencies_ns\":[5,-1]}\n", r->id);
	else if (!does(r, "silent") && strcmp(action, "prices") != 0
	    && !compute(r, a, &err))
		printf("{\"error\":\"%s\"}\n", err.text);
	else if (strcmp(what, "price") == 0)
		printf("{\"id\":%u,\"latencies_ns\":" LATENCIES "}\n", r->id);
	else
		printf("{\"id\":%u,\"done\":true}\n", r->id);
	if (does(r, "twice"))
		printf("{\"id\":%u,\"latencies_ns\":[1]}\n", r->id);
	fflush(stdout);
	if (does(r, "quit"))
		exit(3);
}

static void
print_facts(void)
{
	for (int i = 0; i < 60000; i++)
		printf(",\"f%d\":\"x\"", i);
}

static void
hello(void)
{
	const char *rules = "";

	if (strcmp(action, "mute") == 0)
		sleep(100);
	if (strcmp(action, "rules") == 0)
		rules = ",\"rules\":[{\"name\":\"unit.conv\",\"pattern\":"
		        "\"Conv(MaxPool(*), const)\"}]";
	printf("{\"marq\":\"hello\",\"version\":%d,\"name\":\"standin\","
	       "\"runner_version\":\"3\",\"runs\":%s%s,\"facts\":{\"board\":"
	       "\"bench 7\"",
	    strcmp(action, "old") == 0 ? 0 : 1,
	    strcmp(action, "prices") == 0 ? "false" : "true", rules);
	if (strcmp(action, "facts") == 0)
		print_facts();
	printf("}}\n");
}

static void
take(const char *line)
{
	struct err err = {.kind = ERR_NONE};
	struct cJSON *doc = jsonin_parse(line, strlen(line), "request", &err);
	struct request r = {.id = 0};
	const char *what = "";
	struct arena a;

	arena_init(&a);
	if (!doc || !jsonin_str(doc, "marq", &what, &err))
		printf("{\"error\":\"%s\"}\n", err.text);
	else if (strcmp(what, "hello") == 0)
		hello();
	else if (strcmp(what, "price") != 0 && strcmp(what, "run") != 0)
		printf("{\"error\":\"unknown message\"}\n");
	else if (!read_request(&r, doc, &a, &err))
		printf("{\"error\":\"%s\"}\n", err.text);
	else
		answer(&r, what, &a);
	if (r.model.graph)
		model_close(&r.model);
	fflush(stdout);
	jsonin_close(doc);
	arena_release(&a);
}

int
main(int argc, char **argv)
{
	const char *calls = getenv("CALLS");
	char *line = NULL;
	size_t cap = 0;

	if (argc > 1)
		action = argv[1];
	if (argc > 2)
		op_type = argv[2];
	if (strcmp(action, "dead") == 0) {
		fprintf(stderr, "no board\n");
		return 7;
	}
	while (getline(&line, &cap, stdin) > 0) {
		FILE *f = calls ? fopen(calls, "a") : NULL;

		if (f) {
			fputs(line, f);
			fclose(f);
		}
		take(line);
	}
	free(line);
	return 0;
}
