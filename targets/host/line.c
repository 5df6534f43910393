#include "targets/host/line.h"

struct lines
lines_along(const struct tensor *t, uint32_t axis)
{
	return (struct lines){
	    .outer = shape_count(t->dim, 0, axis),
	    .n = (size_t)t->dim[axis],
	    .inner = shape_count(t->dim, axis + 1, t->rank),
	};
}

bool
line_map(struct call *c, struct lines l,
    void (*f)(double *x, size_t n, const void *p), const void *p,
    struct err *err)
{
	const struct tensor *x = c->in[0];
	struct shape s = shape_of(x);
	struct sink to;
	double *line;

	if (!host_out(c, 0, x->dtype, &s, &to, err))
		return false;
	line = arena_new(c->scratch, double, l.n);
	for (size_t i = 0; i < l.outer * l.inner; i++) {
		size_t at = i / l.inner * l.n * l.inner + i % l.inner;

		load_real(line, x, at, (ptrdiff_t)l.inner, l.n);
		f(line, l.n, p);
		store_real(&to, at, (ptrdiff_t)l.inner, l.n, line);
	}
	return true;
}
