/* Einsum: labels are dimensions; what the output lacks is summed over. */
#include <string.h>

#include "targets/host/kernels.h"

#define OPERANDS 4u
#define LABELS (52u + RANK_MAX) /* letters, then dims behind an ellipsis */

struct einsum {
	uint32_t noperands, rank; /* rank: labels in use */
	int64_t dim[LABELS]; /* by label; -1 unused */
	ptrdiff_t stride[OPERANDS][LABELS];
	uint32_t ellipsis; /* dims behind the ellipsis */
	uint32_t order[LABELS]; /* output labels, then summed ones */
	uint32_t nout;
};

static int
label_of(char c)
{
	if (c >= 'a' && c <= 'z')
		return c - 'a';
	return c >= 'A' && c <= 'Z' ? c - 'A' + 26 : -1;
}

/* A dimension of an operand carries this label. */
static bool
bind(struct einsum *e, uint32_t operand, uint32_t label, int64_t dim,
    ptrdiff_t stride, struct err *err)
{
	if (e->dim[label] == -1 || e->dim[label] == 1)
		e->dim[label] = dim;
	else if (dim != 1 && dim != e->dim[label])
		return err_set(err, ERR_INPUT, "a label of %lld and %lld",
		    (long long)e->dim[label], (long long)dim);
	if (dim != 1)
		e->stride[operand][label] += stride;
	return true;
}

/* The labels of one term, an ellipsis standing for the dims left over. */
static bool
read_term(struct einsum *e, uint32_t operand, const char *term, size_t n,
    const struct tensor *t, struct err *err)
{
	ptrdiff_t stride[RANK_MAX];
	uint32_t letters = 0, d = 0, hidden;

	for (size_t i = 0; i < n; i++)
		letters += label_of(term[i]) >= 0;
	if (letters > t->rank)
		return err_set(
		    err, ERR_INPUT, "%u labels for rank %u", letters, t->rank);
	hidden = t->rank - letters;
	strides_of(t->rank, t->dim, stride);
	for (size_t i = 0; i < n; i++) {
		int label = label_of(term[i]);

		if (term[i] == ' ')
			continue;
		if (term[i] == '.' && i + 2 < n && term[i + 1] == '.') {
			if (hidden > e->ellipsis)
				e->ellipsis = hidden;
			for (uint32_t k = 0; k < hidden && d < t->rank; k++) {
				/* aligned at the right, as broadcasting is */
				if (!bind(e, operand, LABELS - hidden + k,
				        t->dim[d], stride[d], err))
					return false;
				d++;
			}
			hidden = 0;
			i += 2;
			continue;
		}
		if (label < 0 || d >= t->rank)
			return err_set(err, ERR_INPUT, "a bad equation");
		if (!bind(
		        e, operand, (uint32_t)label, t->dim[d], stride[d], err))
			return false;
		d++;
	}
	if (d != t->rank)
		return err_set(
		    err, ERR_INPUT, "%u of %u dimensions labelled", d, t->rank);
	return true;
}

static bool
add_output(struct einsum *e, uint32_t label, struct err *err)
{
	for (uint32_t i = 0; i < e->nout; i++)
		if (e->order[i] == label)
			return err_set(err, ERR_INPUT,
			    "a label twice in the "
			    "output");
	if (e->dim[label] == -1)
		return err_set(err, ERR_INPUT, "an output label of no input");
	if (e->nout >= RANK_MAX)
		return err_set(err, ERR_INPUT, "too many output labels");
	e->order[e->nout++] = label;
	return true;
}

static bool
add_ellipsis(struct einsum *e, struct err *err)
{
	for (uint32_t k = LABELS - e->ellipsis; k < LABELS; k++)
		if (!add_output(e, k, err))
			return false;
	return true;
}

/* No "->": the ellipsis, then labels that occur once, in alphabetical order
 * (capitals first). */
static bool
implicit_output(struct einsum *e, const char *terms, size_t n, struct err *err)
{
	uint32_t count[52] = {0};

	for (size_t i = 0; i < n; i++)
		if (label_of(terms[i]) >= 0)
			count[label_of(terms[i])]++;
	if (!add_ellipsis(e, err))
		return false;
	for (uint32_t i = 0; i < 52; i++) {
		uint32_t label = (i + 26) % 52;

		if (count[label] == 1 && !add_output(e, label, err))
			return false;
	}
	return true;
}

