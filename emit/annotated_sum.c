#include "emit/annotated_sum.h"

#include <string.h>

#include "ir/base/buf.h"
#include "ir/external.h"

/* Is it the file of which the content is known? */
static bool
is_known(const struct emit_in *in, const struct mapped_file *model)
{
	if (!in->content || !in->pricer)
		return false;
	for (const struct mapping *x = in->model->mappings; x; x = x->next)
		if (!x->location)
			return file_id_equal(&x->file.id, &model->id);
	return false;
}

/* Places for what lies in the model, bytes for the rest. */
static struct hash128
key_of(const struct bulk *out, const struct hash128 *content)
{
	struct hash128 h;
	struct buf b;

	buf_init(&b);
	buf_str(&b, "sha256");
	buf_add(&b, content->byte, sizeof content->byte);
	for (uint32_t i = 0; i < out->n; i++) {
		const struct bulk_piece *p = &out->piece[i];
		size_t at;
		const bool lies = file_offset(&out->source, p->data, &at);

		buf_u8(&b, lies);
		buf_u64(&b, p->n);
		if (lies)
			buf_u64(&b, at);
		else
			buf_add(&b, p->data, p->n);
	}
	h = hash128(b.data, b.n);
	buf_release(&b);
	return h;
}

static bool
is_sum(const char *text)
{
	return text && strlen(text) == 64
	    && strspn(text, "0123456789abcdef") == 64;
}

void
annotated_sum(const struct bulk *out, const struct emit_work *w, char sum[65])
{
	const struct emit_in *in = w->in;
	const char *text;
	struct hash128 key;

	if (!is_known(in, &out->source)) {
		bulk_sum(out, sum);
		return;
	}
	key = key_of(out, in->content);
	text = pricer_find_text(in->pricer, key);
	if (is_sum(text)) {
		memcpy(sum, text, 65);
		return;
	}
	bulk_sum(out, sum);
	pricer_keep_text(in->pricer, key, sum);
}
