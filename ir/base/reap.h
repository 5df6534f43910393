/* The end of a child. */
#ifndef IR_BASE_REAP_H
#define IR_BASE_REAP_H

/* Wait until a child of ours has ended, whatever signals come: its status as of
 * waitpid(); 0 where nobody can tell any more. */
int reap(long process);

#endif
