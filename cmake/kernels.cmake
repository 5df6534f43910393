# A price of our own kernels belongs to their sources and flags: one hash for
# each folder of kernels, made anew when a source changes.
set(kernel_kinds host dnnl xnnpack blas native)
set(kernel_sources)
foreach(kind ${kernel_kinds})
	file(GLOB sources CONFIGURE_DEPENDS targets/${kind}/*.c
		targets/${kind}/*.h targets/${kind}/*.def)
	list(APPEND kernel_sources ${sources})
endforeach()
file(GLOB sources CONFIGURE_DEPENDS targets/*.c targets/*.h costmodel/seeded.c)
list(APPEND kernel_sources ${sources})
string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
set(kernel_flags "${CMAKE_C_COMPILER_ID} ${CMAKE_C_COMPILER_VERSION} ${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_${type}} ${MARQ_SANITIZE} ${hardening} ${MARQ_NATIVE_FLAGS}")
set(kernels_made ${CMAKE_BINARY_DIR}/targets/kernels_hash.c)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/targets)
add_custom_command(
	OUTPUT ${kernels_made}
	COMMAND ${CMAKE_COMMAND} "-DKINDS=${kernel_kinds}"
		"-DFLAGS=${kernel_flags}" -DROOT=${CMAKE_SOURCE_DIR}
		-DOUT=${kernels_made} -P ${CMAKE_SOURCE_DIR}/cmake/kernels_hash.cmake
	DEPENDS ${kernel_sources} ${CMAKE_SOURCE_DIR}/cmake/kernels_hash.cmake
	VERBATIM)
target_sources(marq_targets PRIVATE ${kernels_made})
