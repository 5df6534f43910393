/* OpenVINO's CPU device as a plug-in of marq, through its C interface. Loads the
 * library when it is opened, and finds each function by its name. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* dladdr */
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <marq_plugin.h>
#include <openvino/c/openvino.h>

#include "plugins/common/fail.h"
#include "plugins/common/origin.h"
#include "plugins/common/runtime.h"

/* The oldest whose package of Python has the library for C. */
#define OLDEST 2024.6

static const char about[] =
    "{\"format\": \"marq-plugin\", \"version\": 1, \"name\": \"openvino\","
    " \"summary\": \"OpenVINO, CPU device\","
    " \"options\": [{\"name\": \"library\", \"values\": \"<path>\","
    "   \"default\": \"\", \"help\": \"its C library; else "
    "libopenvino_c.so, else the package of the python3 on PATH\"},"
    "  {\"name\": \"precision\", \"values\": \"f32|bf16|f16\","
    "   \"default\": \"f32\", \"help\": \"of arithmetic\"},"
    "  {\"name\": \"blob\", \"values\": \"0|1\", \"default\": \"0\","
    "   \"help\": \"write what it compiled beside each model\"}],"
    " \"unpriced\": [\"blob\"],"
    " \"rules\": [{\"name\": \"openvino.node\", \"pattern\": \"op\"}],"
    " \"matches\": \"gaps\", \"regions\": true, \"authored\": true,"
    " \"compile_ms\": 300,"
    " \"opsets\": {\"\": [7, 24], \"com.microsoft\": [1, 1]}}";

/* What is used of the library. */
#define FUNCTIONS(F) \
	F(ov_get_openvino_version) \
	F(ov_version_free) \
	F(ov_core_create) \
	F(ov_core_free) \
	F(ov_core_read_model_from_memory_buffer) \
	F(ov_core_compile_model) \
	F(ov_model_free) \
	F(ov_compiled_model_free) \
	F(ov_compiled_model_create_infer_request) \
	F(ov_compiled_model_inputs_size) \
	F(ov_compiled_model_outputs_size) \
	F(ov_compiled_model_input_by_index) \
	F(ov_compiled_model_output_by_index) \
	F(ov_output_const_port_free) \
	F(ov_port_get_element_type) \
	F(ov_infer_request_free) \
	F(ov_infer_request_infer) \
	F(ov_infer_request_get_profiling_info) \
	F(ov_profiling_info_list_free) \
	F(ov_compiled_model_export_model) \
	F(ov_infer_request_set_input_tensor_by_index) \
	F(ov_infer_request_set_output_tensor_by_index) \
	F(ov_tensor_create_from_host_ptr) \
	F(ov_tensor_get_byte_size) \
	F(ov_tensor_free) \
	F(ov_get_last_err_msg) \
	F(ov_free)

struct marq_target {
	void *library;
	ov_core_t *core;
	const char *precision;
	int blob; /* is to be written */
	char version[64];
#define DECLARE(f) __typeof__(f) *f;
	FUNCTIONS(DECLARE)
#undef DECLARE
};

#define MAX_RANK 8

struct vino_port {
	ov_tensor_t *tensor;
	const void *at;
	int64_t dim[MAX_RANK];
	int64_t rank;
	uint64_t bytes;
	ov_element_type_e type; /* in the library's numbers: they changed */
};

struct marq_program {
	struct marq_target *target;
	ov_compiled_model_t *model;
	ov_infer_request_t *request;
	uint32_t nnodes, nin, nout;
	struct vino_port *in, *out; /* [nin], [nout] */
};

static const struct runtime runtime = {
    "libopenvino_c.so", "openvino/libs/libopenvino_c.so*"};

/* A status as ours; reasons are of several lines, the last one the cause. */
static marq_status
status_of(const struct marq_target *t, ov_status_e s, struct marq_error *e)
{
	const char *text;

	if (s == OK)
		return MARQ_OK;
	text = t->ov_get_last_err_msg();
	fail(MARQ_FAILED, e, "OpenVINO: %s",
	    text != NULL && *text != '\0' ? text : "no reason given");
	t->ov_free(text);
	return MARQ_FAILED;
}

#define TRY(t, e, call) \
	do { \
		marq_status try_ = status_of((t), (call), (e)); \
		if (try_ != MARQ_OK) \
			return try_; \
	} while (0)

/* ---- the library ---- */

