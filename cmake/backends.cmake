# Optional kernel libraries. One that is missing, or whose interface is none
# that we know, is reported at configure time and by `marq targets`; nothing of
# its folder is compiled, and targets/absent.c says why it is not built in.
# MARQ_WITHOUT leaves present ones out. An interface is known by a file that
# compiles with it, never by a version.
set(MARQ_WITHOUT "" CACHE STRING "optional libraries to leave out (list)")
option(MARQ_LATE "load OpenBLAS when it is first used, not with the program" ON)

# The file of a folder that knows the library's interface: the newest of its
# libraryN.c that compiles with the header (asked again when one of the two
# changes, or the library's file, as a header may only include others); nothing
# when none does. Where there are libraryN_M.c the newest of them that compiles,
# and so does libraryN.c, which goes with it. The others are not compiled.
function(marq_interface name header folder result)
	set(known "")
	file(GLOB files CONFIGURE_DEPENDS targets/${folder}/library*.c)
	list(SORT files ORDER DESCENDING) # libraryN.c after its libraryN_M.c
	file(SHA256 ${${name}_INCLUDE}/${header} header_hash)
	get_filename_component(file ${${name}_LIBRARY} REALPATH)
	string(APPEND header_hash " ${file}")
	set(CMAKE_TRY_COMPILE_TARGET_TYPE STATIC_LIBRARY)
	set(parts "")
	foreach(file ${files})
		set(sources ${file})
		string(REGEX REPLACE "_[0-9]+\\.c$" ".c" whole ${file})
		if(NOT whole STREQUAL file)
			list(APPEND sources ${whole})
			list(APPEND parts ${whole})
		endif()
		set(hash ${header_hash})
		foreach(source ${sources})
			file(SHA256 ${source} part)
			string(APPEND hash " ${part}")
		endforeach()
		string(SHA256 hash "${hash}")
		string(SUBSTRING ${hash} 0 12 hash)
		if(known STREQUAL "" AND NOT file IN_LIST parts)
			try_compile(MARQ_${name}_${hash} SOURCES ${sources}
				CMAKE_FLAGS "-DINCLUDE_DIRECTORIES=${CMAKE_SOURCE_DIR};${${name}_INCLUDE}"
				COMPILE_DEFINITIONS -Werror=implicit-function-declaration
					-Werror=incompatible-pointer-types -D_POSIX_C_SOURCE=200809L)
			if(MARQ_${name}_${hash})
				set(known ${sources})
			endif()
		endif()
		if(NOT file IN_LIST known)
			set_source_files_properties(${file} PROPERTIES HEADER_FILE_ONLY TRUE)
		endif()
	endforeach()
	set(${result} "${known}" PARENT_SCOPE)
endfunction()

# Why the library cannot be used, or nothing.
function(marq_backend_fault name words header result)
	string(TOLOWER ${name} folder)
	set(why "")
	if(name IN_LIST MARQ_WITHOUT)
		set(why "${words} was left out on request")
	elseif(NOT ${name}_INCLUDE OR NOT ${name}_LIBRARY)
		set(why "${words} was not found when marq was built")
	else()
		marq_interface(${name} ${header} ${folder} known)
		if(known STREQUAL "")
			get_filename_component(file ${${name}_LIBRARY} REALPATH)
			get_filename_component(file ${file} NAME)
			set(why "interface of ${file} not known")
		endif()
	endif()
	set(${result} "${why}" PARENT_SCOPE)
endfunction()

# The name that programs ask for a shared library by; nothing: it is static, or
# nobody can tell.
function(marq_soname file result)
	set(name "")
	if(CMAKE_READELF AND file MATCHES "\\.so(\\.[0-9.]+)?$")
		execute_process(COMMAND ${CMAKE_READELF} -dW ${file}
			OUTPUT_VARIABLE dynamic ERROR_QUIET)
		if(dynamic MATCHES "\\(SONAME\\)[^[]*\\[([^]\n]+)\\]")
			set(name ${CMAKE_MATCH_1})
		endif()
	endif()
	set(${result} "${name}" PARENT_SCOPE)
endfunction()

# A library that is slow or greedy when it is loaded is loaded when it is first
# asked for (targets/FOLDER/late.c), or with the program (linked.c).
function(marq_late name folder)
	marq_soname("${${name}_LIBRARY}" soname)
	set(other late)
	if(MARQ_LATE AND soname)
		get_filename_component(file ${${name}_LIBRARY} DIRECTORY)
		set(file ${file}/${soname})
		# who runs it elsewhere has no such folder
		if(CMAKE_CROSSCOMPILING OR CMAKE_SKIP_RPATH OR NOT EXISTS ${file})
			set(file ${soname})
		endif()
		target_compile_definitions(marq_targets PRIVATE
			MARQ_${name}_NAME="${soname}" MARQ_${name}_FILE="${file}")
		set(other linked)
	else()
		target_link_libraries(marq_targets PUBLIC ${${name}_LIBRARY})
	endif()
	set_source_files_properties(targets/${folder}/${other}.c
		PROPERTIES HEADER_FILE_ONLY TRUE)
endfunction()

function(marq_backend name words header library)
	find_path(${name}_INCLUDE ${header} PATH_SUFFIXES openblas-pthread)
	find_library(${name}_LIBRARY ${library} PATH_SUFFIXES openblas-pthread)
	marq_backend_fault(${name} ${words} ${header} why)
	string(TOLOWER ${name} folder)
	if(why STREQUAL "")
		target_compile_definitions(marq_targets PUBLIC MARQ_HAVE_${name}=1)
		target_include_directories(marq_targets SYSTEM PUBLIC
			${${name}_INCLUDE})
		if(EXISTS ${CMAKE_SOURCE_DIR}/targets/${folder}/late.c)
			marq_late(${name} ${folder})
		else()
			target_link_libraries(marq_targets PUBLIC
				${${name}_LIBRARY} ${ARGN})
		endif()
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

# XNNPACK states no version; its header's hash and its file's name stand for one.
if(XNNPACK_INCLUDE AND XNNPACK_LIBRARY)
	file(SHA256 ${XNNPACK_INCLUDE}/xnnpack.h version)
	string(SUBSTRING ${version} 0 16 version)
	get_filename_component(file ${XNNPACK_LIBRARY} REALPATH)
	get_filename_component(file ${file} NAME)
	target_compile_definitions(marq_targets PRIVATE
		MARQ_XNNPACK_VERSION="header-${version} ${file}")
endif()
