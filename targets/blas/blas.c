/* The OpenBLAS backend. */
#include "targets/target.h"

extern const struct target_kind target_blas;

static bool
available(struct err *err)
{
	return err_set(err, ERR_TARGET, "target 'blas' is not built in");
}

const struct target_kind target_blas = {
    .name = "blas",
    .summary = "OpenBLAS (not built in)",
    .source = PRICE_MEASURED,
    .available = available,
};
