/* Arenas: memory by lifetime. A function that allocates takes an arena, and
 * that parameter is the ownership documentation. Allocation never fails: out
 * of memory ends a batch tool with one line and exit status 8. */
#ifndef IR_BASE_ARENA_H
#define IR_BASE_ARENA_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena_block;

struct arena {
	struct arena_block *top;
	size_t bytes; /* handed out since init or the last reset */
	size_t limit; /* 0: none; else exceeding it ends the process */
};

/* A point to come back to; see arena_mark(). */
struct arena_mark {
	struct arena_block *top;
	size_t used, bytes;
};

void arena_init(struct arena *a);
void arena_release(struct arena *a);

/* Its i-th mapping, the last one first; false: it has no more. What is small lies among
 * others' memory, and is none. */
bool arena_mapping(
    const struct arena *a, uint32_t i, uintptr_t *from, uintptr_t *end);

/* `bytes` zeroed bytes, aligned to 16 (smaller ones to the largest power of two
 * that divides them), and to 64 (a cache line, and what SIMD kernels want) from
 * 256 bytes on; never NULL, also for 0 bytes. */
void *arena_alloc(struct arena *a, size_t bytes);

/* An array of n zeroed things of a type. n * sizeof is checked. */
#define arena_new(a, type, n) ((type *)arena_array(a, (n), sizeof(type)))
void *arena_array(struct arena *a, size_t n, size_t size);

/* Room for at least `need` items: returns `items` or a larger copy and updates
 * *cap. Doubling, so n pushes cost O(n). Where it is a copy, the items before
 * are dropped. */
void *arena_grow(
    struct arena *a, void *items, uint32_t *cap, uint32_t need, size_t size);

/* Nobody looks at these bytes of the arena's any more. What is large goes back to
 * the system at once; the room itself does not return before arena_back(). */
void arena_drop(struct arena *a, void *bytes, size_t n);

/* Copies. */
void *arena_copy(struct arena *a, const void *bytes, size_t n);
char *arena_str(struct arena *a, const char *s);
char *arena_strn(struct arena *a, const char *s, size_t n);
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
char *
arena_printf(struct arena *a, const char *fmt, ...);

/* Everything allocated after the mark is given back by arena_back(). */
struct arena_mark arena_mark(const struct arena *a);
void arena_back(struct arena *a, struct arena_mark mark);

#endif
