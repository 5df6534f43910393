# The report's page, style and behaviour, as bytes in the program.
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/emit)
foreach(name report.html report.css report.js)
	set(from ${CMAKE_SOURCE_DIR}/emit/report/${name})
	set(to ${CMAKE_BINARY_DIR}/emit/${name}.c)
	add_custom_command(
		OUTPUT ${to}
		COMMAND ${CMAKE_COMMAND} -DIN=${from} -DOUT=${to}
			-P ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
		DEPENDS ${from} ${CMAKE_SOURCE_DIR}/cmake/embed.cmake
		VERBATIM)
	target_sources(marq_emit PRIVATE ${to})
endforeach()
