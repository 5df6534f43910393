/* The XNNPACK backend. */
#include "targets/target.h"

extern const struct target_kind target_xnnpack;

static bool
available(struct err *err)
{
	return err_set(err, ERR_TARGET, "target 'xnnpack' is not built in");
}

const struct target_kind target_xnnpack = {
    .name = "xnnpack",
    .summary = "XNNPACK (not built in)",
    .source = PRICE_MEASURED,
    .available = available,
};
