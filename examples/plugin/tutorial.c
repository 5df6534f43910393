/* A plug-in for marq in one file: Relu, Add and Mul in float32.
 *
 *   cc -O3 -shared -fPIC -o tutorial.so tutorial.c $(pkg-config --cflags marq_plugin)
 *   marq search model.onnx -t plugin:path=tutorial.so
 *
 * It has no runtime of its own and does not parse ONNX: its rules say that each
 * region is one node, and the model's bytes are searched for the operator's name.
 * A real one hands region->model to whatever reads ONNX. */
#include <marq_plugin.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What it is, as data: marq finds candidates by this text, without calling us.
 * Both operands have the same shape: broadcasting is refused in compile(). */
static const char about[] =
    "{\"format\": \"marq-plugin\", \"version\": 1, \"name\": \"tutorial\","
    " \"summary\": \"three operators in plain C\","
    " \"options\": [{\"name\": \"unroll\", \"values\": \"1|4\","
    "   \"default\": \"4\", \"help\": \"elements at a time\"}],"
    " \"rules\": ["
    "  {\"name\": \"tutorial.relu\", \"pattern\": \"Relu(*)\"},"
    "  {\"name\": \"tutorial.add\", \"pattern\": \"Add(var, var)\"},"
    "  {\"name\": \"tutorial.mul\", \"pattern\": \"Mul(var, var)\"}],"
    " \"types\": [\"float32\"]}";

struct marq_target {
	int unroll;
};

enum operator{ RELU, ADD, MUL };

struct marq_program {
	enum operator what;
	uint64_t n; /* elements */
	uint32_t second; /* input that is the second operand */
};

/* Why not, in one line; the text is marq's. */
static marq_status
refuse(struct marq_error *e, marq_status status, const char *why)
{
	if (e != NULL && e->capacity > 0)
		snprintf(e->text, e->capacity, "%s", why);
	return status;
}

/* ---- the backend ---- */

static marq_status
tutorial_open(const struct marq_option *const *option, uint32_t noptions,
    const struct marq_sink *sink, struct marq_target **out,
    struct marq_error *e)
{
	struct marq_target *t = calloc(1, sizeof *t);

	(void)sink;
	if (t == NULL)
		return refuse(e, MARQ_NO_MEMORY, "no memory");
	for (uint32_t i = 0; i < noptions; i++) /* checked against `about` */
		if (strcmp(option[i]->name, "unroll") == 0)
			t->unroll = atoi(option[i]->value);
	*out = t;
	return MARQ_OK;
}

static void
tutorial_close(struct marq_target *t)
{
	free(t);
}

/* What prices depend on beside options and this file, which marq knows. */
static marq_status
tutorial_environment(
    struct marq_target *t, const struct marq_sink *sink, struct marq_error *e)
{
	(void)t, (void)e;
	sink->fact(sink->context, "tutorial_version", "1");
	return MARQ_OK;
}

/* ---- regions ---- */

/* Is the text somewhere in the bytes? */
static int
has(const struct marq_region *r, const char *text)
{
	const char *at = r->model, *end = at + r->model_bytes;
	size_t n = strlen(text);

	for (; at + n <= end; at++)
		if (memcmp(at, text, n) == 0)
			return 1;
	return 0;
}

/* An operator's name as ONNX stores it: field 4 of a node, its length, itself. */
static int
find_operator(const struct marq_region *r, enum operator* what)
{
	static const char *const name[] = {"\x22\x04Relu",
	    "\x22\x03"
	    "Add",
	    "\x22\x03Mul"};

	for (*what = RELU; *what <= MUL; (*what)++)
		if (has(r, name[*what]))
			return 1;
	return 0;
}

static marq_status
tutorial_compile(struct marq_target *t, const struct marq_region *r,
    const struct marq_settings *settings, struct marq_program **out,
    struct marq_error *e)
{
	struct marq_program *p;
	enum operator what;

	(void)t, (void)settings;
	if (r->nnodes != 1 || r->noutputs != 1 || !find_operator(r, &what))
		return refuse(e, MARQ_REFUSED, "not one node of ours");
	for (uint32_t i = 0; i < r->ninputs; i++)
		if (r->input[i]->bytes != r->output[0]->bytes)
			return refuse(
			    e, MARQ_REFUSED, "operands differ in shape");
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return refuse(e, MARQ_NO_MEMORY, "no memory");
	p->what = what;
	p->n = r->output[0]->bytes / sizeof(float);
	p->second = r->ninputs - 1; /* x + x has one input */
	*out = p;
	return MARQ_OK;
}

static void
tutorial_release(struct marq_program *p)
{
	free(p);
}

static marq_status
tutorial_execute(struct marq_program *p, const void *const *in,
    void *const *out, struct marq_error *e)
{
	const float *x = in[0], *y = in[p->second];
	float *z = out[0];

	(void)e;
	switch (p->what) {
	case RELU:
		for (uint64_t i = 0; i < p->n; i++)
			z[i] = x[i] < 0 ? 0 : x[i]; /* NaN stays NaN */
		break;
	case ADD:
		for (uint64_t i = 0; i < p->n; i++)
			z[i] = x[i] + y[i];
		break;
	case MUL:
		for (uint64_t i = 0; i < p->n; i++)
			z[i] = x[i] * y[i];
		break;
	}
	return MARQ_OK;
}

/* ---- the one exported function ---- */

static const struct marq_plugin plugin = {
    .size = sizeof plugin,
    .minor = MARQ_PLUGIN_MINOR,
    .about = about,
    .open = tutorial_open,
    .close = tutorial_close,
    .environment = tutorial_environment,
    .compile = tutorial_compile,
    .release = tutorial_release,
    .execute = tutorial_execute,
};

const struct marq_plugin *
marq_plugin_1(uint32_t host_minor)
{
	(void)host_minor; /* all we need is in version 1.0 */
	return &plugin;
}
