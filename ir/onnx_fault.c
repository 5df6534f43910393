/* What is said of a model while it is read: warnings once, faults with their
 * place. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "ir/onnx_import.h"

void
note_once(struct importer *imp, enum lenient rule, const char *fmt, ...)
{
	char line[400];
	const char *text;
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(line, sizeof line, fmt, ap);
	va_end(ap);
	if (map_find(&imp->noted, line, strlen(line)) != MAP_NONE)
		return;
	text = arena_str(imp->a, line);
	map_add(&imp->noted, text, strlen(text), 0);
	if (rule == NLENIENT)
		notes_add(&imp->model->notes, "%s", text);
	else
		lenient_note(&imp->model->notes, rule, "%s", text);
}

bool
fault_noted(struct importer *imp)
{
	if (!imp->options->collect)
		return false;
	notes_add(&imp->model->faults, "%s", imp->err->text);
	if (imp->nfaults++ == 0)
		imp->first_fault = *imp->err;
	err_clear(imp->err);
	return true;
}

bool
fault_at_node(struct importer *imp, const struct scope *s, uint32_t index,
    const Onnx__NodeProto *p)
{
	const char *name = p->name && p->name[0] ? p->name : "";
	const char *type = p->op_type ? p->op_type : "";

	if (s->path[0])
		err_in(imp->err, "node '%s' (%s #%u, %s)", name, s->path, index,
		    type);
	else
		err_in(imp->err, "node '%s' (#%u, %s)", name, index, type);
	return fault_noted(imp);
}
