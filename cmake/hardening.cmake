# Models are other people's files: programs are built as Debian builds its own.
# -fPIE and not -fPIC, which would keep functions of one file from being inlined
# for a shared library that nobody makes. Sanitizers check more than
# _FORTIFY_SOURCE does, and see less where it is on.
include(CheckCCompilerFlag)
set(hardening -fPIE -fstack-protector-strong)
foreach(flag -fstack-clash-protection -fcf-protection
		-mbranch-protection=standard)
	string(MAKE_C_IDENTIFIER "MARQ${flag}" known)
	check_c_compiler_flag(${flag} ${known})
	if(${known})
		list(APPEND hardening ${flag})
	endif()
endforeach()
if(NOT MARQ_SANITIZE)
	set(optimised $<CONFIG:Release,RelWithDebInfo,MinSizeRel>)
	list(APPEND hardening $<${optimised}:-U_FORTIFY_SOURCE>
		$<${optimised}:-D_FORTIFY_SOURCE=3>)
endif()
add_compile_options(${hardening})
add_link_options(-pie -Wl,-z,relro -Wl,-z,now -Wl,-z,noexecstack)

# Libraries outside the loader's folders are found where they were linked, by
# an installed program too. The one path from the start: CMake would pad a path
# that it changes at installation with an empty element, the current folder.
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)
