/* Sections of the page of a night; each from the records alone. */
#ifndef CLI_NIGHT_PAGE_H
#define CLI_NIGHT_PAGE_H

#include <stdio.h>

#include "cli/night/summary.h"

struct night_page {
	FILE *f;
	const struct summary *s;
	bool is_kept; /* among the nights, where results have other places */
};

void page_begin(const struct night_page *p, const char *title);
void page_end(const struct night_page *p);
/* A command to copy. */
void page_command(const struct night_page *p, const char *command);

void page_matrix(const struct night_page *p);
void page_measured(const struct night_page *p);
/* The newest `most` nights. */
void page_nights(const struct night_page *p, uint32_t most);

#endif
