/* Shape arithmetic folds completely: with dimensions as the reference has them,
 * no node is left that depends on constants and known shapes only. Arguments are
 * folders of folders, each with model.onnx and perhaps test_data_set_0. */
#include <stdio.h>

#include "ir/onnx_read.h"
#include "tests/support/folder.h"
#include "tests/support/leftover.h"

static bool
check(const char *folder, const char *name)
{
	struct arena a;
	struct err err = {.kind = ERR_NONE};
	struct model m;
	node_id left = NODE_NONE;
	bool ok;

	arena_init(&a);
	ok = folder_model(&m, folder, &a, &err);
	if (ok)
		left = leftover_node(m.graph, &a);
	printf("%-32s ", name);
	if (!ok) /* that it is read is for conformance_models to see */
		printf("not read: %s\n", err.text);
	else if (left != NODE_NONE)
		printf("LEFT '%s' (#%u, %s) of %u nodes\n",
		    node_label(m.graph, left, &a), left,
		    graph_node(m.graph, left)->op_type, m.graph->nnodes);
	else
		printf("%u nodes\n", m.graph->nnodes);
	if (ok)
		model_close(&m);
	arena_release(&a);
	return left == NODE_NONE;
}

int
main(int argc, char **argv)
{
	uint32_t nmodels = 0, nleft = folders_each(argc, argv, check, &nmodels);

	printf("%u models, %u with something left to fold\n", nmodels, nleft);
	return nmodels == 0 || nleft > 0;
}
