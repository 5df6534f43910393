# The Arm Compute Library is of C++, and linked. Debian's for amd64 has OpenCL's
# kernels alone: there the plug-in is compiled, to be seen to, and not linked.
set(acl_header arm_compute/runtime/NEON/functions/NEConvolutionLayer.h)
# what was found may have been removed since
if(ACL_INCLUDE AND NOT EXISTS ${ACL_INCLUDE}/${acl_header})
	unset(ACL_INCLUDE CACHE)
	unset(ACL_LIBRARY CACHE)
	unset(MARQ_ACL_KERNELS CACHE)
endif()
find_path(ACL_INCLUDE ${acl_header})
find_library(ACL_LIBRARY arm_compute)
if(NOT MARQ_PLUGINS OR NOT ACL_INCLUDE OR NOT ACL_LIBRARY)
	message(STATUS "plug-in acl: not built: no ${acl_header}")
	return()
endif()
include(CheckLanguage)
check_language(CXX)
if(NOT CMAKE_CXX_COMPILER)
	message(STATUS "plug-in acl: not built: no compiler of C++")
	return()
endif()
enable_language(CXX)
# what the library itself lacks is the loader's to find
try_compile(MARQ_ACL_KERNELS SOURCES ${CMAKE_SOURCE_DIR}/cmake/acl.cc
	CMAKE_FLAGS -DINCLUDE_DIRECTORIES=${ACL_INCLUDE}
	LINK_OPTIONS -Wl,--unresolved-symbols=ignore-in-shared-libs
	LINK_LIBRARIES ${ACL_LIBRARY}
	CXX_STANDARD 17 CXX_STANDARD_REQUIRED ON)
set(acl_sources plugins/acl/acl.cc plugins/acl/layer.cc
	plugins/acl/region.cc plugins/common/fail.c
	${CMAKE_BINARY_DIR}/ir/onnx.pb-c.c)
if(MARQ_ACL_KERNELS)
	add_library(marq_acl MODULE ${acl_sources})
	target_link_libraries(marq_acl PRIVATE ${ACL_LIBRARY}
		${CMAKE_DL_LIBS})
	install(TARGETS marq_acl COMPONENT plugins
		DESTINATION lib/marq)
	message(STATUS "plug-in acl: ${ACL_LIBRARY}")
else()
	add_library(marq_acl OBJECT ${acl_sources})
	message(STATUS "plug-in acl: compiled, not linked: "
		"${ACL_LIBRARY} has no kernels for CPUs")
endif()
set_target_properties(marq_acl PROPERTIES PREFIX "" CXX_STANDARD 17
	CXX_STANDARD_REQUIRED ON CXX_EXTENSIONS OFF
	CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden)
add_dependencies(marq_acl onnx_proto)
target_include_directories(marq_acl PRIVATE targets/plugin)
target_include_directories(marq_acl SYSTEM PRIVATE ${ACL_INCLUDE})
target_link_libraries(marq_acl PRIVATE PkgConfig::PROTOBUF_C)
target_compile_options(marq_acl PRIVATE -fno-sanitize=all -fPIC)
