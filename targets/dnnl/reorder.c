#include "targets/dnnl/reorder.h"

#include "targets/dnnl/layer.h"
#include "targets/threads.h"

struct reorder {
	dnnl_engine_t engine;
	dnnl_stream_t stream;
	dnnl_primitive_t primitive;
	dnnl_exec_arg_t arg[2]; /* from, to */
	const void *bound[2];
};

static void
bind_buffer(struct reorder *r, uint32_t i, const void *buffer)
{
	union {
		const void *in;
		void *out;
	} bytes = {.in = buffer};

	if (r->bound[i] == buffer)
		return;
	dnnl_memory_set_data_handle(r->arg[i].memory, bytes.out);
	r->bound[i] = buffer;
}

static void
run(struct converter *c, const void *in, void *out)
{
	struct reorder *r = c->state;

	bind_buffer(r, 0, in);
	bind_buffer(r, 1, out);
	dnnl_primitive_execute(r->primitive, r->stream, 2, r->arg);
	dnnl_stream_wait(r->stream);
}

static void
release(struct converter *c)
{
	struct reorder *r = c->state;

	for (uint32_t i = 0; i < 2; i++)
		if (r->arg[i].memory)
			dnnl_memory_destroy(r->arg[i].memory);
	if (r->primitive)
		dnnl_primitive_destroy(r->primitive);
	if (r->stream)
		dnnl_stream_destroy(r->stream);
	if (r->engine)
		dnnl_engine_destroy(r->engine);
}

static bool
make(struct reorder *r, const struct md md[2])
{
	dnnl_primitive_desc_t pd;
	bool ok;

	if (dnnl_engine_create(&r->engine, dnnl_cpu, 0) != dnnl_success
	    || dnnl_stream_create(
	           &r->stream, r->engine, dnnl_stream_default_flags)
	        != dnnl_success
	    || md_reorder(&pd, &md[0], &md[1], r->engine) != dnnl_success)
		return false;
	ok = dnnl_primitive_create(&r->primitive, pd) == dnnl_success;
	dnnl_primitive_desc_destroy(pd);
	r->arg[0].arg = DNNL_ARG_FROM;
	r->arg[1].arg = DNNL_ARG_TO;
	for (uint32_t i = 0; ok && i < 2; i++)
		ok = md_memory(
		         &r->arg[i].memory, &md[i], r->engine, DNNL_MEMORY_NONE)
		    == dnnl_success;
	return ok;
}

bool
reorder_new(struct converter *c, enum layout from, enum layout to,
    const struct type *type, struct arena *a)
{
	struct reorder *r = arena_new(a, struct reorder, 1);
	struct converter made = {run, release, r};
	struct md md[2];

	target_threads_apply();
	if (!desc_layout(&md[0], from, type) || !desc_layout(&md[1], to, type))
		return false;
	if (!make(r, md)) {
		release(&made);
		return false;
	}
	*c = made;
	return true;
}
