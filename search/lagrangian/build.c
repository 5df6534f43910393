#include <assert.h>
#include <string.h>

#include "search/lagrangian/model.h"

#include "search/lagrangian/parts.h"
#include "ir/base/verify.h"

/* One path through the graph, longest in nodes, ending at the last node. Runs a
 * target has along it are runs of the plan. */
static void
choose_path(struct dual *d)
{
	const struct problem *p = d->p;
	uint32_t *length = arena_new(d->arena, uint32_t, p->nnodes);
	uint32_t *use = arena_new(d->arena, uint32_t, p->nvalues);
	uint32_t node = p->nnodes - 1;

	memset(use, 0xff, p->nvalues * sizeof *use);
	d->path_use = use;
	d->ends_path = arena_new(d->arena, bool, p->nnodes);
	if (d->nlaunching == 0)
		return;
	d->ends_path[node] = true;
	for (uint32_t n = 0; n < p->nnodes; n++)
		for (uint32_t i = 0; i < p->node[n].ninputs; i++) {
			uint32_t m = p->value[p->node[n].input[i]].producer;

			if (m != NO_NODE && length[m] >= length[n])
				length[n] = length[m] + 1;
		}
	for (;;) {
		uint32_t value = UINT32_MAX, best = 0;

		for (uint32_t i = 0; i < p->node[node].ninputs; i++) {
			uint32_t v = p->node[node].input[i];
			uint32_t m = p->value[v].producer;

			if (m != NO_NODE
			    && (value == UINT32_MAX || length[m] > best)) {
				value = v;
				best = length[m];
			}
		}
		if (value == UINT32_MAX)
			return;
		use[value] = problem_find_use(p, value, node);
		d->use[use[value]].on_path = true;
		node = p->value[value].producer;
	}
}

/* Options of a use are filed together: two passes, count and fill. */
static uint32_t
option_of(struct dual *d, uint32_t use, uint32_t format, uint32_t target)
{
	struct dual_use *u = &d->use[use];

	if (!u->on_path || d->launch[target] == 0)
		target = NO_LIMIT;
	for (uint32_t i = 0; i < u->noptions; i++)
		if (d->option[u->first + i].format == format
		    && d->option[u->first + i].target == target)
			return u->first + i;
	d->option[u->first + u->noptions] =
	    (struct dual_option){u->value, format, target};
	return u->first + u->noptions++;
}

/* Visit the uses a candidate pays for: its nodes among the users of what it
 * reads, at the first format it reads each value in. */
static uint32_t
uses_of(const struct dual *d, const struct problem_candidate *c, uint32_t *use,
    uint32_t *format)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->ninputs; i++) {
		if (i > 0 && c->input[i - 1].value == c->input[i].value)
			continue;
		for (uint32_t k = 0; k < c->nnodes; k++) {
			uint32_t u = problem_find_use(
			    d->p, c->input[i].value, c->node[k]);

			if (u == UINT32_MAX)
				continue;
			use[n] = u;
			format[n++] = c->input[i].format;
		}
	}
	return n;
}

static uint32_t
most_uses(const struct problem *p)
{
	uint32_t most = 0;

	for (uint32_t i = 0; i < p->ncandidates; i++)
		if (p->candidate[i].ninputs * p->candidate[i].nnodes > most)
			most = p->candidate[i].ninputs * p->candidate[i].nnodes;
	return most;
}

