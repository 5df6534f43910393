#include "costmodel/model_memory.h"

#include <time.h>

#include "costmodel/want.h"
#include "ir/base/buf.h"
#include "ir/external.h"

#define SECOND INT64_C(1000000000)
/* TUNING: what is written through a mapping may be as old as the first write until it
 * is on the disk, which Linux sees to in 30 to 35 s. */
#define SETTLED (60 * SECOND)

/* Whole seconds are of file systems that do not say when a file changed: images
 * made for being the same whenever they are made, and very old ones. */
static bool
is_telling(const struct file_id *id, int64_t now_ns)
{
	return id->changed_ns % SECOND != 0 && id->changed_ns > 0
	    && now_ns - id->changed_ns > SETTLED;
}

bool
model_identity(const struct model *m, int64_t now_ns, struct hash128 *identity)
{
	bool telling = m->mappings != NULL;
	struct buf b;

	buf_init(&b);
	buf_str(&b, "model");
	for (const struct mapping *x = m->mappings; x; x = x->next) {
		const struct file_id *id = &x->file.id;

		telling = telling && is_telling(id, now_ns);
		buf_str(&b, x->location ? x->location : "");
		buf_u8(&b, 0);
		buf_u64(&b, id->device);
		buf_u64(&b, id->inode);
		buf_u64(&b, id->bytes);
		buf_u64(&b, (uint64_t)id->changed_ns);
		buf_u64(&b, (uint64_t)id->modified_ns);
	}
	*identity = hash128(b.data, b.n);
	buf_release(&b);
	return telling;
}

static int64_t
since_1970(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (int64_t)t.tv_sec * SECOND + t.tv_nsec;
}

struct hash128
model_known_hash(struct pricer *p, const struct model *m)
{
	struct hash128 identity, h;
	const char *text;
	char kept[33];

	if (!model_identity(m, since_1970(), &identity))
		return model_hash(m);
	text = pricer_find_text(p, identity);
	if (text && hash128_read(&h, text))
		return h;
	h = model_hash(m);
	hash128_print(h, kept);
	pricer_keep_text(p, identity, kept);
	return h;
}
