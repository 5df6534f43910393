#include "targets/mrvl/binary.h"

#include <inttypes.h>
#include <string.h>

static uint64_t
little(const unsigned char *p, size_t n)
{
	uint64_t x = 0;

	while (n-- > 0)
		x = x << 8 | p[n];
	return x;
}

/* SOURCE: the metadata layout in DPDK's drivers/ml/cnxk/cn10k_ml_model.h:
 * 256 bytes of header, 256 of facts; offsets below are from the start. */
bool
mrvl_binary_read(
    struct mrvl_binary *out, const void *bytes, size_t n, struct err *err)
{
	const unsigned char *p = bytes;

	if (n < 512)
		return err_set(err, ERR_INPUT,
		    "binary of %zu bytes, its header alone has 512", n);
	if (memcmp(p, "MRVL", 4) != 0)
		return err_set(err, ERR_INPUT, "binary does not begin MRVL");
	if (little(p + 140, 4) != 128)
		return err_set(err, ERR_INPUT,
		    "binary is for architecture %" PRIu64 ", MLIP is 128",
		    little(p + 140, 4));
	if (p[4] != 2)
		return err_set(err, ERR_INPUT,
		    "binary's metadata is version %u, 2 is understood", p[4]);
	*out = (struct mrvl_binary){.bytes = n,
	    .code_bytes = (uint32_t)little(p + 324, 4),
	    .data_bytes = (uint32_t)little(p + 328, 4),
	    .first_tile = p[342],
	    .last_tile = p[343],
	    .batch = p[344],
	    .ninputs = p[345],
	    .noutputs = p[346],
	    .input_bytes = (uint32_t)little(p + 348, 4),
	    .output_bytes = (uint32_t)little(p + 352, 4),
	    .nlayers = (uint32_t)little(p + 360, 4),
	    .scratch_floor = little(p + 368, 8),
	    .wb_first = little(p + 376, 8),
	    .wb_last = little(p + 384, 8)};
	if (out->first_tile > out->last_tile || out->last_tile > 7)
		return err_set(err, ERR_INPUT, "binary is for tiles %u to %u",
		    out->first_tile, out->last_tile);
	return true;
}

static uint64_t
pages(uint64_t bytes, uint64_t page)
{
	return bytes / page + (bytes % page != 0);
}

/* SOURCE: ocm_pages_count() of DPDK's cn10k_ml_model.c. */
uint64_t
mrvl_binary_occupies(
    const struct mrvl_binary *b, uint64_t tile_bytes, uint64_t page_bytes)
{
	uint64_t scratch =
	    b->scratch_floor < tile_bytes ? tile_bytes - b->scratch_floor : 0;
	uint64_t n = pages(scratch, page_bytes);

	if (b->wb_last > b->wb_first)
		n += (b->wb_last - b->wb_first) / page_bytes + 1;
	return n > UINT64_MAX / page_bytes ? UINT64_MAX : n * page_bytes;
}