static void
make_options(struct dual *d)
{
	const struct problem *p = d->p;
	uint32_t nuses = p->user_start[p->nvalues], most = most_uses(p);
	uint32_t *room = arena_new(d->arena, uint32_t, (size_t)nuses + 1);
	uint32_t *use = arena_new(d->arena, uint32_t, most);
	uint32_t *format = arena_new(d->arena, uint32_t, most), total = 0;

	d->pays_start =
	    arena_new(d->arena, uint32_t, (size_t)p->ncandidates + 1);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		uint32_t n = candidate_usable(&p->candidate[c])
		    ? uses_of(d, &p->candidate[c], use, format)
		    : 0;

		for (uint32_t i = 0; i < n; i++)
			room[use[i]]++;
		d->pays_start[c + 1] = d->pays_start[c] + n;
	}
	for (uint32_t u = 0; u < nuses; u++) {
		uint32_t most_here = (1 + d->nlaunching) * p->nformats;

		d->use[u].first = total;
		total += room[u] < most_here ? room[u] : most_here;
	}
	d->noptions = total;
	d->option = arena_new(d->arena, struct dual_option, total);
	d->pays = arena_new(d->arena, uint32_t, d->pays_start[p->ncandidates]);
	for (uint32_t c = 0; c < p->ncandidates; c++) {
		const struct problem_candidate *cand = &p->candidate[c];
		uint32_t at = d->pays_start[c], n;

		if (!candidate_usable(cand))
			continue;
		n = uses_of(d, cand, use, format);
		for (uint32_t i = 0; i < n; i++)
			d->pays[at + i] =
			    option_of(d, use[i], format[i], cand->target);
	}
}

/* The rows of the account that make up each candidate's reduced cost. */
static void
make_rows(struct dual *d)
{
	const struct problem *p = d->p;
	uint32_t nplaces = p->high_start[p->nnodes], n = 0;
	size_t total = (size_t)d->pays_start[p->ncandidates]
	    + d->makes_start[p->ncandidates];

	for (uint32_t k = 0; k < nplaces; k++)
		total += p->candidate[p->high[k]].nnodes;
	d->row = arena_new(d->arena, uint32_t, total);
	d->row_start = arena_new(d->arena, uint32_t, (size_t)nplaces + 1);
	for (uint32_t k = 0; k < nplaces; k++) {
		uint32_t c = p->high[k];

		for (uint32_t i = 0; i < p->candidate[c].nnodes; i++)
			d->row[n++] = p->candidate[c].node[i];
		for (uint32_t i = d->pays_start[c]; i < d->pays_start[c + 1];
		     i++)
			d->row[n++] = p->nnodes + d->pays[i];
		for (uint32_t i = d->makes_start[c]; i < d->makes_start[c + 1];
		     i++)
			d->row[n++] = p->nnodes + d->noptions + d->makes[i];
		d->row_start[k + 1] = n;
	}
}

/* The same by rows. */
static void
make_columns(struct dual *d)
{
	uint32_t nrows = d->p->nnodes + d->noptions + d->nsupplies;
	uint32_t nplaces = d->p->high_start[d->p->nnodes];
	uint32_t *start = arena_new(d->arena, uint32_t, (size_t)nrows + 2);

	for (uint32_t i = 0; i < d->row_start[nplaces]; i++)
		start[d->row[i] + 2]++;
	for (uint32_t r = 0; r < nrows; r++)
		start[r + 2] += start[r + 1];
	d->column = arena_new(d->arena, uint32_t, d->row_start[nplaces]);
	for (uint32_t k = 0; k < nplaces; k++)
		for (uint32_t i = d->row_start[k]; i < d->row_start[k + 1]; i++)
			d->column[start[d->row[i] + 1]++] = k;
	d->column_start = start;
}

/* All prices are 0. */
static void
make_account(struct dual *d)
{
	const struct problem *p = d->p;
	struct arena *a = d->arena;
	uint32_t nplaces = p->high_start[p->nnodes];

	d->account = arena_new(
	    a, int64_t, (size_t)p->nnodes + d->noptions + d->nsupplies);
	d->pay = d->account + p->nnodes;
	d->gain = d->pay + d->noptions;
	d->reduced = arena_new(a, int64_t, nplaces);
	d->high_node = arena_new(a, uint32_t, nplaces);
	d->worth = arena_new(a, int64_t, p->nnodes);
	d->chosen = arena_new(a, uint32_t, p->nnodes);
	d->stale_node = worklist_new(a, p->nnodes);
	d->stale_supply = worklist_new(a, d->nsupplies);
	for (uint32_t n = 0; n < p->nnodes; n++)
		worklist_add(d->stale_node, n);
	for (uint32_t s = 0; s < d->nsupplies; s++)
		worklist_add(d->stale_supply, s);
	for (uint32_t k = 0; k < nplaces; k++) {
		const struct problem_candidate *x = &p->candidate[p->high[k]];

		d->high_node[k] = x->node[x->nnodes - 1];
		d->reduced[k] = dual_scaled(x->cost);
		for (uint32_t i = 0; i < x->nnodes; i++)
			if (d->ends_path[x->node[i]])
				d->reduced[k] += d->launch[x->target];
	}
}

