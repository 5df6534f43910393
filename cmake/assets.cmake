# marq_assets(library folder header files...): files as bytes in the program.
function(marq_assets library folder header)
	file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/${folder})
	foreach(name ${ARGN})
		set(from ${CMAKE_SOURCE_DIR}/${folder}/${name})
		set(to ${CMAKE_BINARY_DIR}/${folder}/${name}.c)
		add_custom_command(
			OUTPUT ${to}
			COMMAND ${CMAKE_COMMAND} -DIN=${from} -DOUT=${to}
				-DHEADER=${header}
				-P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
			DEPENDS ${from} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
			VERBATIM)
		target_sources(${library} PRIVATE ${to})
	endforeach()
endfunction()

marq_assets(marq_emit emit/report emit/report/assets.h report.html report.css
	graph.js report.js)
marq_assets(marq_targets targets/mrvl/device targets/mrvl/device_assets.h
	build.sh Makefile ops.h)
