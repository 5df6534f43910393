/* What the page says, as HTML: names escaped, figures in words. */
#ifndef EMIT_REPORT_TEXT_H
#define EMIT_REPORT_TEXT_H

#include <stdint.h>
#include <stdio.h>

#define NS_NEVER UINT64_MAX /* no legal plan */
#define DUR_BYTES 32

/* HTML with values put in. Only these, and their arguments exactly so:
 *   %s  const char *, escaped       %r  const char *, HTML already
 *   %n  uint32_t, 12,345            %g  double, three figures
 *   %t  uint64_t ns, "21.4 ms"      %i  const char *kind, its sign
 *   %p  uint64_t part, uint64_t whole, "20 %"
 *   %w  uint64_t part, uint64_t whole, a width in style="": "20.00%"
 *   %k  const char *kind, the last part of its class
 *   %o  uint32_t n, const char *noun, "2 nodes"
 *   %%  a per cent sign */
void html(FILE *f, const char *form, ...);

/* 21.4 ms: three figures and the unit people say aloud. */
const char *dur_text(char text[DUR_BYTES], uint64_t ns);

/* A command line to copy. */
void put_command(FILE *f, const char *line);

#endif
