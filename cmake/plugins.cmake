# Plug-ins for other people's runtimes, in a package of their own: built where the
# header is, installed where their names are looked for. The runtime is loaded when
# a target is opened. -DMARQ_PLUGINS=OFF leaves them out. So do the presets with
# sanitizers: a runtime of others is built without any, and our side of the interface is
# tested there with a plug-in of our own (tests/plugin).
option(MARQ_PLUGINS "build plug-ins for the runtimes whose headers are found" ON)

function(marq_plugin name header)
	string(TOUPPER ${name} upper)
	# what was found may have been removed since
	if(${upper}_INCLUDE AND NOT EXISTS ${${upper}_INCLUDE}/${header})
		unset(${upper}_INCLUDE CACHE)
	endif()
	# as tools/install-deps --with puts them
	find_path(${upper}_INCLUDE ${header} PATH_SUFFIXES onnxruntime
		onnxruntime/core/session
		HINTS ${CMAKE_SOURCE_DIR}/build/include
		${CMAKE_SOURCE_DIR}/build/runtimes/lib/python3/site-packages/${name}/include)
	if(NOT MARQ_PLUGINS OR NOT ${upper}_INCLUDE)
		message(STATUS "plug-in ${name}: not built: no ${header}")
		return()
	endif()
	add_library(marq_${name} MODULE plugins/${name}/${name}.c
		plugins/common/fail.c plugins/common/origin.c
		plugins/common/runtime.c)
	set_target_properties(marq_${name} PROPERTIES PREFIX "")
	target_include_directories(marq_${name} PRIVATE targets/plugin)
	target_include_directories(marq_${name} SYSTEM PRIVATE
		${${upper}_INCLUDE})
	target_link_libraries(marq_${name} PRIVATE ${CMAKE_DL_LIBS})
	target_compile_options(marq_${name} PRIVATE -fno-sanitize=all -fPIC)
	install(TARGETS marq_${name} COMPONENT plugins
		DESTINATION lib/marq)
	message(STATUS "plug-in ${name}: ${${upper}_INCLUDE}")
endfunction()

marq_plugin(ort onnxruntime_c_api.h)
marq_plugin(openvino openvino/c/openvino.h)

include(cmake/acl.cmake)