/* The first function it does not have; NULL: it has all. */
static const char *
find_functions(struct marq_target *t)
{
#define FIND(f) \
	{ \
		union { \
			void *symbol; \
			__typeof__(f) *call; \
		} at = {.symbol = dlsym(t->library, #f)}; \
		if (at.symbol == NULL) \
			return #f; \
		t->f = at.call; \
	}
	FUNCTIONS(FIND)
#undef FIND
	return NULL;
}

static marq_status
take_version(struct marq_target *t, struct marq_error *e)
{
	ov_version_t v;

	TRY(t, e, t->ov_get_openvino_version(&v));
	snprintf(t->version, sizeof t->version, "%s", v.buildNumber);
	t->ov_version_free(&v);
	return strtod(t->version, NULL) >= OLDEST
	    ? MARQ_OK
	    : fail(MARQ_UNAVAILABLE, e,
	        "OpenVINO %s is too old: %.1f or newer is needed", t->version,
	        OLDEST);
}

static marq_status
start(struct marq_target *t, const char *path, struct marq_error *e)
{
	const char *missing;
	marq_status s;

	t->library = runtime_load(&runtime, path);
	if (t->library == NULL)
		return fail(MARQ_UNAVAILABLE, e,
		    "OpenVINO is not here%s%s; pip install openvino, or name "
		    "its libopenvino_c.so: library=PATH",
		    *path != '\0' ? ": " : "", path);
	missing = find_functions(t);
	if (missing != NULL)
		return fail(MARQ_UNAVAILABLE, e,
		    "the library is too old, or not OpenVINO's for C: it has "
		    "no %s; %.1f or newer is needed",
		    missing, OLDEST);
	s = take_version(t, e);
	return s != MARQ_OK ? s : status_of(t, t->ov_core_create(&t->core), e);
}

static void
vino_close(struct marq_target *t)
{
	if (t != NULL && t->core != NULL)
		t->ov_core_free(t->core);
	free(t);
}

static const char *
precision_of(const char *value)
{
	static const char *const all[] = {"bf16", "f16"};

	for (size_t i = 0; i < 2; i++)
		if (strcmp(value, all[i]) == 0)
			return all[i];
	return "f32";
}

static marq_status
vino_open(const struct marq_option *const *option, uint32_t noptions,
    const struct marq_sink *sink, struct marq_target **out,
    struct marq_error *e)
{
	struct marq_target *t = calloc(1, sizeof *t);
	const char *path = "";
	marq_status s;

	(void)sink;
	if (t == NULL)
		return fail(MARQ_NO_MEMORY, e, "no memory");
	t->precision = "f32";
	for (uint32_t i = 0; i < noptions; i++) {
		if (strcmp(option[i]->name, "library") == 0)
			path = option[i]->value;
		if (strcmp(option[i]->name, "precision") == 0)
			t->precision = precision_of(option[i]->value);
		if (strcmp(option[i]->name, "blob") == 0)
			t->blob = option[i]->value[0] == '1';
	}
	s = start(t, path, e);
	if (s != MARQ_OK)
		vino_close(t);
	else
		*out = t;
	return s;
}

static marq_status
vino_environment(
    struct marq_target *t, const struct marq_sink *sink, struct marq_error *e)
{
	union {
		__typeof__(ov_core_create) *call;
		void *symbol;
	} of = {.call = t->ov_core_create};
	Dl_info info;

	(void)e;
	sink->fact(sink->context, "openvino_version", t->version);
	if (dladdr(of.symbol, &info) != 0)
		sink->fact(sink->context, "openvino_file", info.dli_fname);
	return MARQ_OK;
}

/* ---- compiling ---- */

static void
release_bound(const struct marq_target *t, struct vino_port *b)
{
	if (b->tensor != NULL)
		t->ov_tensor_free(b->tensor);
	b->tensor = NULL;
}

static void
vino_release(struct marq_program *p)
{
	const struct marq_target *t;

	if (p == NULL)
		return;
	t = p->target;
	if (p->request != NULL)
		t->ov_infer_request_free(p->request);
	for (uint32_t i = 0; p->in != NULL && i < p->nin; i++)
		release_bound(t, &p->in[i]);
	for (uint32_t i = 0; p->out != NULL && i < p->nout; i++)
		release_bound(t, &p->out[i]);
	free(p->in);
	free(p->out);
	if (p->model != NULL)
		t->ov_compiled_model_free(p->model);
	free(p);
}

static marq_status
copy_ports(struct vino_port *to, const struct marq_port *const *port,
    uint32_t n, struct marq_error *e)
{
	for (uint32_t i = 0; i < n; i++) {
		if (port[i]->rank > MAX_RANK)
			return fail(MARQ_REFUSED, e, "rank is %u, at most %d",
			    port[i]->rank, MAX_RANK);
		to[i].rank = port[i]->rank;
		to[i].bytes = port[i]->bytes;
		memcpy(
		    to[i].dim, port[i]->dim, port[i]->rank * sizeof(int64_t));
	}
	return MARQ_OK;
}

#define SETTINGS 12 /* names and values of those that are always told */

/* Threads are told by number, and then pinned unless told otherwise; bf16 is
 * taken by itself where the processor has it. Chains of elementwise operators are
 * compiled as one, which fails where they need more registers than there are: then
 * without that. */
static ov_status_e
compile_model(struct marq_program *p, const ov_model_t *model,
    const struct marq_settings *with)
{
	const struct marq_target *t = p->target;
	ov_status_e s = OK;
	char threads[16];

	snprintf(threads, sizeof threads, "%u", with->threads);
	for (size_t more = 0; more <= 2; more += 2) {
		s = t->ov_core_compile_model(t->core, model, "CPU",
		    SETTINGS + more, &p->model, "INFERENCE_NUM_THREADS",
		    threads, "PERFORMANCE_HINT", "LATENCY", "NUM_STREAMS", "1",
		    "INFERENCE_PRECISION_HINT", t->precision,
		    "ENABLE_CPU_PINNING", "NO", "PERF_COUNT",
		    with->purpose == MARQ_TO_MAP ? "YES" : "NO",
		    "SNIPPETS_MODE", "DISABLE");
		if (s == OK)
			break;
	}
	return s;
}

static marq_status
make_model(struct marq_program *p, const struct marq_region *r,
    const struct marq_settings *with, struct marq_error *e)
{
	struct marq_target *t = p->target;
	ov_model_t *model = NULL;
	marq_status s;

	TRY(t, e,
	    t->ov_core_read_model_from_memory_buffer(
	        t->core, r->model, (size_t)r->model_bytes, NULL, &model));
	s = status_of(t, compile_model(p, model, with), e);
	t->ov_model_free(model);
	return s != MARQ_OK ? s
	                    : status_of(t,
	                        t->ov_compiled_model_create_infer_request(
	                            p->model, &p->request),
	                        e);
}

typedef __typeof__(ov_compiled_model_input_by_index) port_getter;

static marq_status
take_types(struct marq_program *p, struct vino_port *to, uint32_t n,
    port_getter *port_of, struct marq_error *e)
{
	const struct marq_target *t = p->target;

	for (uint32_t i = 0; i < n; i++) {
		ov_output_const_port_t *port = NULL;
		marq_status s;

		TRY(t, e, port_of(p->model, i, &port));
		s = status_of(
		    t, t->ov_port_get_element_type(port, &to[i].type), e);
		t->ov_output_const_port_free(port);
		if (s != MARQ_OK)
			return s;
	}
	return MARQ_OK;
}

/* Ports are known by their place: it must not have dropped any. */
static marq_status
check_ports(struct marq_program *p, struct marq_error *e)
{
	const struct marq_target *t = p->target;
	size_t nin = 0, nout = 0;
	marq_status s;

	TRY(t, e, t->ov_compiled_model_inputs_size(p->model, &nin));
	TRY(t, e, t->ov_compiled_model_outputs_size(p->model, &nout));
	if (nin != p->nin || nout != p->nout)
		return fail(MARQ_REFUSED, e,
		    "OpenVINO: %zu inputs and %zu outputs of %u and %u", nin,
		    nout, p->nin, p->nout);
	s = take_types(
	    p, p->in, p->nin, t->ov_compiled_model_input_by_index, e);
	return s != MARQ_OK ? s
	                    : take_types(p, p->out, p->nout,
	                        t->ov_compiled_model_output_by_index, e);
}

static marq_status
fill_program(struct marq_program *p, const struct marq_region *r,
    const struct marq_settings *with, struct marq_error *e)
{
	marq_status s = copy_ports(p->in, r->input, r->ninputs, e);

	if (s == MARQ_OK)
		s = copy_ports(p->out, r->output, r->noutputs, e);
	if (s == MARQ_OK)
		s = make_model(p, r, with, e);
	if (s == MARQ_OK)
		s = check_ports(p, e);
	/* What it cannot load, it cannot take. */
	return s == MARQ_FAILED ? MARQ_REFUSED : s;
}

static marq_status
vino_compile(struct marq_target *t, const struct marq_region *r,
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
	p->nin = r->ninputs;
	p->nout = r->noutputs;
	p->in = calloc(p->nin + 1, sizeof *p->in);
	p->out = calloc(p->nout + 1, sizeof *p->out);
	s = p->in != NULL && p->out != NULL
	    ? fill_program(p, r, with, e)
	    : fail(MARQ_NO_MEMORY, e, "no memory");
	if (s != MARQ_OK)
		vino_release(p);
	else
		*out = p;
	return s;
}

/* ---- running ---- */

typedef __typeof__(ov_infer_request_set_input_tensor_by_index) tensor_setter;

static marq_status
bind(struct marq_program *p, struct vino_port *b, uint32_t i,
    tensor_setter *set, const void *at, struct marq_error *e)
{
	const struct marq_target *t = p->target;
	ov_shape_t shape = {b->rank, b->dim};
	size_t bytes = 0;

	if (b->tensor != NULL && b->at == at)
		return MARQ_OK;
	release_bound(t, b);
	TRY(t, e,
	    t->ov_tensor_create_from_host_ptr(
	        b->type, shape, (void *)(uintptr_t)at, &b->tensor));
	TRY(t, e, t->ov_tensor_get_byte_size(b->tensor, &bytes));
	if (bytes != b->bytes)
		return fail(MARQ_FAILED, e,
		    "OpenVINO: a port of %zu bytes instead of %llu", bytes,
		    (unsigned long long)b->bytes);
	b->at = at;
	return status_of(t, set(p->request, i, b->tensor), e);
}

static marq_status
vino_execute(struct marq_program *p, const void *const *in, void *const *out,
    struct marq_error *e)
{
	const struct marq_target *t = p->target;
	marq_status s = MARQ_OK;

	for (uint32_t i = 0; i < p->nin && s == MARQ_OK; i++)
		s = bind(p, &p->in[i], i,
		    t->ov_infer_request_set_input_tensor_by_index, in[i], e);
	for (uint32_t i = 0; i < p->nout && s == MARQ_OK; i++)
		s = bind(p, &p->out[i], i,
		    t->ov_infer_request_set_output_tensor_by_index, out[i], e);
	return s != MARQ_OK
	    ? s
	    : status_of(t, t->ov_infer_request_infer(p->request), e);
}

/* ---- what it made of a region ---- */

static void
tell_layer(const struct marq_program *p, const ov_profiling_info_t *o,
    const struct marq_sink *sink)
{
	uint32_t node[64];
	const struct marq_layer l = {.size = sizeof l,
	    .node = node,
	    .nnodes = origin_nodes(o->node_name, p->nnodes, node, 64),
	    .name = o->node_name,
	    .type = o->node_type,
	    .implementation = o->exec_type};

	sink->layer(sink->context, &l);
}

/* What was optimised away is no operation of its. */
static marq_status
vino_layers(
    struct marq_program *p, const struct marq_sink *sink, struct marq_error *e)
{
	const struct marq_target *t = p->target;
	ov_profiling_info_list_t list = {NULL, 0};

	TRY(t, e, t->ov_infer_request_get_profiling_info(p->request, &list));
	for (size_t i = 0; i < list.size; i++)
		if (list.profiling_infos[i].status == EXECUTED)
			tell_layer(p, &list.profiling_infos[i], sink);
	t->ov_profiling_info_list_free(&list);
	return MARQ_OK;
}

/* The file that the library wrote, into the sink. */
static marq_status
give_blob(int fd, const struct marq_sink *sink, struct marq_error *e)
{
	off_t n = lseek(fd, 0, SEEK_END);
	void *bytes = n > 0
	    ? mmap(NULL, (size_t)n, PROT_READ, MAP_PRIVATE, fd, 0)
	    : MAP_FAILED;

	if (bytes == MAP_FAILED)
		return fail(MARQ_FAILED, e, "OpenVINO: no blob was written");
	sink->file(sink->context, "blob", bytes, (uint64_t)n);
	munmap(bytes, (size_t)n);
	return MARQ_OK;
}

static marq_status
vino_emit(struct marq_target *t, const struct marq_region *r,
    const struct marq_settings *with, const struct marq_sink *sink,
    struct marq_error *e)
{
	const char *folder = getenv("TMPDIR");
	struct marq_program *p;
	char path[4096];
	marq_status s;
	int fd;

	if (!t->blob)
		return MARQ_OK;
	snprintf(path, sizeof path, "%s/marq_openvino_XXXXXX",
	    folder != NULL && *folder != '\0' ? folder : "/tmp");
	fd = mkstemp(path);
	if (fd < 0)
		return fail(MARQ_FAILED, e, "%s: cannot create", path);
	s = vino_compile(t, r, with, &p, e);
	if (s == MARQ_OK) {
		s = status_of(
		    t, t->ov_compiled_model_export_model(p->model, path), e);
		vino_release(p);
	}
	if (s == MARQ_OK)
		s = give_blob(fd, sink, e);
	close(fd);
	unlink(path);
	return s;
}

static const struct marq_plugin plugin = {
    .size = sizeof plugin,
    .minor = MARQ_PLUGIN_MINOR,
    .about = about,
    .open = vino_open,
    .close = vino_close,
    .environment = vino_environment,
    .compile = vino_compile,
    .release = vino_release,
    .execute = vino_execute,
    .layers = vino_layers,
    .emit = vino_emit,
};

const struct marq_plugin *
marq_plugin_1(uint32_t host_minor)
{
	(void)host_minor;
	return &plugin;
}
