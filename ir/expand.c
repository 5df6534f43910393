#include "ir/expand.h"

#include <string.h>

#include "ir/expand/writer.h"

#define EXPAND(domain, type, function) void function(struct writer *w);
#include "ir/expand/expand.def"
#undef EXPAND

static const struct {
	const char *domain, *type;
	void (*write)(struct writer *w);
} table[] = {
#define EXPAND(domain, type, function) {domain, type, function},
#include "ir/expand/expand.def"
#undef EXPAND
};
#define NTABLE (sizeof table / sizeof *table)

/* The table is short and read once a node of another domain. */
static size_t
find(const char *domain, const char *type)
{
	size_t i = 0;

	while (i < NTABLE
	    && (strcmp(table[i].type, type) != 0
	        || strcmp(table[i].domain, domain) != 0))
		i++;
	return i;
}

/* Operators whose weights lie as the processor that optimised the model wanted
 * them; in what blocks, the file does not say. */
static bool
is_of_one_processor(const char *domain)
{
	return strcmp(domain, "com.microsoft.nchwc") == 0;
}

bool
expand_knows(const char *domain, const char *type)
{
	return find(domain, type) < NTABLE || is_of_one_processor(domain);
}

const Onnx__FunctionProto *
expand_call(const Onnx__NodeProto *p, const struct graph *g,
    const struct node *call, struct arena *a, const char **why)
{
	struct writer w = {.node = p, .graph = g, .call = call, .arena = a};
	size_t i = find(call->domain, call->op_type);

	if (is_of_one_processor(call->domain))
		*why = "weights in the order of one processor (save the model "
		       "with ORT_ENABLE_EXTENDED or less)";
	if (i == NTABLE)
		return NULL;
	table[i].write(&w);
	*why = w.refused;
	return w.refused ? NULL : writer_function(&w);
}
