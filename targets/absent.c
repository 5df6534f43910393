/* Kinds whose library marq was built without: they stay in the list of targets,
 * and say why (cmake/backends.cmake) when somebody asks for one. */
#include "targets/target.h"

#define LEFT_OUT(kind, library, why) \
	extern const struct target_kind target_##kind; \
	const struct target_kind target_##kind = { \
	    .name = #kind, \
	    .summary = library " (not built in)", \
	    .source = PRICE_MEASURED, \
	    .kernel_library = library, \
	    .lacks = why, \
	};

#if !MARQ_HAVE_DNNL
LEFT_OUT(dnnl, "oneDNN", MARQ_LACKS_DNNL)
#endif
#if !MARQ_HAVE_XNNPACK
LEFT_OUT(xnnpack, "XNNPACK", MARQ_LACKS_XNNPACK)
#endif
#if !MARQ_HAVE_BLAS
LEFT_OUT(blas, "OpenBLAS", MARQ_LACKS_BLAS)
#endif
