# Kernels of our own: one source, compiled once for each instruction set of the
# architecture; which one runs is chosen when it does (targets/native/version.c).
set(MARQ_NATIVE_FLAGS -O3 -falign-loops=64 -fno-trapping-math -ffp-contract=fast -Wno-psabi)
set_source_files_properties(targets/native/version_base.c
	PROPERTIES COMPILE_OPTIONS "${MARQ_NATIVE_FLAGS}")
# Only tests run it, and it takes minutes to make the most of.
set_source_files_properties(targets/native/version_wide.c
	PROPERTIES COMPILE_OPTIONS "${MARQ_NATIVE_FLAGS};-O1")
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
	set_source_files_properties(targets/native/version_avx2.c
		PROPERTIES COMPILE_OPTIONS "${MARQ_NATIVE_FLAGS};-mavx2;-mfma")
	set_source_files_properties(targets/native/version_avx512.c
		PROPERTIES COMPILE_OPTIONS
		"${MARQ_NATIVE_FLAGS};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mprefer-vector-width=512")
else()
	set_source_files_properties(targets/native/version_avx2.c
		targets/native/version_avx512.c PROPERTIES HEADER_FILE_ONLY TRUE)
endif()
