# Optional kernel libraries. One that is missing is reported at configure time
# and by `marq targets`; nothing of its folder is compiled, and targets/absent.c
# says "not built in" in its place. MARQ_WITHOUT leaves present ones out.
set(MARQ_WITHOUT "" CACHE STRING "optional libraries to leave out (list)")
function(marq_backend name header library)
	find_path(${name}_INCLUDE ${header} PATH_SUFFIXES x86_64-linux-gnu
		openblas-pthread)
	find_library(${name}_LIBRARY ${library} PATH_SUFFIXES openblas-pthread)
	if(${name}_INCLUDE AND ${name}_LIBRARY AND NOT name IN_LIST MARQ_WITHOUT)
		target_compile_definitions(marq_targets PUBLIC MARQ_HAVE_${name}=1)
		target_include_directories(marq_targets SYSTEM PUBLIC
			${${name}_INCLUDE})
		target_link_libraries(marq_targets PUBLIC
			${${name}_LIBRARY} ${ARGN})
		message(STATUS "backend ${name}: ${${name}_LIBRARY}")
	else()
		target_compile_definitions(marq_targets PUBLIC MARQ_HAVE_${name}=0)
		string(TOLOWER ${name} folder)
		file(GLOB sources CONFIGURE_DEPENDS targets/${folder}/*.c)
		set_source_files_properties(${sources} PROPERTIES
			HEADER_FILE_ONLY TRUE)
		message(STATUS "backend ${name}: left out")
	endif()
endfunction()

marq_backend(DNNL dnnl.h dnnl)
marq_backend(XNNPACK xnnpack.h XNNPACK pthreadpool)
marq_backend(BLAS cblas.h openblas)

# XNNPACK states no version; its header's hash stands for one.
if(XNNPACK_INCLUDE)
	file(SHA256 ${XNNPACK_INCLUDE}/xnnpack.h version)
	string(SUBSTRING ${version} 0 16 version)
	target_compile_definitions(marq_targets PRIVATE
		MARQ_XNNPACK_VERSION="header-${version}")
endif()
