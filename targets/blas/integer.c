/* Products and convolutions of 8-bit integers through sgemm, exactly: a float
 * holds every integer below 2^24, so a sum whose parts stay below it is the
 * same in any order. How far a sum can go the weights say; where that is too
 * far, it is taken in parts. */
#include "targets/blas/integer.h"

#include "targets/blas/sums.h"

bool
compile_integer(const struct graph *g, const struct candidate *c,
    struct arena *a, struct kernel *out)
{
	const struct integer_places *at =
	    integer_places(graph_node(g, c->node[0]));

	return at->is_conv ? compile_maps(at, g, c, a, out)
	                   : compile_rows(at, g, c, a, out);
}
