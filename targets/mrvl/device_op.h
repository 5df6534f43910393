/* One node of the CPU on its way to C. */
#ifndef TARGETS_MRVL_DEVICE_OP_H
#define TARGETS_MRVL_DEVICE_OP_H

#include "targets/host/call.h"
#include "targets/mrvl/device_build.h"

struct device_op {
	struct device_builder *builder;
	const struct graph *graph;
	const struct node *node;
	node_id id;
	struct arena *arena;
	struct buf body;
	struct err *err;
};

/* A row of device_ops.def. */
struct cpu_op {
	bool (*write)(struct device_op *op, const struct cpu_op *row);
	const char *first, *text, *last;
	const char *name[2];
	float otherwise[2];
	bool integers;
};

#define ONE(...)
#define TWO(...)
#define COMPARE(...)
#define FOLD(...)
#define COPY(...)
#define MOVE(...)
#define OWN(op, function) \
	bool function(struct device_op *op, const struct cpu_op *row);
bool cpu_one(struct device_op *op, const struct cpu_op *row);
bool cpu_two(struct device_op *op, const struct cpu_op *row);
bool cpu_compare(struct device_op *op, const struct cpu_op *row);
bool cpu_fold(struct device_op *op, const struct cpu_op *row);
bool cpu_copy(struct device_op *op, const struct cpu_op *row);
bool cpu_move(struct device_op *op, const struct cpu_op *row);
#include "targets/mrvl/device_ops.def"

/* ERR_UNSUPPORTED: "<operator> '<label>': <words>"; false. */
bool op_refuse(struct device_op *op, const char *fmt, ...) ERR_PRINTF(2, 3);

/* The argument that reads input i: x<argument>. */
uint32_t op_reads(struct device_op *op, uint32_t i);
/* "float32" of input i is wanted: refuses anything else. */
bool op_needs_float(struct device_op *op, uint32_t i);
const struct type *op_type_in(const struct device_op *op, uint32_t i);
const struct type *op_type_out(const struct device_op *op, uint32_t i);
bool op_has(const struct device_op *op, uint32_t i);
int64_t op_count(const struct type *t);

/* A float as C that reads back to the same bits. */
const char *op_float(const struct device_op *op, double x);
/* "for (long i0 = 0; ..." of every dimension that is not 1. */
void op_loops(struct device_op *op, const struct dims *d, const char *letter);
/* "3 + i0 * 12 + i1" */
const char *op_index(const struct device_op *op, const int64_t *stride,
    uint32_t rank, int64_t base);

/* The place of a value's element in loops over `to`, as if broadcast to it. */
const char *op_index_of(
    const struct device_op *op, const struct type *t, const struct type *to);
/* What reads attributes that became inputs: constants and input 0's shape. */
struct call op_call(struct device_op *op);
/* Inputs from `i` on must be constants. */
bool op_needs_constants(struct device_op *op, uint32_t i);

/* Elements elsewhere: worked out by the reference, on places instead of
 * values. */
bool device_write_move(struct device_op *op);

#endif
