// The Arm Compute Library's kernels for CPUs as a plug-in of marq: matches of its
// rules, one function of the library each, in the plain layout. It is linked, as
// classes cannot be looked up by name; nothing of it runs before open().
#include <cstring>
#include <exception>
#include <memory>
#include <new>

#include <arm_compute/core/Version.h>
#include <arm_compute/runtime/Scheduler.h>
#include <dlfcn.h>

#include "plugins/acl/layer.hh"
#include "plugins/acl/region.hh"

extern "C" {
#include "plugins/common/fail.h"
}

static const char about[] = R"json({"format": "marq-plugin", "version": 1,
 "name": "acl", "summary": "Arm Compute Library, kernels for CPUs",
 "rules": [
  {"name": "acl.conv", "pattern":
   "Relu?(BatchNormalization?(Conv(x:var, const, (const | absent)), const, const, const, const))",
   "where": [{"of": "x", "rank": 4}]},
  {"name": "acl.conv_clip", "pattern":
   "Clip(BatchNormalization?(Conv(x:var, const, (const | absent)), const, const, const, const), ...)",
   "where": [{"of": "x", "rank": 4}]},
  {"name": "acl.gemm", "pattern": "Relu?(g:Gemm(var, const, (const | absent)))",
   "where": [{"of": "g", "attribute": "transA", "default": 0, "equals": 0}]},
  {"name": "acl.matmul", "pattern": "Relu?(Add?(MatMul(var, w:const), const))",
   "where": [{"of": "w", "rank": 2}]},
  {"name": "acl.pool", "pattern":
   "p:(MaxPool(x:var) | AveragePool(x:var) | GlobalAveragePool(x:var))",
   "where": [{"of": "x", "rank": 4},
    {"of": "p", "attribute": "storage_order", "default": 0, "equals": 0}]},
  {"name": "acl.softmax", "pattern": "Softmax(var)"}],
 "opsets": {"": [7, 24]}, "types": ["float32"]})json";

struct marq_target {};

struct marq_program {
	unsigned threads;
	std::unique_ptr<layer> made;
};

// Nothing that is thrown crosses the border.
template <typename body>
static marq_status
guarded(marq_error *e, body run)
{
	try {
		run();
		return MARQ_OK;
	} catch (const refusal &why) {
		return fail(MARQ_REFUSED, e, "%s", why.what());
	} catch (const std::bad_alloc &) {
		return fail(MARQ_NO_MEMORY, e, "no memory");
	} catch (const std::exception &why) {
		return fail(MARQ_FAILED, e, "Arm Compute Library: %s", why.what());
	} catch (...) {
		return fail(MARQ_FAILED, e, "Arm Compute Library: no reason given");
	}
}

static marq_status
acl_open(const marq_option *const *, uint32_t, const marq_sink *,
    marq_target **out, marq_error *e)
{
	return guarded(e, [&] { *out = new marq_target; });
}

static void
acl_close(marq_target *t)
{
	delete t;
}

static marq_status
acl_environment(marq_target *, const marq_sink *sink, marq_error *e)
{
	return guarded(e, [&] {
		const std::string build = arm_compute::build_information();
		const auto symbol = &arm_compute::build_information;
		void *at;
		Dl_info info;

		memcpy(&at, &symbol, sizeof at);
		sink->fact(sink->context, "acl_build",
		    build.substr(0, build.find('\n')).c_str());
		if (dladdr(at, &info) != 0)
			sink->fact(sink->context, "acl_file", info.dli_fname);
	});
}

// Its pool is one for the process.
static void
use_threads(unsigned n)
{
	arm_compute::IScheduler &pool = arm_compute::Scheduler::get();

	if (pool.num_threads() != n)
		pool.set_num_threads(n);
}

static marq_status
acl_compile(marq_target *, const marq_region *r, const marq_settings *with,
    marq_program **out, marq_error *e)
{
	return guarded(e, [&] {
		use_threads(with->threads);
		*out = new marq_program{
		    with->threads, make_layer(read_region(r))};
	});
}

static void
acl_release(marq_program *p)
{
	delete p;
}

static marq_status
acl_execute(marq_program *p, const void *const *in, void *const *out,
    marq_error *e)
{
	return guarded(e, [&] {
		use_threads(p->threads);
		p->made->run(in[0], out[0]);
	});
}

extern "C" const marq_plugin *
marq_plugin_1(uint32_t)
{
	static const marq_plugin table = {sizeof table, MARQ_PLUGIN_MINOR, about,
	    acl_open, acl_close, acl_environment, acl_compile, acl_release,
	    acl_execute, nullptr, nullptr};

	return &table;
}