static bool
explicit_output(struct einsum *e, const char *term, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		int label = label_of(term[i]);

		if (term[i] == '.') {
			if (!add_ellipsis(e, err))
				return false;
			while (i + 1 < n && term[i + 1] == '.')
				i++;
		} else if (label >= 0) {
			if (!add_output(e, (uint32_t)label, err))
				return false;
		} else if (term[i] != ' ') {
			return err_set(err, ERR_INPUT, "a bad equation");
		}
	}
	return true;
}

static bool
read_terms(struct einsum *e, const struct call *c, const char *text, size_t n,
    struct err *err)
{
	size_t from = 0;

	for (size_t i = 0; i <= n; i++) {
		if (i < n && text[i] != ',')
			continue;
		if (e->noperands >= c->node->ninputs)
			return err_set(
			    err, ERR_INPUT, "more terms than inputs");
		if (!read_term(e, e->noperands, text + from, i - from,
		        c->in[e->noperands], err))
			return false;
		e->noperands++;
		from = i + 1;
	}
	return e->noperands == c->node->ninputs
	    || err_set(err, ERR_INPUT, "fewer terms than inputs");
}

static bool
einsum_read(struct einsum *e, const struct call *c, struct err *err)
{
	struct string_view text = attr_str_or(c->node, "equation", "");
	size_t arrow = 0;

	memset(e, 0, sizeof *e);
	for (uint32_t i = 0; i < LABELS; i++)
		e->dim[i] = -1;
	while (arrow + 1 < text.n
	    && !(text.s[arrow] == '-' && text.s[arrow + 1] == '>'))
		arrow++;
	if (arrow + 1 >= text.n)
		arrow = text.n;
	if (!read_terms(e, c, text.s, arrow, err))
		return false;
	if (arrow == text.n ? !implicit_output(e, text.s, arrow, err)
	                    : !explicit_output(
	                        e, text.s + arrow + 2, text.n - arrow - 2, err))
		return false;
	e->rank = e->nout;
	for (uint32_t label = 0; label < LABELS; label++) {
		bool known = e->dim[label] == -1;

		for (uint32_t i = 0; !known && i < e->nout; i++)
			known = e->order[i] == label;
		if (!known)
			e->order[e->rank++] = label;
	}
	return true;
}

/* Step labels order[from..to) once; false when they have come around. */
static bool
step(const struct einsum *e, int64_t *index, ptrdiff_t *at, uint32_t from,
    uint32_t to)
{
	for (uint32_t i = to; i-- > from;) {
		uint32_t label = e->order[i];

		index[i]++;
		for (uint32_t k = 0; k < e->noperands; k++)
			at[k] += e->stride[k][label];
		if (index[i] < e->dim[label])
			return true;
		for (uint32_t k = 0; k < e->noperands; k++)
			at[k] -= e->stride[k][label] * e->dim[label];
		index[i] = 0;
	}
	return false;
}

bool
einsum_run(struct call *c, struct err *err)
{
	struct einsum e;
	struct shape s = {.rank = 0};
	struct sink to;
	int64_t index[LABELS] = {0};
	ptrdiff_t at[OPERANDS] = {0};
	double *x[OPERANDS], sum;
	bool empty = false;

	if (c->node->ninputs > OPERANDS)
		return refuse(err, "%u operands", c->node->ninputs);
	if (!einsum_read(&e, c, err))
		return false;
	for (uint32_t i = 0; i < e.nout; i++)
		s.dim[s.rank++] = e.dim[e.order[i]];
	if (!host_out(c, 0, c->in[0]->dtype, &s, &to, err))
		return false;
	for (uint32_t k = 0; k < e.noperands; k++) {
		x[k] = arena_new(c->scratch, double, c->in[k]->count);
		load_real(x[k], c->in[k], 0, 1, c->in[k]->count);
	}
	for (uint32_t i = e.nout; i < e.rank; i++)
		empty |= e.dim[e.order[i]] == 0;
	for (size_t o = 0; o < c->out[0].count; o++) {
		sum = 0;
		do {
			double product = 1;

			for (uint32_t k = 0; !empty && k < e.noperands; k++)
				product *= x[k][at[k]];
			sum += empty ? 0 : product;
		} while (step(&e, index, at, e.nout, e.rank) && !empty);
		store_real(&to, o, 1, 1, &sum);
		step(&e, index, at, 0, e.nout);
	}
	return true;
}
