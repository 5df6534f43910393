#include "cli/version.h"

#include <cjson/cJSON.h>
#include <cyaml/cyaml.h>
#include <protobuf-c/protobuf-c.h>
#include <stdio.h>
#include <string.h>
#include <nettle/version.h>
#include <xxhash.h>

#include "cli/cli.h"
#include "db/admin.h"
#include "ir/base/buf.h"
#include "targets/target.h"

/* Libraries of backends say their version in the first fact that prices depend
 * on. */
static void
print_backend(const char *kind, struct arena *a)
{
	struct err err = {.kind = ERR_NONE};
	struct mix mix;
	struct buf b;
	const char *value;

	if (!mix_open(&mix, &kind, 1, a, &err)
	    || !mix.target[0].kind->environment)
		return;
	buf_init(&b);
	mix.target[0].kind->environment(&mix.target[0], &b);
	value = b.data ? memchr(b.data, '=', b.n) : NULL;
	if (value++)
		printf("%-12s %.*s\n", kind, (int)strcspn(value, "\n"), value);
	buf_release(&b);
}

void
version_print(const struct cli *c)
{
	static const char *const backends[] = {"dnnl", "xnnpack", "blas"};
	const unsigned xxh = XXH_versionNumber();

	puts("marq " MARQ_VERSION);
	printf("%-12s %s\n", "SQLite", costdb_library());
	printf("%-12s %s\n", "protobuf-c", protobuf_c_version());
	printf("%-12s %s\n", "cJSON", cJSON_Version());
	printf("%-12s %s\n", "libcyaml", cyaml_version_str);
	printf("%-12s %u.%u.%u\n", "xxHash", xxh / 10000, xxh / 100 % 100,
	    xxh % 100);
	printf("%-12s %d.%d\n", "Nettle", nettle_version_major(),
	    nettle_version_minor());
	for (size_t i = 0; i < sizeof backends / sizeof *backends; i++)
		print_backend(backends[i], c->run);
}
