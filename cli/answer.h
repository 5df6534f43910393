/* What a command says on stdout: one value, written as text or as one JSON
 * document. A group of fields is given once, with the sentence that tells it:
 *
 *	ANSWER(&a, "{db}: {saved} attempt{s saved} saved, {lost} lost\n",
 *	    F("db", d->db), F("saved", saved), F("lost", lost));
 *
 * JSON gets every F() under its name, text the sentence. In it stands
 *	{name}        the field's value; true and false are words
 *	{name:SPEC}   [-+][width][.digits][letter]: blanks before (- after) it;
 *	              letters: g or f of reals, t a duration of ns, b bytes in MiB
 *	{s name}      "s" unless it is 1; {es name} "es"
 *	{?name TEXT}  TEXT (with braces of its own) if it is not 0, false, NULL or "";
 *	{!name TEXT}  if it is
 * T() is a field for text only, and F() without a place in the sentence is for
 * JSON only; IS() is an F() of a truth value. A sentence that names no field is an assertion in either format. */
#ifndef CLI_ANSWER_H
#define CLI_ANSWER_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "cli/cli.h"
#include "ir/base/json.h"

enum field_kind {
	FIELD_WORDS,
	FIELD_UINT,
	FIELD_INT,
	FIELD_REAL,
	FIELD_BOOL,
};

struct field {
	const char *name;
	enum field_kind kind;
	bool text_only;
	union {
		const char *words;
		uint64_t number;
		int64_t whole;
		double real;
		bool truth;
	} is;
};

struct answer {
	bool is_json;
	FILE *out; /* standard output; NULL: no text is wanted */
	struct json json; /* of is_json: for what is not flat */
};

/* Begin the one document; schema: "marq.doctor/1", or NULL. */
void answer_begin(struct answer *a, const struct cli *c, const char *schema);
void answer_end(struct answer *a);

/* A list, an object, a row of a list that has lists of its own; text has no
 * such things. */
void answer_list(struct answer *a, const char *key);
void answer_object(struct answer *a, const char *key);
void answer_row(struct answer *a);
void answer_close(struct answer *a);

/* A list of words, of JSON only. */
void answer_words(
    struct answer *a, const char *key, const char *const *word, uint32_t n);

/* Fields of what is open; of a row (told on a line in JSON, too). */
void answer_fields(
    struct answer *a, const char *text, const struct field *f, uint32_t n);
void answer_line(
    struct answer *a, const char *text, const struct field *f, uint32_t n);
/* A whole document of them. */
void answer_whole(const struct cli *c, const char *schema, const char *text,
    const struct field *f, uint32_t n);

#define FIELDS(...) \
	(const struct field[]){__VA_ARGS__}, \
	    (uint32_t)(sizeof((const struct field[]){__VA_ARGS__}) \
	        / sizeof(struct field))
#define ANSWER(a, text, ...) answer_fields(a, text, FIELDS(__VA_ARGS__))
#define ANSWER_LINE(a, text, ...) answer_line(a, text, FIELDS(__VA_ARGS__))
#define ANSWER_WHOLE(c, schema, text, ...) \
	answer_whole(c, schema, text, FIELDS(__VA_ARGS__))

#define F(name, x) FIELD_OF(x)(name, false, x)
/* A comparison and `true` are ints to C: where JSON is to have a truth value. */
#define IS(name, x) field_bool(name, false, x)
#define T(name, x) FIELD_OF(x)(name, true, x)
#define FIELD_OF(x) \
	_Generic((x), \
	    bool: field_bool, \
	    int: field_int, \
	    long: field_int, \
	    long long: field_int, \
	    unsigned: field_uint, \
	    unsigned long: field_uint, \
	    unsigned long long: field_uint, \
	    double: field_real, \
	    char *: field_words, \
	    const char *: field_words)

struct field field_words(const char *name, bool text_only, const char *x);
struct field field_uint(const char *name, bool text_only, uint64_t x);
struct field field_int(const char *name, bool text_only, int64_t x);
struct field field_real(const char *name, bool text_only, double x);
struct field field_bool(const char *name, bool text_only, bool x);

#endif
