#include "targets/mrvl/tools.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ir/base/buf.h"
#include "ir/base/file.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/options.h"
#include "targets/mrvl/process.h"

/* SOURCE: command lines as python/tvm/contrib/mrvl.py of legacy-v0.19.post
 * makes them; {bin} is where its compiler leaves the binary. */
static const char default_compiler[] =
    "mrvl-tmlc -mn {symbol} -f1 {nodes} -f2 {consts} {opts} -b {batch}";
static const char default_simulator[] = "mrvl-mlsim -m {bin} -d {in} -o {out}";

#define BINARY_LIMIT ((size_t)1 << 30)

struct session {
	const struct mrvl_tools *tools;
	const struct target *target;
	const struct layers *layers;
	struct arena *arena;
	struct err *err;
	struct tool_result *result;
	const char *nodes, *consts, *bin, *in, *out;
};

/* ---- binaries ---- */

static uint64_t
little(const unsigned char *p, size_t n)
{
	uint64_t x = 0;

	while (n-- > 0)
		x = x << 8 | p[n];
	return x;
}

/* SOURCE: the metadata layout in DPDK's drivers/ml/cnxk/cn10k_ml_model.h:
 * 256 bytes of header, 256 of facts; offsets below are from the start. */
bool
mrvl_binary_read(
    struct mrvl_binary *out, const void *bytes, size_t n, struct err *err)
{
	const unsigned char *p = bytes;

	if (n < 512)
		return err_set(err, ERR_INPUT,
		    "binary of %zu bytes, its header alone has 512", n);
	if (memcmp(p, "MRVL", 4) != 0)
		return err_set(err, ERR_INPUT, "binary does not begin MRVL");
	if (little(p + 140, 4) != 128)
		return err_set(err, ERR_INPUT,
		    "binary is for architecture %" PRIu64 ", MLIP is 128",
		    little(p + 140, 4));
	if (p[4] != 2)
		return err_set(err, ERR_INPUT,
		    "binary's metadata is version %u, 2 is understood", p[4]);
	*out = (struct mrvl_binary){.bytes = n,
	    .code_bytes = (uint32_t)little(p + 324, 4),
	    .data_bytes = (uint32_t)little(p + 328, 4),
	    .first_tile = p[342],
	    .last_tile = p[343],
	    .batch = p[344],
	    .ninputs = p[345],
	    .noutputs = p[346],
	    .input_bytes = (uint32_t)little(p + 348, 4),
	    .output_bytes = (uint32_t)little(p + 352, 4),
	    .nlayers = (uint32_t)little(p + 360, 4),
	    .scratch_floor = little(p + 368, 8),
	    .wb_first = little(p + 376, 8),
	    .wb_last = little(p + 384, 8)};
	if (out->first_tile > out->last_tile || out->last_tile > 7)
		return err_set(err, ERR_INPUT, "binary is for tiles %u to %u",
		    out->first_tile, out->last_tile);
	return true;
}

/* ---- commands ---- */

static void
add_quoted(struct buf *b, const char *path)
{
	buf_str(b, "'");
	for (; *path; path++) {
		if (*path == '\'')
			buf_str(b, "'\\''");
		else
			buf_add(b, path, 1);
	}
	buf_str(b, "'");
}

/* What a {word} stands for goes into b; false when it is no word of ours. */
static bool
add_word(struct session *s, struct buf *b, const char *word, size_t n)
{
	const struct layers *l = s->layers;
	const struct {
		const char *word, *value;
		bool quoted;
	} words[] = {
	    {"symbol", l->symbol, true},
	    {"nodes", s->nodes, true},
	    {"consts", s->consts, true},
	    {"bin", s->bin, true},
	    {"in", s->in, true},
	    {"out", s->out, true},
	    {"opts", mrvl_compiler_options(mrvl_of(s->target), s->arena),
	        false},
	    {"batch",
	        arena_printf(
	            s->arena, "%" PRIi64, l->input[l->ninputs - 1].dims.dim[0]),
	        false},
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		if (strlen(words[i].word) != n
		    || memcmp(words[i].word, word, n) != 0)
			continue;
		if (words[i].quoted)
			add_quoted(b, words[i].value);
		else
			buf_str(b, words[i].value);
		return true;
	}
	return false;
}

static bool
expand(struct session *s, const char *template, const char **out)
{
	struct buf b;
	bool ok = true;

	buf_init(&b);
	for (const char *at = template; *at && ok;) {
		const char *end = *at == '{' ? strchr(at, '}') : NULL;

		if (!end) {
			buf_add(&b, at++, 1);
			continue;
		}
		ok = add_word(s, &b, at + 1, (size_t)(end - at - 1));
		if (!ok)
			err_set(s->err, ERR_USAGE,
			    "command template: unknown '%.*s'",
			    (int)(end - at + 1), at);
		at = end + 1;
	}
	*out = ok ? arena_strn(s->arena, b.data ? b.data : "", b.n) : "";
	buf_release(&b);
	return ok;
}

