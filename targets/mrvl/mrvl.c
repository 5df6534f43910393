/* The Marvell backend's kind: MLIP of OCTEON 10. */
#include "targets/mrvl/ask.h"
#include "targets/mrvl/assume.h"
#include "targets/mrvl/calibration.h"
#include "targets/mrvl/codegen.h"
#include "targets/mrvl/compute.h"
#include "targets/mrvl/cost.h"
#include "targets/mrvl/int8.h"
#include "targets/mrvl/legacy.h"
#include "targets/mrvl/memory.h"
#include "targets/mrvl/options.h"
#include "targets/mrvl/rules.h"
#include "targets/mrvl/space.h"
#include "targets/target.h"

/* Bumped when the cost simulator's formulas change: prices of other versions
 * are not comparable. */
#define SIMULATOR_VERSION 1

static bool
open_mrvl(struct target *t, struct formats *f, struct arena *a, struct err *err)
{
	if (!mrvl_open(t, f, a, err))
		return false;
	t->launch = mrvl_launch(mrvl_of(t));
	mrvl_list_assumptions(t, a);
	return true;
}

/* compat=legacy-v0.19: what upstream's passes make of the whole graph. */
static bool
survey(const struct match_in *in, struct survey *out, struct arena *a,
    struct err *err)
{
	struct legacy legacy;

	if (!mrvl_of(in->target)->legacy)
		return true;
	if (!mrvl_legacy(&legacy, in->graph, a, err))
		return false;
	out->prepared = legacy_sets(&legacy, in->graph, a);
	return true;
}

/* compat=legacy-v0.19: regions are upstream's, too. */
static uint32_t
group(const struct match_in *m)
{
	const struct legacy_sets *s = (const struct legacy_sets *)m->prepared;

	return s ? legacy_region(s, m->match->node, m->match->nnodes) : 0;
}

/* Which bytes a match reads: channels last, unless the order of an operator's
 * elements matters and they come from outside or from a transpose. */
static uint32_t
implementations(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct mrvl *mrvl = mrvl_of(m->target);
	const struct node *n = graph_node(m->graph, m->match->root);
	format_id nhwc = format_intern(f, mrvl->nhwc);
	format_id plain = format_intern(f, mrvl->plain);
	bool shape_only =
	    n->op == OP_RESHAPE || n->op == OP_FLATTEN || n->op == OP_SQUEEZE;

	if (max < 1)
		return 0;
	out[0] = (struct implementation){
	    .name = "nhwc", .number = 0, .input = nhwc, .output = nhwc};
	if (shape_only && !mrvl_keeps_nhwc(m->graph, n))
		out[0] = (struct implementation){.name = "plain",
		    .number = 1,
		    .input = plain,
		    .output = plain};
	else if (n->op == OP_TRANSPOSE)
		out[0] = (struct implementation){.name = "relabel",
		    .number = 2,
		    .input = nhwc,
		    .output = plain};
	out[0].resident = mrvl_resident(m);
	out[0].group = group(m);
	return 1;
}

static void
environment(const struct target *t, struct buf *b)
{
	const struct mrvl *m = mrvl_of(t);

	buf_printf(b, "simulator=%d\n", SIMULATOR_VERSION);
	buf_printf(b, "num_tiles=%u\nquantize=%s\nwb_pin_ocm=%d\n",
	    m->num_tiles, m->int8 ? "int8" : "fp16", m->pin);
	for (uint32_t i = 0; i < NPARAM; i++)
		buf_printf(b, "%s=%.17g\n", param_info((enum param)i)->name,
		    m->params.param[i].value);
	mrvl_tools_facts(b, &m->tools);
}

static const struct target_program programs[] = {
    {"mrvl-tmlc",
        "whether Marvell's compiler takes a region is not checked, prices "
        "of mrvl are simulated"},
    {"mrvl-mlsim", "`marq run` computes regions of mrvl itself"},
    {0},
};

const struct space space_mrvl = {"mrvl", 'm', mrvl_transfer};
static const struct target_int8 int8 = {"quantize=int8", mrvl_weights8};
static const struct target_tool tool = {mrvl_ask, mrvl_compile_region};

const struct target_kind target_mrvl = {
    .name = "mrvl",
    .summary = "Marvell MLIP of OCTEON 10 (cn10ka): fp16 or int8 regions, "
               "costs simulated",
    .int8 = &int8,
    .option = mrvl_options,
    .rule = mrvl_rules,
    .nrules = NRULES,
    .source = PRICE_SIMULATED,
    .launches = true,
    .space = SPACE_MRVL,
    .program = programs,
    .tool = &tool,
    .toolchain = &mrvl_toolchain,
    .calibration = &mrvl_calibration,
    .open = open_mrvl,
    .survey = survey,
    .implementations = implementations,
    .memory = mrvl_memory,
    .spills = true,
    .compile = mrvl_compile,
    .simulate = mrvl_simulate,
    .assume = mrvl_assume,
    .environment = environment,
};
