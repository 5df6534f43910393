#include "targets/mrvl/tools.h"

#include <errno.h>
#include <inttypes.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/file.h"
#include "ir/base/folder.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/options.h"
#include "targets/process.h"

struct tool_session {
	struct tool_job job;
	struct arena *arena;
	const char *folder;
	struct command_word word[NTOOL_WORDS];
	bool failed;
};

/* A tool at work. */
struct tool_call {
	const char *what, *template, *log;
	size_t nwords;
};

/* ---- running ---- */

static bool
fail(struct tool_session *s, struct tool_result *r, enum tool_outcome outcome,
    const char *detail)
{
	r->outcome = outcome;
	r->detail = detail;
	s->failed = true;
	return false;
}

/* false: the session is over, for better or worse. */
static bool
run_tool(struct tool_session *s, struct tool_result *r,
    const struct tool_call *call, struct err *err)
{
	const struct process_job job = {
	    command_expand(call->template, s->word, call->nwords, s->arena),
	    s->folder, call->log};
	struct process_end end;
	const char *words;

	if (!process_run(&end, &job, s->job.tools->timeout_ms, err))
		return false;
	words = process_last_words(&job, s->arena);
	switch (end.how) {
	case ENDED_WELL:
		return true;
	case ENDED_MISSING:
		return fail(s, r, TOOL_MISSING,
		    arena_printf(s->arena, "the %s is not there%s%s",
		        call->what, *words ? ": " : "", words));
	case ENDED_LATE:
		return fail(s, r, TOOL_TIMEOUT,
		    arena_printf(s->arena, "the %s was not done after %u ms",
		        call->what, s->job.tools->timeout_ms));
	case ENDED_BADLY:
		break;
	}
	return fail(s, r, end.status > 128 ? TOOL_CRASHED : TOOL_FAILED,
	    arena_printf(s->arena, "the %s ended with status %d%s%s",
	        call->what, end.status, *words ? ": " : "", words));
}

/* The last figure the expression finds in a log: totals come last. */
static double
last_figure(const char *log, const char *expression)
{
	regmatch_t m[2];
	double x = 0;
	regex_t r;

	if (regcomp(&r, expression, REG_EXTENDED | REG_NEWLINE) != 0)
		return 0; /* checked when the target was opened */
	while (regexec(&r, log, 2, m, 0) == 0 && m[0].rm_eo > 0) {
		if (m[1].rm_so >= 0)
			x = strtod(log + m[1].rm_so, NULL);
		log += m[0].rm_eo;
	}
	regfree(&r);
	return x;
}

static bool
read_latency(struct tool_session *s, struct tool_result *r, const char *log)
{
	const char *expression = s->job.tools->latency, *text;
	struct err err = {.kind = ERR_NONE};
	size_t n;

	if (!expression)
		return true;
	if (!file_read(&text, &n,
	        arena_printf(s->arena, "%s/%s", s->folder, log), LIMIT_READ_LOG,
	        s->arena, &err))
		return fail(s, r, TOOL_GARBAGE, arena_str(s->arena, err.text));
	r->latency = last_figure(text, expression);
	return (r->latency > 0
	           && r->latency * s->job.tools->ns_per_unit
	               <= (double)COST_MAX)
	    || fail(s, r, TOOL_GARBAGE,
	        arena_printf(s->arena,
	            "no latency in what it printed: nothing matches '%s'",
	            expression));
}

/* ---- files ---- */

static bool
write_json(struct tool_session *s, const char *path,
    void (*write)(FILE *, const struct layers *, struct arena *),
    struct err *err)
{
	FILE *f = fopen(path, "we");

	if (!f)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	write(f, s->job.layers, s->arena);
	return out_close(f, path, err);
}

/* All inputs behind one another, float32. */
static bool
write_inputs(struct tool_session *s, const float *const *in, struct err *err)
{
	const char *path = s->word[WORD_IN].value;
	FILE *f = fopen(path, "wbe");

	if (!f)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	for (uint32_t i = 0; i < s->job.layers->ninputs; i++)
		fwrite(in[i], sizeof **in,
		    dims_count(&s->job.layers->input[i].dims), f);
	return out_close(f, path, err);
}

