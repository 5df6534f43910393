#include "targets/plugin/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ir/base/memory.h"
#include "targets/plugin/greet.h"
#include "targets/plugin/manners.h"
#include "targets/plugin/region.h"
#include "targets/threads.h"

/* What runs it: a kernel's state. */
struct program {
	const struct plugin *of;
	struct marq_program *handle;
	size_t *in_bytes, *out_bytes;
	uint32_t ninputs, noutputs;
	bool has_run, alone;
};

/* ---- the backend in this process ---- */

struct opened {
	struct marq_plugin plugin;
	struct marq_target *target;
	long process;
	bool has_compiled;
	struct opened *next;
};

/* Those of this process, until it ends: opening takes long, and whoever runs
 * programs goes on to compile others. */
static struct opened *all_open;

static void
close_all(void)
{
	for (struct opened *o = all_open, *next; o; o = next) {
		next = o->next;
		if (o->process == (long)getpid())
			o->plugin.close(o->target);
		free(o);
	}
	all_open = NULL;
}

/* What is loaded later ends earlier: a backend is closed before its libraries end
 * only by what was registered behind them, and some are loaded when the first
 * region is compiled. The first to be called closes all. */
static void
close_before_libraries(void)
{
	atexit(close_all);
}

static bool
open_here(struct opened *o, const struct target *t, struct err *err)
{
	const struct plugin *p = t->state;

	if (!library_load(&o->plugin, p->path, err)
	    || !library_open(
	        &o->plugin, t->option, t->noptions, &o->target, err))
		return err_in(err, "%s", p->kind.name);
	close_before_libraries();
	o->process = (long)getpid();
	o->next = all_open;
	all_open = o;
	return true;
}

/* Anew behind a fork: threads and devices do not come along. */
bool
program_open(const struct target *t, struct err *err)
{
	const struct plugin *p = t->state;
	struct opened *o = p->session->open;

	if (o && o->process == (long)getpid())
		return true;
	o = memory_get(sizeof *o);
	*o = (struct opened){.target = NULL};
	if (!open_here(o, t, err)) {
		free(o);
		return false;
	}
	p->session->open = o;
	return true;
}

/* ---- running ---- */

/* A plan ends with the fault; a measuring process ends, which costs the
 * candidate: what was done to it cannot be trusted to be undone. */
static void
give_up(struct kernel *k, const struct err *err)
{
	if (k->fault) {
		*k->fault = *err;
		return;
	}
	fprintf(stderr, "%s\n", err->text);
	fflush(stderr);
	_exit(KERNEL_MISBEHAVED);
}

static bool
execute(const struct program *p, const void *const *in, void *const *out,
    struct err *err)
{
	struct said said;
	marq_status status;

	said_init(&said);
	status = p->of->session->open->plugin.execute(
	    p->handle, in, out, &said.error);
	return status == MARQ_OK
	    || err_set(err, ERR_TARGET, "%s: execute: %s", p->of->kind.name,
	        said_line(&said, status));
}

static bool
execute_watched(const struct program *p, const void *const *in,
    void *const *out, struct err *err)
{
	struct manners m = {.ninputs = p->ninputs,
	    .noutputs = p->noutputs,
	    .in = in,
	    .out = out,
	    .in_bytes = p->in_bytes,
	    .out_bytes = p->out_bytes,
	    .may_spin = p->of->greeting->about.spins || p->alone};
	bool ran;

	manners_before(&m);
	ran = execute(p, in, out, err);
	if (!ran) {
		struct err more = {.kind = ERR_NONE};

		manners_after(&m, &more);
		return false;
	}
	return manners_after(&m, err)
	    || err_in(err, "%s: execute", p->of->kind.name);
}

static void
run(struct kernel *k, const void *const *in, void *const *out)
{
	struct program *p = k->state;
	struct err err = {.kind = ERR_NONE};
	bool ok = p->has_run ? execute(p, in, out, &err)
	                     : execute_watched(p, in, out, &err);

	p->has_run = true;
	if (!ok)
		give_up(k, &err);
}

static void
release(struct kernel *k)
{
	struct program *p = k->state;

	p->of->session->open->plugin.release(p->handle);
}

/* ---- compiling ---- */

static size_t *
bytes_of(const struct marq_port *const *port, uint32_t n, struct arena *a)
{
	size_t *bytes = arena_new(a, size_t, n);

	for (uint32_t i = 0; i < n; i++)
		bytes[i] = (size_t)port[i]->bytes;
	return bytes;
}

static bool
is_alone(const struct candidate *c)
{
	return c->implementation & REGION_ALONE;
}

static struct marq_settings
settings_for(const struct candidate *c, uint32_t purpose)
{
	return (struct marq_settings){.size = sizeof(struct marq_settings),
	    .threads = target_threads(),
	    .purpose = purpose,
	    .alone = is_alone(c)};
}

static bool
compile(struct program *p, const struct marq_region *r,
    const struct marq_settings *settings, struct err *err)
{
	struct opened *s = p->of->session->open;
	struct said said;
	marq_status status;

	said_init(&said);
	status =
	    s->plugin.compile(s->target, r, settings, &p->handle, &said.error);
	if (!s->has_compiled)
		close_before_libraries();
	s->has_compiled = true;
	if (status == MARQ_OK && !p->handle)
		return err_set(
		    err, ERR_UNSUPPORTED, "compile: it gives no program");
	return status == MARQ_OK
	    || err_set(
	        err, ERR_UNSUPPORTED, "%.160s", said_line(&said, status));
}

