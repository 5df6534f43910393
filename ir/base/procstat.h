/* What the kernel says of a process or a thread in one line: proc(5), stat. */
#ifndef IR_BASE_PROCSTAT_H
#define IR_BASE_PROCSTAT_H

#define PROCSTAT_BYTES 1024

enum procstat {
	PROCSTAT_STATE = 3, /* a letter */
	PROCSTAT_PARENT = 4,
	PROCSTAT_STARTED = 22, /* in clock ticks since boot */
};

/* The line of /proc/WHOSE/stat from that field on, in `text`; "" where there is
 * no such process. */
const char *procstat(
    const char *whose, enum procstat field, char text[PROCSTAT_BYTES]);

#endif
