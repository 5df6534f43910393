// A region as one function of the Arm Compute Library.
#ifndef PLUGINS_ACL_LAYER_HH
#define PLUGINS_ACL_LAYER_HH

#include <memory>

#include <arm_compute/runtime/IFunction.h>
#include <arm_compute/runtime/Tensor.h>

struct region;

// Its input and output lie where the caller's are.
struct layer {
	arm_compute::Tensor in, out, weights, bias;
	bool has_weights = false, has_bias = false;
	std::unique_ptr<arm_compute::IFunction> function;

	void prepare(); // pack weights, and free what was packed
	void run(const void *from, void *to);
};

// Throws a refusal where the library, or we, cannot take it.
std::unique_ptr<layer> make_layer(const region &r);

#endif
