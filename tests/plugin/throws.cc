// A plug-in that lets an exception out of `execute`, or where $THROWS says so, for
// tests/cli/plugin.sh: C++ ends the process then. It copies, as standin.c does.
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include <marq_plugin.h>

struct marq_target {
	int nothing;
};

struct marq_program {
	uint64_t bytes;
};

static void
maybe(const char *call)
{
	const char *where = std::getenv("THROWS");

	if (std::string(where ? where : "execute") == call)
		throw std::runtime_error("nobody catches this");
}

static marq_status
open_it(const marq_option *const *, uint32_t, const marq_sink *,
    marq_target **out, marq_error *)
{
	maybe("open");
	*out = new marq_target();
	return MARQ_OK;
}

static void
close_it(marq_target *t)
{
	delete t;
}

static marq_status
environment(marq_target *, const marq_sink *, marq_error *)
{
	return MARQ_OK;
}

static marq_status
compile(marq_target *, const marq_region *r, const marq_settings *,
    marq_program **out, marq_error *)
{
	maybe("compile");
	*out = new marq_program();
	(*out)->bytes = r->output[0]->bytes;
	return MARQ_OK;
}

static void
release(marq_program *p)
{
	delete p;
}

static marq_status
execute(marq_program *p, const void *const *in, void *const *out, marq_error *)
{
	std::memcpy(out[0], in[0], p->bytes);
	maybe("execute");
	return MARQ_OK;
}

extern "C" const marq_plugin *
marq_plugin_1(uint32_t)
{
	static marq_plugin table;

	table.size = sizeof table;
	table.minor = MARQ_PLUGIN_MINOR;
	table.about =
	    "{\"format\": \"marq-plugin\", \"version\": 1, \"name\": \"throws\","
	    " \"rules\": [{\"name\": \"throws.pool\", \"pattern\": \"MaxPool(*)\"}]}";
	table.open = open_it;
	table.close = close_it;
	table.environment = environment;
	table.compile = compile;
	table.release = release;
	table.execute = execute;
	return &table;
}
