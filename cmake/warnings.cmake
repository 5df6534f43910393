# House rule: no warning survives, in gcc or in clang. Our presets make them
# errors; who builds with a compiler that we do not know only reads them.
add_compile_options(
	-Wall -Wextra -Wpedantic -Wconversion -Wsign-conversion -Wshadow
	$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes>
	$<$<COMPILE_LANGUAGE:C>:-Wmissing-prototypes>
	$<$<COMPILE_LANGUAGE:C>:-Wold-style-definition>
	-Wpointer-arith -Wcast-qual -Wwrite-strings -Wundef -Wvla
	-Wdouble-promotion -Wformat=2 -Wno-format-truncation -Wimplicit-fallthrough)
if(MARQ_WERROR)
	add_compile_options(-Werror)
endif()
add_compile_options(-fno-omit-frame-pointer)
# Costs, values and hashes must not depend on contraction or on x87.
add_compile_options(-ffp-contract=off)
add_compile_definitions(_POSIX_C_SOURCE=200809L)
if(CMAKE_C_COMPILER_ID STREQUAL "Clang")
	# tables leave trailing fields to be zero; gcc does not mind
	add_compile_options(-Wno-unknown-warning-option -Wno-format-nonliteral
		-Wno-missing-field-initializers)
endif()
# Asserts stay in every build.
set(CMAKE_C_FLAGS_RELWITHDEBINFO "-O2 -g")
set(CMAKE_C_FLAGS_RELEASE "-O2")
# Only what a program uses is loaded: OpenBLAS starts threads when it is.
add_link_options(-Wl,--as-needed)
include(cmake/hardening.cmake)
# There are many test programs; gold links them several times faster.
find_program(GOLD ld.gold)
if(GOLD AND NOT MARQ_FUZZ)
	add_link_options(-fuse-ld=gold)
endif()
include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})

if(MARQ_SANITIZE)
	add_compile_options(-fsanitize=${MARQ_SANITIZE} -fno-sanitize-recover=all)
	add_link_options(-fsanitize=${MARQ_SANITIZE})
endif()
if(MARQ_FUZZ)
	add_compile_options(-fsanitize=fuzzer-no-link
		-fno-sanitize-coverage=trace-cmp)
endif()
