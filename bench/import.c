/* How long a model of 500 MB takes to import, and how much memory that takes,
 * against protobuf-c unpacking the same file. Each way runs in processes of
 * its own; the best of five counts, the file being in the page cache.
 * usage: bench_import [FOLDER]   (needs 500 MB there; default /tmp) */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/base/clock.h"
#include "ir/base/file.h"
#include "ir/onnx.pb-c.h"
#include "ir/onnx_read.h"
#include "ir/onnx_write.h"

#define RUNS 5
#define TOTAL_BYTES ((size_t)500 << 20)

struct result {
	double ms, anon_mb, rss_mb; /* time; memory at the end */
};

/* A line of /proc/self/status in megabytes. */
static double
memory_mb(const char *key)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[256];
	long kb = 0;

	while (f && fgets(line, sizeof line, f))
		if (strncmp(line, key, strlen(key)) == 0)
			kb = strtol(line + strlen(key) + 1, NULL, 10);
	if (f)
		fclose(f);
	return (double)kb / 1024;
}

/* A chain of additions of `ntensors` weights that sum to TOTAL_BYTES. */
static struct graph *
make_graph(struct arena *a, uint32_t ntensors)
{
	struct graph *g = graph_new(a, "big");
	int64_t *dim = arena_new(a, int64_t, 1);
	struct type type = {
	    .kind = TYPE_TENSOR, .dtype = DT_FLOAT, .rank = 1, .dim = dim};
	value_id *ends = arena_new(a, value_id, 2);
	float half = 0.5f;

	dim[0] = (int64_t)(TOTAL_BYTES / ntensors / sizeof half);
	ends[0] = ends[1] = graph_add_value(g, "x", &type);
	for (uint32_t i = 0; i < ntensors; i++) {
		struct tensor *w = arena_new(a, struct tensor, 1);
		value_id *io = arena_new(a, value_id, 3);
		struct node n = {.op = OP_ADD,
		    .op_type = "Add",
		    .domain = "",
		    .name = "",
		    .ninputs = 2,
		    .noutputs = 1,
		    .input = io,
		    .output = io + 2};

		*w = tensor_fill(DT_FLOAT, 1, dim, &half);
		io[0] = ends[1];
		io[1] = graph_add_constant(g, arena_printf(a, "w%u", i), w);
		io[2] = graph_add_value(g, arena_printf(a, "y%u", i), &type);
		graph_add_node(g, &n);
		ends[1] = io[2];
	}
	g->input = ends;
	g->output = ends + 1;
	g->ninputs = g->noutputs = 1;
	return g;
}

static bool
write_graph(FILE *f, void *context, struct err *err)
{
	const struct onnx_opset opset = {"", 13};
	const struct onnx_out out = {
	    .graph = context, .ir_version = 8, .nopsets = 1, .opset = &opset};

	return onnx_write(f, &out, err);
}

static bool
import_once(const char *path)
{
	struct err err = {.kind = ERR_NONE};
	struct model m;
	struct arena a;

	arena_init(&a);
	return onnx_read(&m, path, NULL, &a, &err);
}

static bool
unpack_once(const char *path)
{
	struct err err = {.kind = ERR_NONE};
	struct mapped_file f;

	return file_map(&f, path, &err)
	    && onnx__model_proto__unpack(NULL, f.bytes, f.data);
}

static bool
run_once(bool (*way)(const char *path), const char *path, struct result *r)
{
	int pipes[2], status = 1;
	pid_t pid;

	if (pipe(pipes) != 0)
		return false;
	pid = fork();
	if (pid == 0) {
		uint64_t start = clock_ns();
		bool ok = way(path);

		r->ms = (double)(clock_ns() - start) / 1e6;
		r->anon_mb = memory_mb("RssAnon:");
		r->rss_mb = memory_mb("VmRSS:");
		ok = ok && write(pipes[1], r, sizeof *r) == sizeof *r;
		_exit(!ok);
	}
	close(pipes[1]);
	status = read(pipes[0], r, sizeof *r) != sizeof *r;
	close(pipes[0]);
	waitpid(pid, NULL, 0);
	return status == 0;
}

static bool
best_of(bool (*way)(const char *path), const char *path, struct result *best)
{
	struct result r = {0, 0, 0};

	for (unsigned i = 0; i < RUNS; i++) {
		if (!run_once(way, path, &r))
			return false;
		if (i == 0 || r.ms < best->ms)
			*best = r;
	}
	return true;
}

static bool
compare(const char *folder, uint32_t ntensors)
{
	struct err err = {.kind = ERR_NONE};
	struct result ours, plain;
	char path[4096];
	struct arena a;
	bool ok;

	snprintf(path, sizeof path, "%s/marq-bench-import-%ld.onnx", folder,
	    (long)getpid());
	arena_init(&a);
	ok = file_write(path, write_graph, make_graph(&a, ntensors), &err);
	arena_release(&a);
	if (!ok)
		fprintf(stderr, "%s\n", err.text);
	ok = ok && best_of(import_once, path, &ours)
	    && best_of(unpack_once, path, &plain);
	unlink(path);
	if (!ok)
		return false;
	printf("%6u tensors of %7zu bytes: import %8.2f ms %7.1f MB private, "
	       "protobuf-c %8.2f ms %7.1f MB private; %.0f times faster, "
	       "%.0f times smaller\n",
	    ntensors, TOTAL_BYTES / ntensors, ours.ms, ours.anon_mb, plain.ms,
	    plain.anon_mb, plain.ms / ours.ms, plain.anon_mb / ours.anon_mb);
	return true;
}

int
main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "/tmp";

	return !(compare(folder, 100) && compare(folder, 50000));
}
