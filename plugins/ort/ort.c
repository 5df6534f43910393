/* ONNX Runtime's CPU provider as a plug-in of marq. Loads the library when it
 * is opened; asks for the API version it needs, not the newest there is. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <marq_plugin.h>
#include <onnxruntime_c_api.h>

#include "plugins/common/fail.h"
#include "plugins/common/origin.h"
#include "plugins/common/runtime.h"

#define API_NEEDED 16 /* ONNX Runtime 1.16 and newer */

static const char about[] =
    "{\"format\": \"marq-plugin\", \"version\": 1, \"name\": \"ort\","
    " \"summary\": \"ONNX Runtime, CPU provider\","
    " \"options\": [{\"name\": \"library\", \"values\": \"<path>\","
    "   \"default\": \"\", \"help\": \"the runtime; else "
    "libonnxruntime.so.1, else the package of the python3 on PATH\"},"
    "  {\"name\": \"level\", \"values\": \"none|basic|extended|all\","
    "   \"default\": \"all\", \"help\": \"graph optimisation\"},"
    "  {\"name\": \"spin\", \"values\": \"auto|0|1\", \"default\": \"auto\","
    "   \"help\": \"idle threads spin; auto: where the whole model is one "
    "region\"}],"
    " \"rules\": [{\"name\": \"ort.node\", \"pattern\": \"op\"}],"
    " \"matches\": \"gaps\", \"regions\": true, \"authored\": true,"
    " \"compile_ms\": 50,"
    " \"opsets\": {\"\": [7, 24], \"ai.onnx.ml\": [1, 5],"
    "   \"com.microsoft\": [1, 1]}}";

struct marq_target {
	void *library, *entry; /* and its one symbol */
	const OrtApi *api;
	const char *version;
	OrtEnv *env;
	OrtMemoryInfo *memory;
	GraphOptimizationLevel level;
	char spin; /* 'a': where there is only one region */
};

struct ort_shape {
	int64_t dim[8];
	uint32_t rank, type;
	uint64_t bytes;
};

/* Inputs, or outputs: n of each. */
struct ort_side {
	uint32_t n;
	OrtValue **value;
	const void **at; /* where its bytes are */
	char **name;
	struct ort_shape *shape;
};

struct marq_program {
	struct marq_target *target;
	OrtSession *session;
	uint32_t nnodes;
	struct ort_side in, out;
};

/* An OrtStatus as ours; it is released. */
static marq_status
status_of(const OrtApi *api, OrtStatus *s, struct marq_error *e)
{
	marq_status status;

	if (s == NULL)
		return MARQ_OK;
	switch (api->GetErrorCode(s)) {
	case ORT_NOT_IMPLEMENTED:
	case ORT_INVALID_GRAPH:
	case ORT_NO_SUCHFILE:
		status = MARQ_REFUSED;
		break;
	case ORT_INVALID_ARGUMENT:
		status = MARQ_BAD_DATA;
		break;
	default:
		status = MARQ_FAILED;
	}
	fail(status, e, "ONNX Runtime: %s", api->GetErrorMessage(s));
	api->ReleaseStatus(s);
	return status;
}

#define TRY(t, e, call) \
	do { \
		marq_status try_ = status_of((t)->api, (call), (e)); \
		if (try_ != MARQ_OK) \
			return try_; \
	} while (0)

static void
ort_close(struct marq_target *t)
{
	if (t == NULL)
		return;
	if (t->memory != NULL)
		t->api->ReleaseMemoryInfo(t->memory);
	if (t->env != NULL)
		t->api->ReleaseEnv(t->env);
	/* The library stays: it leaves threads and destructors behind. */
	free(t);
}

static const struct runtime runtime = {
    "libonnxruntime.so.1", "onnxruntime/capi/libonnxruntime.so.1*"};

static marq_status
start(struct marq_target *t, struct marq_error *e)
{
	TRY(t, e, t->api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "marq", &t->env));
	TRY(t, e,
	    t->api->CreateCpuMemoryInfo(
	        OrtDeviceAllocator, OrtMemTypeDefault, &t->memory));
	return MARQ_OK;
}

