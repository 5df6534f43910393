#include "tests/conformance/collage/dag.h"

#include <string.h>

static const struct {
	const char *op;
	enum kind kind;
} known_ops[] = {
    {"nn.relu", ELEMWISE},
    {"nn.leaky_relu", BROADCAST},
    {"abs", ELEMWISE},
    {"tanh", ELEMWISE},
    {"sigmoid", ELEMWISE},
    {"exp", ELEMWISE},
    {"add", BROADCAST},
    {"subtract", BROADCAST},
    {"multiply", BROADCAST},
    {"divide", BROADCAST},
    {"power", BROADCAST},
    {"concatenate", INJECTIVE},
    {"reshape", INJECTIVE},
    {"transpose", INJECTIVE},
    {"expand_dims", INJECTIVE},
    {"split", INJECTIVE},
    {"tuple", INJECTIVE},
    {"proj", INJECTIVE},
    {"sum", REDUCE},
    {"mean", REDUCE},
    {"nn.softmax", OPAQUE},
    {"nn.conv2d", FUSABLE},
    {"nn.dense", FUSABLE},
    {"nn.batch_matmul", FUSABLE},
};

char collage_complaint[1024];

uint32_t
dag_find(const struct dag *d, const char *id)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (strcmp(d->id[i], id) == 0)
			return i;
	return UINT32_MAX;
}

static enum kind
kind_of(const char *op)
{
	for (size_t i = 0; i < sizeof known_ops / sizeof known_ops[0]; i++)
		if (strcmp(known_ops[i].op, op) == 0)
			return known_ops[i].kind;
	return OPAQUE;
}

enum kind
kind_named(const char *letter)
{
	static const char letters[] = "EBIRAO";
	const char *at = strchr(letters, letter[0]);

	return at && *at ? (enum kind)(at - letters) : OPAQUE;
}

static void
connect(struct dag *d, uint32_t node, const cJSON *arg)
{
	uint32_t from;

	if (!cJSON_IsString(arg))
		return; /* a scalar or a constant that is no node */
	from = dag_find(d, arg->valuestring);
	if (from != UINT32_MAX) {
		d->in[node] |= bit(from);
		d->out[from] |= bit(node);
		return;
	}
	for (uint32_t i = 0; i < d->ninputs; i++)
		if (strcmp(d->input[i], arg->valuestring) == 0)
			d->reads[node] |= bit(i);
}

static bool
add_node(struct dag *d, const char *id, const char *op)
{
	if (d->n == NODES_MAX)
		return COMPLAIN("more than %u nodes", NODES_MAX);
	d->id[d->n] = id;
	d->op[d->n] = op;
	d->kind[d->n] = kind_of(op);
	if (strcmp(op, "tuple") == 0 || strcmp(op, "proj") == 0)
		d->structural |= bit(d->n);
	d->n++;
	return true;
}

/* "k5": "W, arg of n6" */
static bool
add_constants(struct dag *d, const cJSON *graph)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, get(graph, "constant_nodes"))
	{
		const char *of = strstr(item->valuestring, "arg of ");
		uint32_t user = of ? dag_find(d, of + 7) : UINT32_MAX;

		if (user == UINT32_MAX || !add_node(d, item->string, "const"))
			return COMPLAIN("constant %s of no node", item->string);
		d->kind[d->n - 1] = ELEMWISE;
		d->constants |= bit(d->n - 1);
		d->in[user] |= bit(d->n - 1);
		d->out[d->n - 1] |= bit(user);
	}
	return true;
}

bool
dag_read(struct dag *d, const cJSON *test)
{
	const cJSON *graph = get(test, "graph"), *item, *arg;
	uint32_t out;

	memset(d, 0, sizeof *d);
	cJSON_ArrayForEach(item, get(graph, "inputs"))
	{
		if (d->ninputs == NODES_MAX)
			return COMPLAIN("too many inputs");
		d->input_item[d->ninputs] = item;
		d->input[d->ninputs++] = text_of(item, "id");
	}
	cJSON_ArrayForEach(item, get(graph, "nodes"))
	{
		const cJSON *kind =
		    get(get(graph, "kinds"), text_of(item, "id"));

		if (!add_node(d, text_of(item, "id"), text_of(item, "op")))
			return false;
		if (kind)
			d->kind[d->n - 1] = kind_named(kind->valuestring);
		d->args[d->n - 1] = get(item, "inputs");
		d->item[d->n - 1] = item;
		cJSON_ArrayForEach(arg, get(item, "inputs"))
		    connect(d, d->n - 1, arg);
	}
	out = dag_find(d, text_of(graph, "output"));
	if (out == UINT32_MAX)
		return COMPLAIN("no output");
	d->asked = bit(out);
	if (strcmp(d->op[out], "tuple") == 0)
		d->asked |= d->in[out];
	return add_constants(d, graph);
}

bool
dag_read_set(const struct dag *d, const cJSON *list, set *out)
{
	const cJSON *item;

	*out = 0;
	cJSON_ArrayForEach(item, list)
	{
		uint32_t n = cJSON_IsString(item)
		    ? dag_find(d, item->valuestring)
		    : UINT32_MAX;

		if (n == UINT32_MAX)
			return COMPLAIN("a set names no node");
		*out |= bit(n);
	}
	return true;
}
