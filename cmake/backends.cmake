# Optional kernel libraries. One that is missing, or whose interface is none
# that we know, is reported at configure time and by `marq targets`; nothing of
# its folder is compiled, and targets/absent.c says why it is not built in.
# MARQ_WITHOUT leaves present ones out. An interface is known by a program that
# compiles with it, never by a version.
include(CheckCSourceCompiles)
set(MARQ_WITHOUT "" CACHE STRING "optional libraries to leave out (list)")

set(DNNL_PROGRAM "
#include <dnnl.h>
int main(void)
{
	dnnl_memory_desc_t d;
	dnnl_pooling_v2_desc_t pool;
	return (int)dnnl_memory_desc_init_by_tag(&d, 0, 0, dnnl_f32,
	    dnnl_format_tag_any) + (int)sizeof pool;
}")
set(XNNPACK_PROGRAM "
#include <xnnpack.h>
int main(void)
{
	xnn_operator_t op = 0;
	return (int)xnn_create_fully_connected_nc_f32(1, 1, 1, 1, 0, 0, 0, 1, 0,
	    &op) + (int)xnn_create_global_average_pooling_nwc_f32(1, 1, 1, 0, 1,
	    0, &op);
}")
set(BLAS_PROGRAM "
#include <cblas.h>
int main(void)
{
	return openblas_get_config() == 0;
}")

# Why the library cannot be used, or nothing.
function(marq_backend_fault name words header libraries result)
	set(${result} "" PARENT_SCOPE)
	if(name IN_LIST MARQ_WITHOUT)
		set(${result} "${words} was left out on request" PARENT_SCOPE)
		return()
	elseif(NOT ${name}_INCLUDE OR NOT ${name}_LIBRARY)
		set(${result} "${words} was not found when marq was built" PARENT_SCOPE)
		return()
	endif()
	set(CMAKE_REQUIRED_INCLUDES ${${name}_INCLUDE})
	set(CMAKE_REQUIRED_LIBRARIES ${libraries})
	set(CMAKE_REQUIRED_QUIET TRUE)
	# (asked again when the header is another one)
	file(SHA256 ${${name}_INCLUDE}/${header} hash)
	string(SUBSTRING ${hash} 0 8 hash)
	check_c_source_compiles("${${name}_PROGRAM}" ${name}_KNOWN_${hash})
	if(NOT ${name}_KNOWN_${hash})
		get_filename_component(file ${${name}_LIBRARY} REALPATH)
		get_filename_component(file ${file} NAME)
		set(${result} "interface of ${file} not known" PARENT_SCOPE)
	endif()
endfunction()

function(marq_backend name words header library)
	find_path(${name}_INCLUDE ${header} PATH_SUFFIXES openblas-pthread)
	find_library(${name}_LIBRARY ${library} PATH_SUFFIXES openblas-pthread)
	set(libraries ${${name}_LIBRARY} ${ARGN})
	marq_backend_fault(${name} ${words} ${header} "${libraries}" why)
	string(TOLOWER ${name} folder)
	if(why STREQUAL "")
		target_compile_definitions(marq_targets PUBLIC MARQ_HAVE_${name}=1)
		target_include_directories(marq_targets SYSTEM PUBLIC
			${${name}_INCLUDE})
		target_link_libraries(marq_targets PUBLIC ${libraries})
		message(STATUS "${folder}: ${${name}_LIBRARY}")
	else()
		target_compile_definitions(marq_targets PUBLIC MARQ_HAVE_${name}=0
			PRIVATE "MARQ_LACKS_${name}=\"${why}\"")
		file(GLOB sources CONFIGURE_DEPENDS targets/${folder}/*.c)
		set_source_files_properties(${sources} PROPERTIES
			HEADER_FILE_ONLY TRUE)
		message(STATUS "${folder}: not built in: ${why}")
	endif()
endfunction()

marq_backend(DNNL oneDNN dnnl.h dnnl)
marq_backend(XNNPACK XNNPACK xnnpack.h XNNPACK pthreadpool)
marq_backend(BLAS OpenBLAS cblas.h openblas)

# XNNPACK states no version; its header's hash stands for one.
if(XNNPACK_INCLUDE)
	file(SHA256 ${XNNPACK_INCLUDE}/xnnpack.h version)
	string(SUBSTRING ${version} 0 16 version)
	target_compile_definitions(marq_targets PRIVATE
		MARQ_XNNPACK_VERSION="header-${version}")
endif()
