/* Which shapes a library's mean can reduce: bench_reduce. XNNPACK of late 2024
 * ends in a segmentation fault there, which is why our rules do not use it
 * (targets/xnnpack). Each shape in a process of its own; a line for each. */
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xnnpack.h>

#define SLACK 64 /* elements that kernels may read behind */

struct shape {
	size_t rank, dim[4], naxes;
	int64_t axis[2];
};

static const struct shape shapes[] = {
    {3, {1, 4, 5}, 1, {1}},
    {3, {1, 64, 5}, 1, {1}},
    {3, {1, 64, 1280}, 1, {1}},
    {3, {1, 5, 64}, 1, {2}},
    {4, {1, 8, 8, 16}, 2, {1, 2}},
    {4, {1, 7, 7, 1280}, 2, {1, 2}},
    {4, {1, 16, 8, 8}, 2, {2, 3}},
};

static size_t
count_of(const struct shape *s)
{
	size_t n = 1;

	for (size_t i = 0; i < s->rank; i++)
		n *= s->dim[i];
	return n;
}

/* The mean of ones, by the library; says how far it comes. */
static enum xnn_status
reduce(const struct shape *s, float *in, float *out)
{
	const struct xnn_quantization_params none = {0, 1};
	size_t bytes = 0, align = 0;
	xnn_operator_t op = NULL;
	enum xnn_status status = xnn_create_reduce_nd(
	    xnn_reduce_mean, xnn_datatype_fp32, &none, &none, 0, &op);

	printf(" create %d", (int)status);
	if (status != xnn_status_success)
		return status;
	status = xnn_reshape_reduce_nd(
	    op, s->naxes, s->axis, s->rank, s->dim, &bytes, &align, NULL);
	printf(" reshape %d, workspace %zu", (int)status, bytes);
	if (status != xnn_status_success)
		return status;
	status = xnn_setup_reduce_nd(
	    op, aligned_alloc(128, (bytes + 255) / 128 * 128), in, out);
	printf(" setup %d", (int)status);
	fflush(stdout);
	return status != xnn_status_success ? status
	                                    : xnn_run_operator(op, NULL);
}

static int
try_shape(const struct shape *s)
{
	const size_t n = count_of(s);
	float *in = calloc(n + SLACK, sizeof *in);
	float *out = calloc(n + SLACK, sizeof *out);

	if (!in || !out || xnn_initialize(NULL) != xnn_status_success)
		return 2;
	for (size_t i = 0; i < n; i++)
		in[i] = 1;
	if (reduce(s, in, out) != xnn_status_success)
		return 2;
	return fabsf(out[0] - 1) > 1e-5f;
}

static void
say_shape(const struct shape *s)
{
	printf("mean of");
	for (size_t i = 0; i < s->rank; i++)
		printf("%c%zu", i ? 'x' : ' ', s->dim[i]);
	printf(" over");
	for (size_t i = 0; i < s->naxes; i++)
		printf(" %d", (int)s->axis[i]);
	printf(":");
	fflush(stdout);
}

int
main(void)
{
	static const char *const words[] = {"right", "wrong", "refused"};

	for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
		int status = 0;
		pid_t child;

		say_shape(&shapes[i]);
		child = fork();
		if (child == 0) {
			status = try_shape(&shapes[i]);
			fflush(stdout);
			_exit(status);
		}
		if (child < 0 || waitpid(child, &status, 0) < 0)
			return 1;
		if (WIFSIGNALED(status))
			printf(" run: %s\n", strsignal(WTERMSIG(status)));
		else
			printf(" run: %s\n", words[WEXITSTATUS(status) % 3]);
	}
	return 0;
}
