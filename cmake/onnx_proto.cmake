# ir/onnx.proto -> <build>/ir/onnx.pb-c.[ch], compiled without our warnings:
# generated code is not ours to style.
find_program(PROTOC_C protoc-c REQUIRED)
if(EXISTS ${CMAKE_SOURCE_DIR}/ir/onnx.proto)
	file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/ir)
	add_custom_command(
		OUTPUT ${CMAKE_BINARY_DIR}/ir/onnx.pb-c.c
			${CMAKE_BINARY_DIR}/ir/onnx.pb-c.h
		COMMAND ${PROTOC_C} --c_out=${CMAKE_BINARY_DIR}/ir
			-I${CMAKE_SOURCE_DIR}/ir onnx.proto
		DEPENDS ${CMAKE_SOURCE_DIR}/ir/onnx.proto
		VERBATIM)
	target_sources(marq_ir PRIVATE ${CMAKE_BINARY_DIR}/ir/onnx.pb-c.c)
	set_source_files_properties(${CMAKE_BINARY_DIR}/ir/onnx.pb-c.c
		PROPERTIES COMPILE_OPTIONS "-w")
	add_custom_target(onnx_proto DEPENDS ${CMAKE_BINARY_DIR}/ir/onnx.pb-c.h)
	add_dependencies(marq_ir onnx_proto)
endif()