static void
take_option(
    struct marq_target *t, const struct marq_option *o, const char **library)
{
	static const struct {
		char first;
		GraphOptimizationLevel level;
	} levels[] = {{'n', ORT_DISABLE_ALL}, {'b', ORT_ENABLE_BASIC},
	    {'e', ORT_ENABLE_EXTENDED}, {'a', ORT_ENABLE_ALL}};

	if (strcmp(o->name, "library") == 0)
		*library = o->value;
	if (strcmp(o->name, "spin") == 0)
		t->spin = o->value[0];
	for (size_t i = 0; i < sizeof levels / sizeof *levels; i++)
		if (strcmp(o->name, "level") == 0
		    && o->value[0] == levels[i].first)
			t->level = levels[i].level;
}

/* The oldest interface that has all we call: a newer library has it, too. */
static marq_status
take_api(struct marq_target *t, const char *path, struct marq_error *e)
{
	union {
		void *symbol;
		const OrtApiBase *(*call)(void);
	} base = {.symbol = NULL};

	t->library = runtime_load(&runtime, path);
	if (t->library != NULL)
		base.symbol = dlsym(t->library, "OrtGetApiBase");
	if (base.symbol == NULL)
		return fail(MARQ_UNAVAILABLE, e,
		    "ONNX Runtime is not here%s%s; install libonnxruntime (or "
		    "pip install onnxruntime), or name it: library=PATH",
		    *path != '\0' ? ": " : "", path);
	t->entry = base.symbol;
	t->version = base.call()->GetVersionString();
	t->api = base.call()->GetApi(API_NEEDED);
	return t->api != NULL
	    ? MARQ_OK
	    : fail(MARQ_UNAVAILABLE, e,
	        "ONNX Runtime %s is too old: 1.%d or newer is needed",
	        t->version, API_NEEDED);
}

static marq_status
ort_open(const struct marq_option *const *option, uint32_t noptions,
    const struct marq_sink *sink, struct marq_target **out,
    struct marq_error *e)
{
	struct marq_target *t = calloc(1, sizeof *t);
	const char *path = "";
	marq_status s;

	(void)sink;
	if (t == NULL)
		return fail(MARQ_NO_MEMORY, e, "no memory");
	t->level = ORT_ENABLE_ALL;
	t->spin = 'a';
	for (uint32_t i = 0; i < noptions; i++)
		take_option(t, option[i], &path);
	s = take_api(t, path, e);
	if (s == MARQ_OK)
		s = start(t, e);
	if (s != MARQ_OK)
		ort_close(t);
	else
		*out = t;
	return s;
}

static marq_status
ort_environment(
    struct marq_target *t, const struct marq_sink *sink, struct marq_error *e)
{
	Dl_info info;
	char text[32];

	sink->fact(sink->context, "ort_version", t->version);
	if (dladdr(t->entry, &info) != 0)
		sink->fact(sink->context, "ort_file", info.dli_fname);
	snprintf(text, sizeof text, "%d", (int)t->level);
	sink->fact(sink->context, "ort_level", text);
	(void)e;
	return MARQ_OK;
}

static void
release_side(const OrtApi *api, struct ort_side *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		if (s->value != NULL && s->value[i] != NULL)
			api->ReleaseValue(s->value[i]);
		if (s->name != NULL)
			free(s->name[i]);
	}
	free(s->value);
	free(s->at);
	free(s->name);
	free(s->shape);
}

static void
ort_release(struct marq_program *p)
{
	const OrtApi *api;

	if (p == NULL)
		return;
	api = p->target->api;
	release_side(api, &p->in);
	release_side(api, &p->out);
	if (p->session != NULL)
		api->ReleaseSession(p->session);
	free(p);
}

/* What ran is only told by a file. */
static marq_status
profile(const struct marq_target *t, OrtSessionOptions *o, struct marq_error *e)
{
	const char *folder = getenv("TMPDIR");
	char prefix[4096];

	snprintf(prefix, sizeof prefix, "%s/marq_ort_%ld",
	    folder != NULL && *folder != '\0' ? folder : "/tmp",
	    (long)getpid());
	TRY(t, e, t->api->EnableProfiling(o, prefix));
	return MARQ_OK;
}

