/* marq_plugin.h - backends for marq as shared objects, version 1.1
 *
 * A plug-in is a shared object with one exported function, marq_plugin_1(). It
 * lets marq offer parts of a model to somebody's runtime, find out what they
 * cost there, and run them there. This header is all it needs: nothing of marq
 * is linked, and nothing of the plug-in's libraries is seen by marq.
 *
 * What a plug-in *is* is data: a JSON text (struct marq_plugin, `about`) with
 * its options, rules, formats and promises. marq reads that text; candidates
 * are found without calling the plug-in again. What a plug-in *does* is a
 * table of functions that speak of regions only, a single node being a region
 * of one:
 *
 *     open -> environment -> compile -> layers, execute..., release
 *                         -> emit                 (files for other tools)
 *          -> close
 *
 * Regions are whole ONNX models in memory: whatever reads ONNX can take them.
 *
 * Version. The 1 in the function's name is the major version: a plug-in for
 * another one does not have the symbol, and nothing of it is called. Within a
 * major version structs only grow at their end. Each begins with `size`, the
 * bytes its *maker* knew; who reads it takes what lies within as given and what
 * lies behind as 0. So: fill `size` with sizeof, clear the rest first, look at
 * a field with MARQ_HAS() where it is not of version 1.0, and never compare
 * sizes for equality. Codes nobody knows are refused, not guessed.
 *
 * Memory. Who allocates, frees; nothing changes hands. Handles are the
 * plug-in's and marq gives each back once. Buffers, regions and texts given
 * into a call are marq's and end with it, unless said otherwise; texts and
 * structs the plug-in points to live as long as its handle, those of the table
 * as long as the library. What is of unknown length goes through a function of
 * struct marq_sink while the call lasts, and is copied there.
 *
 * Threads. Calls on one target, and on all that was made from it, come one at a
 * time, from whichever thread; different targets may be called at once. A
 * call may use up to `threads` threads, its caller included, and no processor
 * outside the caller's affinity. Between calls none of them runs: no spinning,
 * no polling, but where `alone` is set. A plug-in that cannot keep to that says
 * so ("spins").
 *
 * Manners. It is opened in a measuring process, or in the one that runs a plan,
 * and never crosses a fork. It does not write to standard output, end the
 * process, catch signals, change the environment, locale, affinity or rounding,
 * nor leave the floating-point control word changed; C++ exceptions and longjmp
 * stop at the border. It opens no network connection and writes files through
 * the sink only. It loads libraries with RTLD_LOCAL, in open(), and neither it
 * nor they are unloaded. Executing allocates nothing after the first two runs.
 *
 * Units. Nanoseconds, bytes, elements. Texts are UTF-8, ended by a zero byte.
 */
#ifndef MARQ_PLUGIN_H
#define MARQ_PLUGIN_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MARQ_PLUGIN_MAJOR 1
#define MARQ_PLUGIN_MINOR 1

#if defined(__GNUC__)
#define MARQ_PLUGIN_EXPORT __attribute__((visibility("default")))
#else
#define MARQ_PLUGIN_EXPORT
#endif

/* Did the maker of *s know `field`, and set it? */
#define MARQ_HAS(type, s, field) \
	((s)->size >= offsetof(type, field) + sizeof((s)->field) \
	    && (s)->field != 0)

/* ---- How calls end ---------------------------------------------------- */

typedef uint32_t marq_status;
enum {
	MARQ_OK = 0,
	MARQ_REFUSED = 1, /* cannot take this region: remembered, and not asked
			   * again under the same facts */
	MARQ_UNAVAILABLE = 2, /* cannot be used on this machine: a library is
			       * absent, a device is not there */
	MARQ_BAD_DATA = 3, /* the inputs' fault: an index out of range */
	MARQ_NO_MEMORY = 4,
	MARQ_FAILED = 5 /* anything else; the handle can only be given back */
};

/* Why, in one line for people, with the actual and the required value. The
 * caller's memory; cut where it ends. Not touched when all is well. */
struct marq_error {
	uint32_t size;
	uint32_t capacity; /* bytes in text, its final zero included */
	char *text;
};

/* ---- Where results go that have no size yet --------------------------- */

/* What one operation of the runtime stands for: an entry of the source map. */
struct marq_layer {
	uint32_t size;
	uint32_t nnodes;
	const uint32_t *node; /* [nnodes] of the region, as in its model; none:
			       * the runtime added it (a reorder, a copy) */
	const char *name; /* as its profiler and logs call it */
	const char *type; /* "Conv+Relu" */
	const char *implementation; /* "jit_avx2", or NULL */
	uint64_t ns; /* of one run, where the runtime knows; 0: unknown */
};

struct marq_sink {
	uint32_t size;
	uint32_t reserved;
	void *context; /* handed back as the first argument */
	/* A fact, in environment(). Values have no line ends. */
	void (*fact)(void *context, const char *key, const char *value);
	/* An operation, in layers(), in the order of execution. */
	void (*layer)(void *context, const struct marq_layer *layer);
	/* A file of the result directory, in emit(): a plain name. */
	void (*file)(void *context, const char *name, const void *bytes,
	    uint64_t nbytes);
	/* Something worth telling the user, at any time; shown with -v. */
	void (*note)(void *context, const char *text);
};

/* ---- What is handed over ---------------------------------------------- */

/* Element types are ONNX's numbers (TensorProto.DataType): 1 float, 2 uint8,
 * 3 int8, 6 int32, 7 int64, 9 bool, 10 float16, 11 double, 16 bfloat16, ... */

/* A tensor that crosses the border of a region: in the host's memory, in C order
 * of its shape, which is always known. */
