/* Joining of bytes between quantisers: each part's codes become the result's by a
 * table, rows at a time. */
#include <string.h>

#include "targets/native/byte_line.h"
#include "targets/native/codes.h"
#include "targets/native/native.h"
#include "targets/team.h"

bool
accept_byte_join(const struct match_in *m, struct why *why)
{
	return need_byte_codes(m, why);
}

struct byte_join {
	bytes_table_rows_run *run;
	size_t outer, whole; /* rows of the result, bytes of each */
	uint32_t n, threads;
	struct join_part {
		int32_t port;
		size_t length, at; /* bytes of each row, from there on */
		bool same; /* its codes are the result's */
		uint8_t table[256];
		struct byte_line line; /* where has_line, it says the same */
		bool has_line;
	} * part; /* [n] */
	const void *const *in; /* of this run */
	uint8_t *to;
};

static int64_t
join_axis(const struct graph *g, const struct node *n)
{
	const int64_t axis = attr_int_or(n, "axis", 1);

	return axis < 0 ? axis + node_out(g, n, 0)->type.rank : axis;
}

uint32_t
ways_byte_join(const struct match_in *m, struct formats *f,
    struct implementation *out, uint32_t max)
{
	const struct byte_enclosed b = byte_enclosed_of(m->graph, m->match);
	const struct type *t = matched_type(m, b.middle->output[0]);

	return byte_ways(
	    m, f, out, max, t->rank == 4 && join_axis(m->graph, b.middle) == 1);
}

static void
copy_rows(uint8_t *to, const uint8_t *from, const struct table_rows *r)
{
	for (size_t k = 0; k < r->rows;
	     k++, to += r->to_step, from += r->from_step)
		memcpy(to, from, r->n);
}

/* Bytes first..last of a part, in so many rows from one on. */
static void
join_rows(const struct byte_join *j, const struct join_part *p, size_t row,
    size_t rows, const size_t of[2])
{
	const struct table_rows r = {of[1] - of[0], rows, j->whole, p->length,
	    p->has_line ? &p->line : NULL};
	const uint8_t *from = j->in[p->port];
	uint8_t *to = j->to + row * j->whole + p->at + of[0];

	from += row * p->length + of[0];
	if (p->same)
		copy_rows(to, from, &r);
	else
		j->run(to, from, &r, p->table);
}

/* TUNING: rows of the result that stay in a first cache until all parts are there. */
#define BLOCK ((size_t)16 << 10)
/* Of what has fewer rows each thread has a share of each. */
#define ROWS_LEAST 16

static void
join_share(void *of, uint32_t i)
{
	const struct byte_join *j = of;
	const bool by_row = j->outer >= ROWS_LEAST;
	const size_t first = by_row ? j->outer * i / j->threads : 0;
	const size_t end = by_row ? j->outer * (i + 1) / j->threads : j->outer;
	const size_t step = j->whole < BLOCK ? BLOCK / j->whole : 1;

	for (size_t row = first; row < end; row += step)
		for (uint32_t k = 0; k < j->n; k++) {
			const struct join_part *p = &j->part[k];
			const size_t n = p->length, t = j->threads;
			const size_t some[2] = {by_row ? 0 : n * i / t,
			    by_row ? n : n * (i + 1) / t};

			join_rows(j, p, row,
			    end - row < step ? end - row : step, some);
		}
}

static void
run_join(struct kernel *k, const void *const *in, void *const *out)
{
	struct byte_join *j = k->state;

	j->in = in;
	j->to = out[0];
	if (j->outer)
		team_run(j->threads, join_share, j);
}

/* Bytes of one part that lie together. */
static size_t
part_length(const struct type *t, int64_t axis, bool last)
{
	return last ? (size_t)t->dim[1] : type_elements(t, (uint32_t)axis);
}

/* The table of one part, as if it were joined to nothing. */
static bool
part_table(struct join_part *p, const struct graph *g,
    const struct byte_enclosed *b, const struct node *from, struct err *err)
{
	struct byte_code x, y;
	uint8_t all[256];
	float real[256];

	if (!byte_code_of(&x, g, from) || !byte_code_of(&y, g, b->quantiser))
		return err_set(err, ERR_INTERNAL, "native: codes are lost");
	p->same = x.scale == y.scale && x.zero == y.zero
	    && x.is_unsigned == y.is_unsigned;
	for (size_t i = 0; i < 256; i++)
		all[i] = (uint8_t)i;
	bytes_dequantize(real, all, 256, &x);
	bytes_quantize(p->table, real, 256, &y);
	p->has_line = byte_line_find(&p->line, &x, &y, p->table);
	return true;
}

static bool
join_parts(struct byte_join *j, const struct graph *g,
    const struct candidate *c, struct err *err)
{
	const struct byte_enclosed b = byte_enclosed_of(g, c->match);
	const int64_t axis = join_axis(g, b.middle);

	for (uint32_t i = 0; i < j->n; i++) {
		struct join_part *p = &j->part[i];
		const value_id v = byte_input(g, b.middle, i);

		p->port = candidate_input(c, v);
		p->length = part_length(
		    &graph_value(g, v)->type, axis, c->implementation == 1);
		p->at = j->whole;
		j->whole += p->length;
		if (!part_table(
		        p, g, &b, graph_producer(g, b.middle->input[i]), err))
			return false;
	}
	return true;
}

bool
compile_byte_join(const struct target *t, const struct graph *g,
    const struct candidate *c, struct arena *a, struct kernel *out,
    struct err *err)
{
	struct byte_join *j = arena_new(a, struct byte_join, 1);
	const size_t bytes =
	    format_bytes(t->formats->format[c->output[0].format],
	        &graph_value(g, c->output[0].value)->type);

	j->run = native_version_of(t)->bytes_table_rows;
	j->n = byte_enclosed_of(g, c->match).middle->ninputs;
	j->part = arena_new(a, struct join_part, j->n);
	if (!join_parts(j, g, c, err))
		return false;
	j->outer = j->whole ? bytes / j->whole : 0;
	j->threads = team_for(bytes);
	*out = (struct kernel){
	    .kind = t->kind, .candidate = c, .run = run_join, .state = j};
	return true;
}