static bool
costs_fit(const struct problem *p)
{
	for (uint32_t c = 0; c < p->ncandidates; c++)
		if (p->candidate[c].cost != COST_NEVER
		    && p->candidate[c].cost > DUAL_COST_MAX)
			return false;
	for (uint32_t t = 0; t < p->ntargets; t++)
		if (target_launch(p, t) > DUAL_COST_MAX)
			return false;
	return p->nnodes > 0 && p->nnodes < 1u << 20;
}

/* (M1) rows of a place are rows; (M2) columns are the rows turned round; (M3) options
 * and supplies refer to what is there. */
static void
dual_verify(const struct dual *d)
{
	const struct problem *p = d->p;
	uint32_t nrows = p->nnodes + d->noptions + d->nsupplies;
	uint32_t nplaces = p->high_start[p->nnodes];

	for (uint32_t k = 0; k < nplaces; k++) {
		assert(d->row_start[k] <= d->row_start[k + 1]);
		assert(d->high_node[k] < p->nnodes);
	}
	for (uint32_t i = 0; i < d->row_start[nplaces]; i++) {
		assert(d->row[i] < nrows); /* (M1) */
		assert(d->column[i] < nplaces); /* (M2) */
	}
	assert(d->column_start[nrows] == d->row_start[nplaces]); /* (M2) */
	for (uint32_t o = 0; o < d->noptions; o++)
		assert(d->option[o].format < p->nformats); /* (M3) */
	for (uint32_t s = 0; s < d->nsupplies; s++) {
		assert(d->supply[s].value < p->nvalues); /* (M3) */
		assert(d->supply[s].have != 0); /* (M3) */
	}
}

/* TUNING: bytes that prices take of a candidate and of a value, seen on chains and
 * branches, and their share of the memory. */
#define BYTES_CANDIDATE 280u
#define BYTES_VALUE 120u
#define SHARE 2u

bool
dual_fits(const struct problem *p, size_t bytes)
{
	size_t need = (size_t)p->ncandidates * BYTES_CANDIDATE
	    + (size_t)p->nvalues * BYTES_VALUE;

	return bytes == 0 || need <= bytes / SHARE;
}

bool
dual_init(struct dual *d, const struct problem *p, struct converter_memo *memo,
    struct arena *a)
{
	if (!costs_fit(p))
		return false;
	*d = (struct dual){.p = p, .arena = a, .memo = memo};
	d->launch = arena_new(a, int64_t, p->ntargets);
	/* Where values leave early the cut may cross the path more than once, and
	 * launches are left out of the bound. */
	for (uint32_t t = 0; !problem_leaves_early(p) && t < p->ntargets; t++) {
		d->launch[t] = dual_scaled(target_launch(p, t));
		d->nlaunching += d->launch[t] > 0;
	}
	d->use = arena_new(a, struct dual_use, p->user_start[p->nvalues]);
	for (uint32_t v = 0; v < p->nvalues; v++)
		for (uint32_t u = p->user_start[v]; u < p->user_start[v + 1];
		     u++)
			d->use[u] =
			    (struct dual_use){.node = p->user[u], .value = v};
	/* One too many: offsets from NULL are undefined, even of nothing. */
	d->inside = arena_grow(a, NULL, &d->inside_cap, 1, sizeof *d->inside);
	choose_path(d);
	make_options(d);
	dual_make_supplies(d);
	make_rows(d);
	make_columns(d);
	make_account(d);
	d->hole = arena_new(a, uint32_t, p->nnodes);
	d->rest = arena_new(a, int64_t, (size_t)p->nnodes + 1);
	d->excess = arena_new(a, cost_ns, p->ncandidates);
	d->bound = INT64_MIN;
	VERIFY(dual_verify(d));
	return true;
}
