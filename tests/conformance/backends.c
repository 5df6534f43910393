/* Small models on which a library may compute something else than ONNX says:
 * every candidate of several mixes, in every implementation, is put into a plan,
 * which must give the expected outputs; so must plans at random prices. The
 * argument is a folder of folders, each with model.onnx and test_data_set_0; a
 * second argument picks those whose name contains it. */
#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ir/normalize.h"
#include "ir/onnx_read.h"
#include "targets/host/host.h"
#include "tests/support/check.h"
#include "tests/support/force.h"

#define MIXTURES 4 /* plans at random prices per mix */

static const char *const mixes[][6] = {
    {"host"},
    {"dnnl", "host"},
    {"xnnpack", "host"},
    {"blas", "host"},
    {"native", "host"},
    {"dnnl", "xnnpack", "blas", "native", "host"},
    {"mrvl", "dnnl", "host"},
};

struct tally {
	uint32_t plans, refused, wrong;
};

struct model_case {
	const char *name;
	struct arena *arena;
	struct model model;
	struct check_set set;
};

static const char *
data_path(const char *folder, const char *kind, uint32_t i, struct arena *a)
{
	return arena_printf(
	    a, "%s/test_data_set_0/%s_%u.pb", folder, kind, (unsigned)i);
}

static bool
read_case(struct model_case *c, const char *folder, struct err *err)
{
	struct infer_options o = {.eval = host_eval};
	struct tensor *in, *want;
	const struct graph *g;

	if (!onnx_read(&c->model,
	        arena_printf(c->arena, "%s/model.onnx", folder),
	        &(struct onnx_options){0}, c->arena, err)
	    || !normalize(c->model.graph, &o, err))
		return false;
	g = c->model.graph;
	in = arena_new(c->arena, struct tensor, g->ninputs);
	want = arena_new(c->arena, struct tensor, g->noutputs);
	c->set = (struct check_set){.in = in, .want = want};
	for (uint32_t i = 0; i < g->ninputs; i++)
		if (!onnx_read_tensor(&in[i],
		        data_path(folder, "input", i, c->arena), c->arena, err))
			return false;
	for (uint32_t i = 0; i < g->noutputs; i++)
		if (!onnx_read_tensor(&want[i],
		        data_path(folder, "output", i, c->arena), c->arena,
		        err))
			return false;
	return true;
}

static void
try_plan(struct model_case *c, struct force *f, uint32_t wanted, struct rng *r,
    struct tally *t)
{
	static const uint32_t order[] = {0, 0};
	struct err err = {.kind = ERR_NONE};
	bool placed, wrong = false;
	struct arena scratch;
	struct plan p;

	arena_init(&scratch);
	t->plans++;
	if (force_plan(&p, f, wanted, r, &placed, &scratch, &err)
	    && check_plan(&p, 1, &c->set, order, 2, &wrong, &err)) {
		arena_release(&scratch);
		return;
	}
	t->wrong++;
	printf("%s: %s: %s: %s\n", c->name, f->mix.target[0].text,
	    wanted == FORCE_NONE ? "random prices"
	                         : force_text(f, wanted, &scratch),
	    err.text);
	arena_release(&scratch);
}

static bool
expects_nan(const struct model_case *c)
{
	for (uint32_t i = 0; i < c->model.graph->noutputs; i++)
		for (size_t k = 0; k < c->set.want[i].count; k++)
			if (isnan(tensor_real(&c->set.want[i], k)))
				return true;
	return false;
}

static void
try_mix(struct model_case *c, uint32_t mix, bool keep_nan, struct tally *t)
{
	struct err err = {.kind = ERR_NONE};
	struct rng r = rng_seeded(mix + 1);
	struct force f;

	if (!force_open(
	        &f, c->model.graph, mixes[mix], keep_nan, c->arena, &err)) {
		printf("%s: %s\n", c->name, err.text);
		if (err.kind != ERR_TARGET)
			t->wrong++;
		return;
	}
	t->refused += f.nrefused;
	for (uint32_t i = 0; i < f.found.n; i++)
		if (f.refused[i])
			printf("%s: %s: cannot be built\n", c->name,
			    force_text(&f, i, c->arena));
		else
			try_plan(c, &f, i, &r, t);
	for (uint32_t i = 0; i < MIXTURES; i++)
		try_plan(c, &f, FORCE_NONE, &r, t);
}

/* One model in a process of its own: a library may end it. */
static int
try_model(const char *folder, const char *name, struct tally *t)
{
	struct err err = {.kind = ERR_NONE};
	struct arena arena;
	struct model_case c = {.name = name, .arena = &arena};

	arena_init(&arena);
	if (!read_case(&c, folder, &err)) {
		printf("%s: %s\n", name, err.text);
		t->wrong++;
		return 1;
	}
	for (uint32_t i = 0; i < sizeof mixes / sizeof *mixes; i++) {
		try_mix(&c, i, true, t);
		if (!expects_nan(&c))
			try_mix(&c, i, false, t);
	}
	model_close(&c.model);
	arena_release(&arena);
	return 0;
}

static void
try_apart(const char *folder, const char *name, struct tally *sum)
{
	struct tally t = {0};
	int ends[2], status;
	pid_t child;

	fflush(stdout);
	if (pipe(ends) != 0 || (child = fork()) < 0)
		exit(1);
	if (child == 0) {
		try_model(folder, name, &t);
		fflush(stdout);
		_exit(write(ends[1], &t, sizeof t) != sizeof t);
	}
	close(ends[1]);
	if (read(ends[0], &t, sizeof t) != sizeof t) {
		printf("%s: the process ended\n", name);
		t.wrong++;
	}
	close(ends[0]);
	waitpid(child, &status, 0);
	printf("%s %s\n", t.wrong ? "FAILED" : "ok    ", name);
	sum->plans += t.plans;
	sum->refused += t.refused;
	sum->wrong += t.wrong;
}

static int
is_visible(const struct dirent *e)
{
	return e->d_name[0] != '.';
}

int
main(int argc, char **argv)
{
	const char *only = argc > 2 ? argv[2] : "";
	struct tally t = {0};
	struct dirent **entry;
	char path[4096];
	int n;

	if (argc < 2) {
		fprintf(stderr, "usage: %s FOLDER [PART OF A NAME]\n", argv[0]);
		return 2;
	}
	n = scandir(argv[1], &entry, is_visible, alphasort);
	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof path, "%s/%s", argv[1], entry[i]->d_name);
		if (strstr(entry[i]->d_name, only))
			try_apart(path, entry[i]->d_name, &t);
		free(entry[i]);
	}
	free(n < 0 ? NULL : entry);
	printf("%u plans, %u wrong, %u candidates cannot be built\n",
	    (unsigned)t.plans, (unsigned)t.wrong, (unsigned)t.refused);
	return t.plans == 0 || t.wrong != 0;
}