static const char *
spinning(const struct marq_target *t, const struct marq_settings *with)
{
	return t->spin == '1'
	        || (t->spin == 'a'
	            && MARQ_HAS(struct marq_settings, with, alone))
	    ? "1"
	    : "0";
}

/* One thread pool would be shared by all sessions with a global one; with one
 * thread there is none at all. Idle threads sleep where others' kernels need the
 * cores. */
static marq_status
set_up(struct marq_target *t, const struct marq_settings *with,
    OrtSessionOptions *o, struct marq_error *e)
{
	TRY(t, e, t->api->SetIntraOpNumThreads(o, (int)with->threads));
	TRY(t, e, t->api->SetInterOpNumThreads(o, 1));
	TRY(t, e, t->api->SetSessionGraphOptimizationLevel(o, t->level));
	TRY(t, e,
	    t->api->AddSessionConfigEntry(
	        o, "session.intra_op.allow_spinning", spinning(t, with)));
	TRY(t, e,
	    t->api->AddSessionConfigEntry(
	        o, "session.set_denormal_as_zero", "0"));
	return with->purpose == MARQ_TO_MAP ? profile(t, o, e) : MARQ_OK;
}

static marq_status
copy_port(struct ort_side *s, uint32_t i, const struct marq_port *port,
    struct marq_error *e)
{
	struct ort_shape *to = &s->shape[i];

	if (port->rank > 8)
		return fail(
		    MARQ_REFUSED, e, "rank is %u, at most 8", port->rank);
	to->rank = port->rank;
	to->type = port->type;
	to->bytes = port->bytes;
	memcpy(to->dim, port->dim, port->rank * sizeof(int64_t));
	s->name[i] = strdup(port->name);
	return s->name[i] != NULL ? MARQ_OK
	                          : fail(MARQ_NO_MEMORY, e, "no memory");
}

static marq_status
copy_ports(struct ort_side *s, const struct marq_port *const *port, uint32_t n,
    struct marq_error *e)
{
	marq_status status = MARQ_OK;

	s->n = n;
	s->value = calloc(n + 1, sizeof *s->value);
	s->at = calloc(n + 1, sizeof *s->at);
	s->name = calloc(n + 1, sizeof *s->name);
	s->shape = calloc(n + 1, sizeof *s->shape);
	if (s->value == NULL || s->at == NULL || s->name == NULL
	    || s->shape == NULL)
		return fail(MARQ_NO_MEMORY, e, "no memory");
	for (uint32_t i = 0; i < n && status == MARQ_OK; i++)
		status = copy_port(s, i, port[i], e);
	return status;
}

static marq_status
make_session(struct marq_program *p, const struct marq_region *r,
    const struct marq_settings *with, struct marq_error *e)
{
	struct marq_target *t = p->target;
	OrtSessionOptions *o;
	marq_status s;

	TRY(t, e, t->api->CreateSessionOptions(&o));
	s = set_up(t, with, o, e);
	if (s == MARQ_OK)
		s = status_of(t->api,
		    t->api->CreateSessionFromArray(t->env, r->model,
		        (size_t)r->model_bytes, o, &p->session),
		    e);
	t->api->ReleaseSessionOptions(o);
	/* What it cannot load, it cannot take. */
	return s == MARQ_FAILED || s == MARQ_BAD_DATA ? MARQ_REFUSED : s;
}

static marq_status
ort_compile(struct marq_target *t, const struct marq_region *r,
    const struct marq_settings *with, struct marq_program **out,
    struct marq_error *e)
{
	struct marq_program *p;
	marq_status s;

	p = calloc(1, sizeof *p);
	if (p == NULL)
		return fail(MARQ_NO_MEMORY, e, "no memory");
	p->target = t;
	p->nnodes = r->nnodes;
	s = copy_ports(&p->in, r->input, r->ninputs, e);
	if (s == MARQ_OK)
		s = copy_ports(&p->out, r->output, r->noutputs, e);
	if (s == MARQ_OK)
		s = make_session(p, r, with, e);
	if (s != MARQ_OK)
		ort_release(p);
	else
		*out = p;
	return s;
}

