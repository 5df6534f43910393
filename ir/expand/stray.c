/* The default domain: experimental operators that ONNX took back and ONNX Runtime
 * still runs. SOURCE: its schemas of them (contrib_defs.cc). */
#include "ir/expand/writers.h"

void
write_affine(struct writer *w)
{
	say(w, "x = Mul(i0, %#.9g~i0)", real_of(w, "alpha", 1));
	say(w, "o0 = Add(x, %#.9g~i0)", real_of(w, "beta", 0));
}

/* alpha f(beta x) */
static void
write_scaled(struct writer *w, const char *function)
{
	if (!attr_of(w, "alpha") || !attr_of(w, "beta"))
		refuse_form(w, "no alpha or beta");
	say(w, "x = Mul(i0, %#.9g~i0)", real_of(w, "beta", 1));
	say(w, "y = %s(x)", function);
	say(w, "o0 = Mul(y, %#.9g~i0)", real_of(w, "alpha", 1));
}

void
write_scaled_tanh(struct writer *w)
{
	write_scaled(w, "Tanh");
}

void
write_scaled_softplus(struct writer *w)
{
	write_scaled(w, "Softplus");
}

void
write_image_scaler(struct writer *w)
{
	say(w, "x = Mul(i0, %#.9g~i0)", real_of(w, "scale", 1));
	if (!attr_of(w, "bias")) {
		say(w, "o0 = Identity(x)");
		return;
	}
	say(w, "each = Reshape(@bias~i0, [-1, 1, 1])");
	say(w, "o0 = Add(x, each)");
}
