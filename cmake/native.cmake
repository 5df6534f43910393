# Kernels of our own: one source, compiled once for each instruction set of the
# architecture; which one runs is chosen when it does (targets/native/version.c).
set(MARQ_NATIVE_FLAGS -O3 -falign-loops=64 -fno-trapping-math -ffp-contract=fast -Wno-psabi)
# Where a local lies at every instruction is much of what unrolled kernels cost to
# compile; with a sanitizer's checks between, so is what -O1 leaves out.
set(native_flags "${MARQ_NATIVE_FLAGS}")
check_c_compiler_flag(-fno-var-tracking MARQ_NO_VAR_TRACKING)
if(MARQ_NO_VAR_TRACKING)
	list(APPEND native_flags -fno-var-tracking)
endif()
if(MARQ_SANITIZE)
	list(APPEND native_flags -O1)
endif()
set_source_files_properties(targets/native/version_base.c
	PROPERTIES COMPILE_OPTIONS "${native_flags}")
# Only tests run it, and it takes minutes to make the most of.
set_source_files_properties(targets/native/version_wide.c
	PROPERTIES COMPILE_OPTIONS "${native_flags};-O1")
if(MARQ_TESTS)
	set_source_files_properties(targets/native/version.c
		PROPERTIES COMPILE_DEFINITIONS MARQ_NATIVE_WIDE)
else()
	set_source_files_properties(targets/native/version_wide.c
		PROPERTIES HEADER_FILE_ONLY TRUE)
endif()
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
	set_source_files_properties(targets/native/version_avx2.c
		PROPERTIES COMPILE_OPTIONS "${native_flags};-mavx2;-mfma")
	set_source_files_properties(targets/native/version_avx512.c
		PROPERTIES COMPILE_OPTIONS
		"${native_flags};-mavx512f;-mavx512bw;-mavx512dq;-mavx512vl;-mfma;-mprefer-vector-width=512")
else()
	set_source_files_properties(targets/native/version_avx2.c
		targets/native/version_avx512.c PROPERTIES HEADER_FILE_ONLY TRUE)
endif()