struct marq_port {
	uint32_t size;
	uint32_t type; /* element type */
	uint32_t rank;
	uint32_t reserved;
	const int64_t *dim; /* [rank] */
	uint64_t bytes;
	const char *name; /* in the model; for messages and files */
};

/* Nodes that run as one invocation; one, or a connected set of them. */
struct marq_region {
	uint32_t size;
	uint32_t nnodes;
	const char *name; /* a C identifier, unique in the plan */
	/* A ModelProto with all its constants: no functions, shapes of ports
	 * given, nodes in an order that can be run. Inputs and outputs are the
	 * ports', in their order. Node i is named "n<i>", and so is its first
	 * output where that is no port: runtimes name what they fuse after
	 * either. */
	const void *model;
	uint64_t model_bytes;
	uint32_t ninputs, noutputs;
	const struct marq_port *const *input, *const *output;
};

enum { /* why something is compiled */
	MARQ_TO_PRICE = 0, /* run some hundred times, then thrown away */
	MARQ_TO_RUN = 1, /* part of a plan: beside others, for long */
	MARQ_TO_MAP = 2 /* run once, then asked for its layers; time is not
			 * measured, so whatever they need may be switched on */
};

struct marq_settings {
	uint32_t size;
	uint32_t threads; /* the caller's included; at least 1 */
	uint32_t purpose;
	uint32_t reserved;
	uint64_t deadline_ns; /* give up after so long; 0: no limit. The process
			       * may be ended soon after. */
	/* Since 1.1. */
	uint32_t alone; /* it is the whole model, so nobody else needs the
			 * processors: its threads may spin between calls. Prices
			 * of such regions are kept apart. */
	uint32_t reserved_1;
};

struct marq_option {
	uint32_t size;
	uint32_t reserved;
	const char *name, *value; /* one of `about`, checked against it */
};

/* ---- The plug-in ------------------------------------------------------ */

struct marq_target; /* an opened backend with its options */
struct marq_program; /* a region, compiled */

struct marq_plugin {
	uint32_t size;
	uint32_t minor; /* MARQ_PLUGIN_MINOR it was made with */

	/* JSON. "name", "version" and "rules" are required:
	 * {"format": "marq-plugin", "version": 1,
	 *  "name": "ort",              what plans call it
	 *  "summary": "...",
	 *  "options": [{"name": "level", "values": "basic|all",
	 *               "default": "all", "help": "..."}],
	 *  "unpriced": ["dump"],       those of them that no price depends on
	 *  "rules": [...],             what it takes, as in a rules file: name,
	 *                              pattern in its text form, "where",
	 *                              "taps"; no "cost"
	 *  "matches": "all",           which matches of them are offered; "gaps":
	 *                              where nothing but the host has a kernel
	 *  "regions": true,            larger parts are offered, too, made of
	 *                              nodes that rules take by themselves
	 *  "authored": true,           ... also with operators of the domains of
	 *                              "opsets" that marq writes out in others
	 *                              as the model's author has them (since 1.1)
	 *  "compile_ms": 300,          about what compiling takes: over 100 fewer
	 *                              parts are asked about (since 1.1)
	 *  "opsets": {"": [7, 24]},    versions of domains that compile() takes;
	 *                              others are not offered; none: any
	 *  "types": ["float32", "int8"],  of ports; none: any
	 *  "spins": false}             its threads may run between calls
	 * Keys nobody knows are ignored. */
	const char *about;

	/* Take the options, load libraries, find devices. The sink lives until
	 * close(). UNAVAILABLE names what is missing and how to get it. */
	marq_status (*open)(const struct marq_option *const *option,
	    uint32_t noptions, const struct marq_sink *sink,
	    struct marq_target **out, struct marq_error *error);
	void (*close)(struct marq_target *t);

	/* Whatever a price depends on that is neither the region nor the
	 * settings: versions and builds of libraries, devices, clocks fixed,
	 * defaults that options stand for. All of it is part of the key. */
	marq_status (*environment)(struct marq_target *t,
	    const struct marq_sink *sink, struct marq_error *error);

	/* Make a region ready to run. The region ends with the call. */
	marq_status (*compile)(struct marq_target *t,
	    const struct marq_region *region,
	    const struct marq_settings *settings, struct marq_program **out,
	    struct marq_error *error);
	void (*release)(struct marq_program *p);

	/* Run once, to the end. in[] and out[] are the ports' buffers: 64-byte
	 * aligned, 64 bytes of slack behind that may be read and not written,
	 * apart from one another. Inputs stay as they are. The addresses are
	 * nearly always those of the call before: compare, and bind anew only
	 * when one differs. */
	marq_status (*execute)(struct marq_program *p, const void *const *in,
	    void *const *out, struct marq_error *error);

	/* The rest may be NULL. */

	/* Which of its operations stands for which nodes, of a program compiled
	 * to map that has run. NULL: the region is one layer. */
	marq_status (*layers)(struct marq_program *p,
	    const struct marq_sink *sink, struct marq_error *error);
	/* Files of a chosen region: what its tools take, or what loads faster
	 * than compiling. The same region gives the same bytes. */
	marq_status (*emit)(struct marq_target *t,
	    const struct marq_region *region,
	    const struct marq_settings *settings, const struct marq_sink *sink,
	    struct marq_error *error);
};

/* The table, the same at every call; NULL only where `host_minor`, the caller's
 * MARQ_PLUGIN_MINOR, is too old for it. Does nothing else: no library is
 * loaded, no thread started, before open(). */
#define MARQ_PLUGIN_SYMBOL "marq_plugin_1"
typedef const struct marq_plugin *marq_plugin_1_fn(uint32_t host_minor);
MARQ_PLUGIN_EXPORT const struct marq_plugin *marq_plugin_1(uint32_t host_minor);

#ifdef __cplusplus
}
#endif
#endif
