/* Streaming JSON writer. Knows where commas go; refuses nothing: a misuse is
 * an assertion. Strings are escaped, invalid UTF-8 becomes U+FFFD, integers
 * are exact, so every document it writes parses everywhere. Output goes to a
 * FILE as it is made: a 500 MB document needs no memory. */
#ifndef IR_BASE_JSON_H
#define IR_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define JSON_DEPTH 64

struct json_tree;

struct json {
	FILE *out;
	struct json_tree *tree; /* instead of text on `out`; NULL: text */
	unsigned indent; /* spaces per level; 0: all on one line */
	unsigned depth;
	bool after_key;
	unsigned char inline_at; /* depth from which lines are not broken */
	struct {
		bool object, filled;
	} level[JSON_DEPTH];
};

void json_init(struct json *j, FILE *out, unsigned indent);
/* The document becomes a tree; it has no base64. */
void json_init_tree(struct json *j, struct json_tree *tree);

void json_object(struct json *j); /* { */
void json_array(struct json *j); /* [ */
void json_inline_array(struct json *j); /* [ kept on one line */
void json_inline_object(struct json *j);
void json_close(struct json *j); /* } or ], whichever is open */
void json_key(struct json *j, const char *key);
void json_key_n(struct json *j, const char *key, size_t n);

void json_str(struct json *j, const char *s); /* NULL: null */
void json_strn(struct json *j, const char *s, size_t n);
#ifdef __GNUC__
__attribute__((format(printf, 2, 3)))
#endif
void
json_strf(struct json *j, const char *fmt, ...);
void json_int(struct json *j, int64_t x);
void json_uint(struct json *j, uint64_t x);
void json_real(struct json *j, double x); /* %.17g; NaN and inf: null */
void json_bool(struct json *j, bool x);
void json_null(struct json *j);
/* A string of base64 (RFC 4648, padded), streamed. */
void json_base64(struct json *j, const void *bytes, size_t n);
/* The same in pieces; all but the last of a multiple of 3 bytes. */
void json_base64_open(struct json *j);
void json_base64_more(struct json *j, const void *bytes, size_t n);
void json_base64_close(struct json *j);

/* Key and value in one. */
void json_key_str(struct json *j, const char *key, const char *s);
void json_key_int(struct json *j, const char *key, int64_t x);
void json_key_uint(struct json *j, const char *key, uint64_t x);
void json_key_real(struct json *j, const char *key, double x);
void json_key_bool(struct json *j, const char *key, bool x);

/* An object of lines "name=value" (a text, may be empty); others are left out. */
void json_key_facts(struct json *j, const char *key, const char *lines);

#endif
