/* The parts of mod.so: cpu.c, and __tvm_dev_mblob, the modules it imports, as
 * TVM's SerializeModuleToBytes() lays them out: const_loader, whose __init_ call
 * loads a region's binary; a mrvl_hw for each region; the library itself. */
#include <inttypes.h>
#include <string.h>

#include "targets/mrvl/device.h"

void
device_write_code(FILE *f, const struct device *d)
{
	fputs("/* The functions of mod.json that run on the CPU. Written by "
	      "marq. */\n#include \"ops.h\"\n\n"
	      "/* Set by TVM's runtime when it loads the module. */\n"
	      "void *__tvm_module_ctx;\n"
	      "void (*__TVMAPISetLastError)(const char *message);\n\n",
	    f);
	if (d->code.n)
		fwrite(d->code.data, 1, d->code.n, f);
}

/* A length, and the text. */
static void
put_text(FILE *f, const char *text)
{
	fprintf(f, "\t.quad %zu\n\t.ascii \"%s\"\n", strlen(text), text);
}

/* A length, and a file of the folder that the assembler is told of. */
static void
put_file(FILE *f, const char *symbol, const char *suffix, uint32_t label)
{
	fprintf(f,
	    "\t.quad .Lend%u - .Lbegin%u\n.Lbegin%u:\n"
	    "\t.incbin \"%s%s\"\n.Lend%u:\n",
	    label, label, label, symbol, suffix, label);
}

/* Symbols whose __init_ is called, each with no constants of its own. */
static void
put_loader(FILE *f, const struct device *d)
{
	put_text(f, "const_loader");
	fprintf(f,
	    "\t.quad 0 /* names of constants */\n\t.quad 0\n"
	    "\t.quad %u /* symbols */\n",
	    d->nregions);
	for (uint32_t i = 0; i < d->nregions; i++)
		put_text(f, d->region[i].layers.symbol);
	fprintf(f, "\t.quad %u\n", d->nregions);
	for (uint32_t i = 0; i < d->nregions; i++)
		fputs("\t.quad 0\n", f);
}

static void
put_region(FILE *f, const struct device_region *r, uint32_t i)
{
	put_text(f, "mrvl_hw");
	put_text(f, r->layers.symbol);
	put_file(f, r->layers.symbol, "-nodes.json", 2 * i);
	put_file(f, r->layers.symbol, ".base64", 2 * i + 1);
	fprintf(f, "\t.long %u, %u, %" PRIi64 " /* inputs, outputs, batch */\n",
	    r->layers.ninputs, r->layers.noutputs, r->batch);
}

/* const_loader, module 0, imports all others; they import nothing. */
static void
put_tree(FILE *f, uint32_t nmodules)
{
	put_text(f, "_import_tree");
	fprintf(f, "\t.quad %u\n\t.quad 0\n", nmodules + 1);
	for (uint32_t i = 0; i < nmodules; i++)
		fprintf(f, "\t.quad %u\n", nmodules - 1);
	fprintf(f, "\t.quad %u\n", nmodules - 1);
	for (uint32_t i = 1; i < nmodules; i++)
		fprintf(f, "\t.quad %u\n", i);
}

void
device_write_module(FILE *f, const struct device *d)
{
	uint32_t nmodules = d->nregions + 2;

	fputs("/* The modules that mod.so imports. Written by marq. */\n"
	      "\t.section .rodata\n\t.balign 8\n"
	      "\t.globl __tvm_dev_mblob\n"
	      "\t.type __tvm_dev_mblob, %object\n__tvm_dev_mblob:\n"
	      "\t.quad .Lend - .Lbegin\n.Lbegin:\n",
	    f);
	fprintf(f, "\t.quad %u\n", nmodules + 1);
	put_loader(f, d);
	for (uint32_t i = 0; i < d->nregions; i++)
		put_region(f, &d->region[i], i);
	put_text(f, "_lib");
	put_tree(f, nmodules);
	fputs(".Lend:\n\t.size __tvm_dev_mblob, . - __tvm_dev_mblob\n"
	      "\t.section .note.GNU-stack,\"\",%progbits\n",
	    f);
}
