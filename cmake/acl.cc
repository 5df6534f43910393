// Has this libarm_compute kernels for CPUs?
#include <arm_compute/runtime/NEON/functions/NEConvolutionLayer.h>

int
main()
{
	arm_compute::NEConvolutionLayer f;

	f.run();
}
