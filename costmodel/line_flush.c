#include "costmodel/line_flush.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

#define LINE_USUAL 64

/* SOURCE: Intel's manual, volume 2, CPUID; the line in eights of bytes. */
#define EBX1_LINE(ebx) ((size_t)((ebx) >> 8 & 0xff) * 8)
#define EDX1_CLFLUSH (UINT32_C(1) << 19)
#define EBX7_CLFLUSHOPT (UINT32_C(1) << 23)

struct line_flusher
line_flusher_of(uint32_t ebx1, uint32_t edx1, uint32_t ebx7)
{
	struct line_flusher f = {LINE_FLUSH_NONE, EBX1_LINE(ebx1)};

	if (f.line == 0 || (f.line & (f.line - 1)) != 0)
		f.line = LINE_USUAL;
	if (ebx7 & EBX7_CLFLUSHOPT)
		f.how = LINE_FLUSH_CLFLUSHOPT;
	else if (edx1 & EDX1_CLFLUSH)
		f.how = LINE_FLUSH_CLFLUSH;
	return f;
}

#if defined(__x86_64__)
struct line_flusher
line_flusher_new(void)
{
	uint32_t a, b, c, d, ebx7 = 0;

	if (__get_cpuid_count(7, 0, &a, &b, &c, &d))
		ebx7 = b;
	if (!__get_cpuid(1, &a, &b, &c, &d))
		b = d = 0;
	return line_flusher_of(b, d, ebx7);
}

__attribute__((target("clflushopt"))) static void
flush_side_by_side(char *line, const char *end, size_t step)
{
	for (; line < end; line += step)
		_mm_clflushopt(line);
}

static void
flush_lines(const struct line_flusher *f, char *line, const char *end)
{
	if (f->how == LINE_FLUSH_CLFLUSHOPT)
		flush_side_by_side(line, end, f->line);
	else
		for (; line < end; line += f->line)
			_mm_clflush(line);
}

static void
finish(void)
{
	_mm_mfence();
}
#elif defined(__aarch64__)
/* Linux lets programs do so. SOURCE: Arm's manual, CTR_EL0: DminLine, words of the
 * smallest line, as a power of two. */
struct line_flusher
line_flusher_new(void)
{
	uint64_t type;

	__asm__("mrs %0, ctr_el0" : "=r"(type));
	return (struct line_flusher){
	    LINE_FLUSH_CIVAC, (size_t)4 << (type >> 16 & 0xf)};
}

static void
flush_lines(const struct line_flusher *f, char *line, const char *end)
{
	for (; line < end; line += f->line)
		__asm__ volatile("dc civac, %0" : : "r"(line) : "memory");
}

static void
finish(void)
{
	__asm__ volatile("dsb sy" : : : "memory");
}
#else
struct line_flusher
line_flusher_new(void)
{
	return (struct line_flusher){LINE_FLUSH_NONE, LINE_USUAL};
}

static void
flush_lines(const struct line_flusher *f, char *line, const char *end)
{
	(void)f;
	(void)line;
	(void)end;
}

static void
finish(void)
{
}
#endif

void
line_flush(const struct line_flusher *f, const void *at, size_t bytes)
{
	union {
		const char *read;
		char *line;
	} from = {.read = at};

	if (f->how != LINE_FLUSH_NONE && bytes > 0)
		flush_lines(
		    f, from.line - (uintptr_t)at % f->line, from.read + bytes);
}

void
line_flush_wait(const struct line_flusher *f)
{
	if (f->how != LINE_FLUSH_NONE)
		finish();
}