static bool
read_binary(struct tool_session *s, struct tool_result *r)
{
	const struct mrvl *m = mrvl_of(s->job.target);
	const struct layers *l = s->job.layers;
	struct mrvl_binary *b = &r->binary;
	struct err err = {.kind = ERR_NONE};
	uint64_t tile, needs;
	const char *bytes;
	size_t n;

	if (!file_read(&bytes, &n, s->word[WORD_BIN].value, LIMIT_READ_BINARY,
	        s->arena, &err)
	    || !mrvl_binary_read(b, bytes, n, &err))
		return fail(s, r, TOOL_GARBAGE, arena_str(s->arena, err.text));
	if (b->ninputs != l->ninputs || b->noutputs != l->noutputs)
		return fail(s, r, TOOL_GARBAGE,
		    arena_printf(s->arena,
		        "the binary has %u inputs and %u outputs, the region "
		        "%u and %u",
		        b->ninputs, b->noutputs, l->ninputs, l->noutputs));
	tile = (uint64_t)m->params.param[PARAM_ocm_tile_bytes].value;
	needs = mrvl_binary_occupies(
	    b, tile, (uint64_t)m->params.param[PARAM_ocm_page_bytes].value);
	return needs <= tile
	    || fail(s, r, TOOL_FAILED,
	        arena_printf(s->arena,
	            "weights and scratch take %" PRIu64
	            " bytes of each tile, which has %" PRIu64,
	            needs, tile));
}

static bool
read_outputs(struct tool_session *s, struct tool_result *r, float *const *out)
{
	for (uint32_t i = 0; i < s->job.layers->noutputs; i++) {
		const struct layers *all = s->job.layers;
		const struct layer *l = &all->layer[all->output[i].from.index];
		size_t want = dims_count(&l->out) * sizeof **out, n;
		const char *path = arena_printf(
		    s->arena, "%s-%u.bin", s->word[WORD_OUT].value, i);
		struct err err = {.kind = ERR_NONE};
		const char *bytes;

		if (!file_read(
		        &bytes, &n, path, LIMIT_READ_BINARY, s->arena, &err))
			return fail(
			    s, r, TOOL_GARBAGE, arena_str(s->arena, err.text));
		if (n != want)
			return fail(s, r, TOOL_GARBAGE,
			    arena_printf(s->arena,
			        "output %u has %zu bytes, %zu are right", i, n,
			        want));
		memcpy(out[i], bytes, n);
	}
	return true;
}

/* ---- sessions ---- */

static void
set_words(struct tool_session *s)
{
	const struct layers *l = s->job.layers;
	const char *f = s->folder;
	struct arena *a = s->arena;
	struct command_word *w = s->word;

	memcpy(w, mrvl_tool_words, sizeof mrvl_tool_words);
	w[WORD_SYMBOL].value = l->symbol;
	w[WORD_NODES].value = arena_printf(a, "%s/%s-nodes.json", f, l->symbol);
	w[WORD_CONSTS].value =
	    arena_printf(a, "%s/%s-consts.json", f, l->symbol);
	w[WORD_OPTS].value = mrvl_compiler_options(mrvl_of(s->job.target), a);
	w[WORD_BATCH].value =
	    arena_printf(a, "%" PRIi64, l->input[l->ninputs - 1].dims.dim[0]);
	w[WORD_BIN].value =
	    arena_printf(a, "%s/bin_%s/%s.bin", f, l->symbol, l->symbol);
	w[WORD_IN].value = arena_printf(a, "%s/input.bin", f);
	w[WORD_OUT].value = arena_printf(a, "%s/mrvl_sim_out", f);
}

bool
tool_session_open(struct tool_session **out, struct tool_result *r,
    const struct tool_job *job, struct arena *a, struct err *err)
{
	struct tool_session *s = arena_new(a, struct tool_session, 1);
	const struct tool_call call = {
	    "compiler", job->tools->compiler, "compiler.log", WORD_IN};

	*out = s;
	*r = (struct tool_result){.outcome = TOOL_OK, .detail = ""};
	*s = (struct tool_session){.job = *job, .arena = a};
	s->folder = folder_new(job->tools->work, a, err);
	if (!s->folder)
		return false;
	set_words(s);
	if (write_json(s, s->word[WORD_NODES].value, mrvl_write_nodes, err)
	    && write_json(s, s->word[WORD_CONSTS].value, mrvl_write_consts, err)
	    && run_tool(s, r, &call, err) && read_binary(s, r)
	    && !job->tools->simulator)
		read_latency(s, r, call.log);
	return err->kind == ERR_NONE;
}

bool
tool_session_run(struct tool_session *s, struct tool_result *r,
    const float *const *in, float *const *out, struct err *err)
{
	const struct tool_call call = {
	    "simulator", s->job.tools->simulator, "simulator.log", NTOOL_WORDS};

	if (write_inputs(s, in, err) && run_tool(s, r, &call, err)
	    && read_outputs(s, r, out))
		read_latency(s, r, call.log);
	return err->kind == ERR_NONE;
}

void
tool_session_close(struct tool_session *s, struct tool_result *r)
{
	bool keep =
	    s->failed && s->job.tools->work && r->outcome != TOOL_MISSING;

	if (!s->folder)
		return;
	r->folder = keep ? s->folder : NULL;
	if (!keep)
		folder_remove(s->folder);
	s->folder = NULL;
}
