#include "plugins/common/fail.h"

#include <stdarg.h>
#include <stdio.h>

#include <marq_plugin.h>

marq_status
fail(marq_status s, struct marq_error *e, const char *format, ...)
{
	va_list ap;

	if (e != NULL && e->text != NULL && e->capacity > 0) {
		va_start(ap, format);
		vsnprintf(e->text, e->capacity, format, ap);
		va_end(ap);
	}
	return s;
}
