/* Which version of which domain a model or function imports. */
#include <inttypes.h>
#include <string.h>

#include "ir/onnx_import.h"
#include "ir/schema.h"

const char *
domain_name(const char *domain)
{
	return !domain || strcmp(domain, "ai.onnx") == 0 ? "" : domain;
}

uint32_t
opsets_version(const struct opsets *o, const char *domain)
{
	for (uint32_t i = 0; i < o->n; i++)
		if (strcmp(o->opset[i].domain, domain) == 0)
			return o->opset[i].version;
	return 0;
}

static bool
check_opset(struct importer *imp, const char *domain, int64_t version)
{
	if (version < 1 || version > INT32_MAX)
		return err_set(imp->err, ERR_INPUT,
		    "opset version %" PRId64 " of domain '%s'", version,
		    domain[0] ? domain : "ai.onnx");
	if (!domain[0] && version > OPSET_NEWEST)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "opset %" PRId64 " of ai.onnx, newest known is %d", version,
		    OPSET_NEWEST);
	return true;
}

/* Does the list repeat an entry? Tools that merge models leave such lists,
 * with contradictions that only the last entry settles. */
static bool
is_concatenated(size_t n, Onnx__OperatorSetIdProto **p)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (p[i]->version == p[k]->version
			    && strcmp(domain_name(p[i]->domain),
			           domain_name(p[k]->domain))
			        == 0)
				return true;
	return false;
}

/* TUNING: domains a model imports; real ones have up to a dozen. */
#define MAX_OPSETS 256

static bool
put_opset(struct importer *imp, struct opsets *out, struct onnx_opset *list,
    const Onnx__OperatorSetIdProto *p, bool concatenated)
{
	const char *domain = domain_name(p->domain);
	uint32_t version = (uint32_t)p->version, i = 0;

	while (i < out->n && strcmp(list[i].domain, domain) != 0)
		i++;
	if (i < out->n && list[i].version != version) {
		if (!concatenated)
			return err_set(imp->err, ERR_INPUT,
			    "domain '%s' is imported twice, as version %u and "
			    "%u",
			    domain[0] ? domain : "ai.onnx", list[i].version,
			    version);
		note_once(imp, LENIENT_IMPORTS,
		    "domain '%s' is imported as version %u and %u; the last "
		    "is taken",
		    domain[0] ? domain : "ai.onnx", list[i].version, version);
	}
	list[i] = (struct onnx_opset){import_word(imp, domain), version};
	out->n += i == out->n;
	return true;
}

bool
import_opsets(struct importer *imp, size_t n, Onnx__OperatorSetIdProto **p,
    struct opsets *out)
{
	struct onnx_opset *list;
	bool concatenated;

	*out = (struct opsets){.n = 0};
	if (n > MAX_OPSETS)
		return err_set(imp->err, ERR_UNSUPPORTED,
		    "%zu opset imports, limit is %d", n, MAX_OPSETS);
	out->opset = list = arena_new(imp->a, struct onnx_opset, n);
	concatenated = is_concatenated(n, p);
	for (size_t i = 0; i < n; i++)
		if (!check_opset(imp, domain_name(p[i]->domain), p[i]->version)
		    || !put_opset(imp, out, list, p[i], concatenated))
			return false;
	return true;
}
