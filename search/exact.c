#include <inttypes.h>

#include "search/check.h"
#include "search/order.h"
#include "search/solve.h"

bool
search_exact(struct search_result *out, const struct problem *p,
    const struct search_options *o, struct arena *a, struct err *err)
{
	order_search(out, p, o, a);
	out->searcher = "exact";
	return !out->found || cover_check(&out->cover, p, a, err);
}