/* false: the session is over, for better or worse. */
static bool
run_tool(struct session *s, const char *template, const char *what)
{
	struct process_end end;
	const char *command;
	uint32_t timeout = s->tools->timeout_ms ? s->tools->timeout_ms : 60000;

	if (!expand(s, template, &command)
	    || !process_run(&end, command, s->result->folder, timeout, s->err))
		return false;
	switch (end.how) {
	case ENDED_WELL:
		return true;
	case ENDED_MISSING:
		s->result->outcome = TOOL_MISSING;
		s->result->detail =
		    arena_printf(s->arena, "the %s is not there", what);
		return false;
	case ENDED_LATE:
		s->result->outcome = TOOL_TIMEOUT;
		s->result->detail = arena_printf(
		    s->arena, "the %s was not done after %u ms", what, timeout);
		return false;
	case ENDED_BADLY:
		break;
	}
	s->result->outcome = TOOL_FAILED;
	s->result->detail =
	    arena_printf(s->arena, "the %s ended with status %d; see %s/log",
	        what, end.status, s->result->folder);
	return false;
}

/* ---- files ---- */

static bool
write_json(struct session *s, const char *path,
    void (*write)(FILE *, const struct layers *, struct arena *))
{
	FILE *f = fopen(path, "w");

	if (!f)
		return err_set(s->err, ERR_IO, "%s: %s", path, strerror(errno));
	write(f, s->layers, s->arena);
	return out_close(f, path, s->err);
}

/* All inputs behind one another, float32. */
static bool
write_inputs(struct session *s, const float *const *in)
{
	FILE *f = fopen(s->in, "wb");

	if (!f)
		return err_set(
		    s->err, ERR_IO, "%s: %s", s->in, strerror(errno));
	for (uint32_t i = 0; i < s->layers->ninputs; i++)
		fwrite(in[i], sizeof **in,
		    dims_count(&s->layers->input[i].dims), f);
	return out_close(f, s->in, s->err);
}

static bool
garbage(struct session *s, const char *what)
{
	s->result->outcome = TOOL_GARBAGE;
	s->result->detail = arena_str(s->arena, what);
	return false;
}

static bool
read_binary(struct session *s)
{
	struct err err = {.kind = ERR_NONE};
	const char *bytes;
	size_t n;

	if (!file_read(&bytes, &n, s->bin, BINARY_LIMIT, s->arena, &err)
	    || !mrvl_binary_read(&s->result->binary, bytes, n, &err))
		return garbage(s, err.text);
	return true;
}

static bool
read_outputs(struct session *s, float *const *out)
{
	for (uint32_t i = 0; i < s->layers->noutputs; i++) {
		const struct layer *l =
		    &s->layers->layer[s->layers->output[i].from.index];
		size_t want = dims_count(&l->out) * sizeof **out, n;
		const char *path =
		    arena_printf(s->arena, "%s-%u.bin", s->out, i);
		struct err err = {.kind = ERR_NONE};
		const char *bytes;

		if (!file_read(&bytes, &n, path, BINARY_LIMIT, s->arena, &err))
			return garbage(s, err.text);
		if (n != want)
			return garbage(s,
			    arena_printf(s->arena,
			        "output %u has %zu bytes, %zu are right", i, n,
			        want));
		memcpy(out[i], bytes, n);
	}
	return true;
}

static bool
make_folder(struct session *s)
{
	char *path = arena_printf(s->arena, "%s/marq-mrvl-XXXXXX",
	    s->tools->work ? s->tools->work : "/tmp");

	if (!mkdtemp(path))
		return err_set(s->err, ERR_IO, "%s: %s", path, strerror(errno));
	s->result->folder = path;
	s->nodes =
	    arena_printf(s->arena, "%s/%s-nodes.json", path, s->layers->symbol);
	s->consts = arena_printf(
	    s->arena, "%s/%s-consts.json", path, s->layers->symbol);
	s->bin = arena_printf(s->arena, "%s/bin_%s/%s.bin", path,
	    s->layers->symbol, s->layers->symbol);
	s->in = arena_printf(s->arena, "%s/input.bin", path);
	s->out = arena_printf(s->arena, "%s/mrvl_sim_out", path);
	return true;
}

/* Only what was made here and what the tools are known to leave. */
static void
remove_folder(struct session *s)
{
	const char *folder = s->result->folder;

	unlink(s->nodes);
	unlink(s->consts);
	unlink(s->bin);
	unlink(s->in);
	unlink(arena_printf(s->arena, "%s/log", folder));
	rmdir(arena_printf(s->arena, "%s/bin_%s", folder, s->layers->symbol));
	for (uint32_t i = 0; i < s->layers->noutputs; i++)
		unlink(arena_printf(s->arena, "%s-%u.bin", s->out, i));
	rmdir(folder);
	s->result->folder = NULL;
}

static bool
use_tools(struct session *s, const float *const *in, float *const *out)
{
	const struct mrvl_tools *t = s->tools;

	if (!write_json(s, s->nodes, mrvl_write_nodes)
	    || !write_json(s, s->consts, mrvl_write_consts)
	    || !run_tool(
	        s, t->compiler ? t->compiler : default_compiler, "compiler")
	    || !read_binary(s))
		return false;
	if (!in)
		return true;
	return write_inputs(s, in)
	    && run_tool(
	        s, t->simulator ? t->simulator : default_simulator, "simulator")
	    && read_outputs(s, out);
}

bool
mrvl_tools_run(struct tool_result *result, const struct mrvl_tools *t,
    const struct tool_job *job, struct arena *a, struct err *err)
{
	struct session s = {.tools = t,
	    .target = job->target,
	    .layers = job->layers,
	    .arena = a,
	    .err = err,
	    .result = result};

	*result = (struct tool_result){.outcome = TOOL_OK, .detail = ""};
	if (!make_folder(&s))
		return false;
	if (use_tools(&s, job->in, job->out) || result->outcome == TOOL_MISSING)
		remove_folder(&s);
	return err->kind == ERR_NONE;
}