static marq_status
bind(const struct marq_target *t, struct ort_side *s, uint32_t i,
    const void *at, struct marq_error *e)
{
	const struct ort_shape *shape = &s->shape[i];

	if (s->value[i] != NULL)
		t->api->ReleaseValue(s->value[i]);
	s->value[i] = NULL;
	s->at[i] = at;
	TRY(t, e,
	    t->api->CreateTensorWithDataAsOrtValue(t->memory,
	        (void *)(uintptr_t)at, (size_t)shape->bytes, shape->dim,
	        shape->rank, (ONNXTensorElementDataType)shape->type,
	        &s->value[i]));
	return MARQ_OK;
}

/* Anew only where one moved. */
static marq_status
bind_all(const struct marq_target *t, struct ort_side *s, const void *const *at,
    struct marq_error *e)
{
	marq_status status = MARQ_OK;

	for (uint32_t i = 0; i < s->n && status == MARQ_OK; i++)
		if (at[i] != s->at[i] || s->value[i] == NULL)
			status = bind(t, s, i, at[i], e);
	return status;
}

static marq_status
ort_execute(struct marq_program *p, const void *const *in, void *const *out,
    struct marq_error *e)
{
	const struct marq_target *t = p->target;
	marq_status s = bind_all(t, &p->in, in, e);

	if (s == MARQ_OK)
		s = bind_all(t, &p->out, (const void *const *)out, e);
	return s != MARQ_OK
	    ? s
	    : status_of(t->api,
	        t->api->Run(p->session, NULL, (const char *const *)p->in.name,
	            (const OrtValue *const *)p->in.value, p->in.n,
	            (const char *const *)p->out.name, p->out.n, p->out.value),
	        e);
}

/* ---- layers ---- */

/* What follows `key` on a line of the profile, up to `end`. */
static int
take_text(
    const char *line, const char *key, const char *end, char *to, size_t room)
{
	const char *at = strstr(line, key), *stop;

	if (at == NULL || (stop = strstr(at + strlen(key), end)) == NULL)
		return 0;
	at += strlen(key);
	snprintf(to, room, "%.*s", (int)(stop - at), at);
	return 1;
}

/* SOURCE: onnxruntime/core/common/profiler.cc: an event a line; kernels are of
 * the category Node and end in _kernel_time. */
static void
tell_layer(const struct marq_program *p, const char *line,
    const struct marq_sink *sink)
{
	char name[256], type[64] = "";
	uint32_t node[64];
	struct marq_layer l = {
	    .size = sizeof l, .node = node, .name = name, .type = type};

	if (strstr(line, "\"cat\" : \"Node\"") == NULL
	    || !take_text(
	        line, "\"name\" :\"", "_kernel_time\"", name, sizeof name))
		return;
	take_text(line, "\"op_name\" : \"", "\"", type, sizeof type);
	l.nnodes = origin_nodes(name, p->nnodes, node, 64);
	sink->layer(sink->context, &l);
}

/* Of the one run there was: it is written to a file, which is removed. */
static marq_status
ort_layers(
    struct marq_program *p, const struct marq_sink *sink, struct marq_error *e)
{
	const OrtApi *api = p->target->api;
	OrtAllocator *allocator;
	char *path, *line = NULL;
	size_t room = 0;
	FILE *f;

	TRY(p->target, e, api->GetAllocatorWithDefaultOptions(&allocator));
	TRY(p->target, e,
	    api->SessionEndProfiling(p->session, allocator, &path));
	f = fopen(path, "re");
	while (f != NULL && getline(&line, &room, f) > 0)
		tell_layer(p, line, sink);
	free(line);
	if (f != NULL)
		fclose(f);
	remove(path);
	TRY(p->target, e, api->AllocatorFree(allocator, path));
	return f != NULL
	    ? MARQ_OK
	    : fail(MARQ_FAILED, e, "ONNX Runtime: no profile was written");
}

static const struct marq_plugin plugin = {
    .size = sizeof plugin,
    .minor = MARQ_PLUGIN_MINOR,
    .about = about,
    .open = ort_open,
    .close = ort_close,
    .environment = ort_environment,
    .compile = ort_compile,
    .release = ort_release,
    .execute = ort_execute,
    .layers = ort_layers,
};

const struct marq_plugin *
marq_plugin_1(uint32_t host_minor)
{
	(void)host_minor;
	return &plugin;
}
