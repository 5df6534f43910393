#include "targets/native/byte_line.h"

#include <math.h>

/* A factor is of 15 bits, a difference of codes times 2^MOST of 16. */
#define ONE 32768
#define MOST 7
#define FAR INT64_C(65536) /* beyond what any code becomes */

uint8_t
byte_line_at(const struct byte_line *l, uint8_t code)
{
	const struct byte_limits to = byte_limits(l->to_unsigned);
	const int64_t x = l->from_unsigned ? code : (int8_t)code;
	const int64_t y = (x - l->from_zero) * (1 << l->shift) * l->factor;
	/* nothing negative is divided: that would round towards zero */
	const int64_t near = (y + ONE / 2 + FAR * ONE) / ONE - FAR;

	return (uint8_t)(int32_t)byte_between(
	    (float)(near + l->to_zero), to.low, to.high);
}

static bool
says(const struct byte_line *l, const uint8_t *table)
{
	for (int i = 0; i < 256; i++)
		if (byte_line_at(l, (uint8_t)i) != table[i])
			return false;
	return true;
}

/* A factor one step off may round what lies close to the middle as division does. */
bool
byte_line_find(struct byte_line *l, const struct byte_code *from,
    const struct byte_code *to, const uint8_t *table)
{
	static const int off[] = {0, 1, -1};
	double ratio = (double)from->scale / (double)to->scale;
	uint8_t shift = 0;

	for (; ratio >= 1 && shift < MOST; shift++)
		ratio /= 2;
	for (size_t i = 0; i < sizeof off / sizeof *off; i++) {
		const double factor = round(ratio * ONE) + off[i];

		if (!(factor >= 0 && factor < ONE))
			continue;
		*l = (struct byte_line){
		    .from_zero = (int16_t)from->zero,
		    .factor = (int16_t)factor,
		    .to_zero = (int16_t)to->zero,
		    .shift = shift,
		    .from_unsigned = from->is_unsigned,
		    .to_unsigned = to->is_unsigned,
		};
		if (says(l, table))
			return true;
	}
	return false;
}
