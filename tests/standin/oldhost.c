/* A host of version 1.0 of the plug-in interface, for tests/cli/plugin.sh: it runs a
 * copy in the plug-in named, and gives it structs that end where those of 1.0 did,
 * just before memory that nobody may read. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#endif
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/plugin/1.0/marq_plugin.h"

static void
fail(const char *what)
{
	fprintf(stderr, "oldhost: %s\n", what);
	exit(1);
}

/* What ends just before a page that is not there. */
static void *
at_the_edge(const void *from, size_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *at = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (at == MAP_FAILED || mprotect(at + page, page, PROT_NONE) != 0)
		fail("no memory");
	return memcpy(at + page - bytes, from, bytes);
}

static const struct marq_plugin *
load(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	union {
		void *symbol;
		marq_plugin_1_fn *call;
	} entry = {
	    .symbol = library ? dlsym(library, MARQ_PLUGIN_SYMBOL) : NULL};
	const struct marq_plugin *p;

	if (!entry.symbol)
		fail(library ? "no plug-in" : dlerror());
	p = entry.call(MARQ_PLUGIN_MINOR);
	if (!p || p->size < sizeof *p)
		fail("no table of version 1.0");
	return p;
}

static struct marq_target *
open_it(const struct marq_plugin *p, struct marq_error *e)
{
	const struct marq_option option = {
	    .size = sizeof option, .name = "does", .value = "needs-alone"};
	const struct marq_option *const list[] = {
	    at_the_edge(&option, sizeof option)};
	struct marq_sink sink = {.size = sizeof sink};
	struct marq_target *t = NULL;

	if (p->open(list, 1, at_the_edge(&sink, sizeof sink), &t, e) != MARQ_OK
	    || !t)
		fail("it does not open");
	return t;
}

/* A copy of four numbers as a region of `nnodes`. */
static marq_status
compile(const struct marq_plugin *p, struct marq_target *t, uint32_t nnodes,
    struct marq_program **out, struct marq_error *e)
{
	static const int64_t dim[] = {1, 4};
	const struct marq_port port = {.size = sizeof port,
	    .type = 1,
	    .rank = 2,
	    .dim = dim,
	    .bytes = 16,
	    .name = "x"};
	const struct marq_port *const list[] = {
	    at_the_edge(&port, sizeof port)};
	const struct marq_region region = {.size = sizeof region,
	    .nnodes = nnodes,
	    .name = "copy",
	    .model = "",
	    .ninputs = 1,
	    .noutputs = 1,
	    .input = list,
	    .output = list};
	const struct marq_settings settings = {
	    .size = sizeof settings, .threads = 1};

	return p->compile(t, at_the_edge(&region, sizeof region),
	    at_the_edge(&settings, sizeof settings), out, e);
}

int
main(int argc, char **argv)
{
	const struct marq_plugin *p = load(argc > 1 ? argv[1] : "");
	const float in[4] = {1, 2, 3, 4};
	const void *const from[] = {in};
	float out[4 + 16] = {0};
	void *const to[] = {out};
	char text[256] = "";
	struct marq_error e = {sizeof e, sizeof text, text};
	struct marq_target *t = open_it(p, &e);
	struct marq_program *program = NULL;

	/* what this version cannot say is not there: it needs that here */
	setenv("STANDIN", "regions", 1);
	if (compile(p, t, 2, &program, &e) != MARQ_REFUSED)
		fail("it found what no struct of 1.0 has");
	if (compile(p, t, 1, &program, &e) != MARQ_OK || !program)
		fail("it does not compile");
	if (p->execute(program, from, to, &e) != MARQ_OK
	    || memcmp(in, out, sizeof in) != 0)
		fail("it does not copy");
	p->release(program);
	p->close(t);
	return 0;
}
