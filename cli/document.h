/* With --format json stdout carries one document whatever happens: it is kept
 * until the command ends, and a fault replaces what was written of it. */
#ifndef CLI_DOCUMENT_H
#define CLI_DOCUMENT_H

#include <stdbool.h>

struct cli;
struct err;

/* Reports a fault of the command line; the exit status is argp's. */
typedef int document_complain(const struct cli *c, struct err *err);

/* Does a command line ask for JSON? Before it is parsed, and even if it cannot
 * be. */
bool document_is_wanted(int argc, char **argv);

/* Before everything else; what is kept is let go when the process ends. */
void document_init(const struct cli *c, document_complain *complain);

/* Keep stdout from now on. Without room for that nothing is kept. */
void document_begin(void);

/* Forget what was written so far. */
void document_discard(void);

/* Was nothing written? */
bool document_is_empty(void);

/* Let go of what was kept; false when it could not be written. */
bool document_end(void);

/* Between these two argp may end the process after a complaint on stderr; the
 * complaint then is reported as every fault is. */
void document_parse_begin(void);
void document_parse_end(void);

#endif