bool
program_compile(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	const struct marq_settings settings = settings_for(c, MARQ_TO_PRICE);
	struct program *p = arena_new(a, struct program, 1);
	struct given_region r;
	bool ok;

	p->of = t->state;
	p->alone = is_alone(c);
	if (!program_open(t, err))
		return false;
	ok = region_give(&r, &p->of->greeting->about, g, c, a, err)
	    && compile(p, &r.region, &settings, err);
	if (ok) {
		p->ninputs = r.region.ninputs;
		p->noutputs = r.region.noutputs;
		p->in_bytes = bytes_of(r.region.input, p->ninputs, a);
		p->out_bytes = bytes_of(r.region.output, p->noutputs, a);
		*out = (struct kernel){.kind = t->kind,
		    .candidate = c,
		    .run = run,
		    .release = release,
		    .state = p};
	}
	region_release(&r);
	return ok || err_in(err, "%s", p->of->kind.name);
}

/* ---- what it makes of a region ---- */

/* A call other than those that run: what went wrong in words. */
static bool
is_done(
    marq_status status, struct said *said, const char *call, struct err *err)
{
	return status == MARQ_OK
	    || err_set(err, ERR_UNSUPPORTED, "%s: %.160s", call,
	        said_line(said, status));
}

static void
one_layer(
    const struct marq_region *r, const struct marq_sink *sink, struct arena *a)
{
	uint32_t *node = arena_new(a, uint32_t, r->nnodes);
	const struct marq_layer all = {.size = sizeof all,
	    .nnodes = r->nnodes,
	    .node = node,
	    .name = r->name,
	    .type = ""};

	for (uint32_t i = 0; i < r->nnodes; i++)
		node[i] = i;
	sink->layer(sink->context, &all);
}

static void **
zeros(const struct marq_port *const *port, uint32_t n, struct arena *a)
{
	void **at = arena_new(a, void *, n);

	for (uint32_t i = 0; i < n; i++)
		at[i] = arena_alloc(a, (size_t)port[i]->bytes + 256);
	return at;
}

/* Layers of a region's model told by the candidate's nodes. */
struct telling {
	const struct marq_sink *to;
	const struct given_region *r;
	struct arena *arena;
};

/* Of a node of the region's model; how many. */
static uint32_t
places_of(const struct telling *t, uint32_t node, const uint32_t **place)
{
	const uint32_t *start = t->r->start;

	if (node >= t->r->region.nnodes)
		return 0;
	*place = &t->r->place[start[node]];
	return start[node + 1] - start[node];
}

static void
tell_layer(void *context, const struct marq_layer *l)
{
	const struct telling *t = context;
	struct marq_layer as = *l;
	const uint32_t *place;
	uint32_t *node = NULL, n = 0, cap = 0;

	for (uint32_t i = 0; i < l->nnodes; i++) {
		const uint32_t more = places_of(t, l->node[i], &place);

		node = arena_grow(t->arena, node, &cap, n + more, sizeof *node);
		for (uint32_t k = 0; k < more; k++)
			node[n++] = place[k];
	}
	as.nnodes = n;
	as.node = node;
	t->to->layer(t->to->context, &as);
}

static bool
run_and_tell(const struct program *p, const struct marq_region *r,
    const struct marq_sink *sink, struct arena *a, struct err *err)
{
	const struct marq_plugin *plugin = &p->of->session->open->plugin;
	void **in = zeros(r->input, r->ninputs, a);
	void **out = zeros(r->output, r->noutputs, a);
	struct said said;

	if (!execute(p, (const void *const *)in, out, err))
		return false;
	said_init(&said);
	return is_done(
	    plugin->layers(p->handle, sink, &said.error), &said, "layers", err);
}

bool
program_layers(const struct target *t, const struct graph *g,
    const struct candidate *c, const struct marq_sink *sink, struct err *err)
{
	const struct marq_settings settings = settings_for(c, MARQ_TO_MAP);
	struct program p = {.of = t->state};
	struct given_region r;
	struct arena a;
	struct telling telling = {sink, &r, &a};
	struct marq_sink by_candidate = *sink;
	bool ok;

	by_candidate.context = &telling;
	by_candidate.layer = tell_layer;
	if (!program_open(t, err))
		return false;
	arena_init(&a);
	ok = region_give(&r, &p.of->greeting->about, g, c, &a, err);
	if (ok && r.start)
		sink = &by_candidate;
	if (ok && !p.of->session->open->plugin.layers)
		one_layer(&r.region, sink, &a);
	else if (ok)
		ok = compile(&p, &r.region, &settings, err)
		    && run_and_tell(&p, &r.region, sink, &a, err);
	region_release(&r);
	arena_release(&a);
	return ok;
}

bool
program_emit(const struct target *t, const struct graph *g,
    const struct candidate *c, const struct marq_sink *sink, struct err *err)
{
	const struct plugin *of = t->state;
	const struct marq_settings settings = settings_for(c, MARQ_TO_RUN);
	const struct opened *s;
	struct given_region r;
	struct said said;
	struct arena a;
	bool ok;

	if (!program_open(t, err))
		return false;
	s = of->session->open;
	if (!s->plugin.emit)
		return true;
	arena_init(&a);
	said_init(&said);
	ok = region_give(&r, &of->greeting->about, g, c, &a, err)
	    && is_done(s->plugin.emit(
	                   s->target, &r.region, &settings, sink, &said.error),
	        &said, "emit", err);
	region_release(&r);
	arena_release(&a);
	return ok;
}
