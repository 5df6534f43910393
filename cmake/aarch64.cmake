# Toolchain of the preset aarch64: Debian's cross compiler, libraries of the folder
# that tools/make-sysroot makes ($MARQ_SYSROOT names another), and qemu's user
# emulation for the programs that are built: of one processor, that all versions
# of qemu know.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(CMAKE_SYSROOT $ENV{MARQ_SYSROOT})
if(NOT CMAKE_SYSROOT)
	get_filename_component(CMAKE_SYSROOT
		${CMAKE_CURRENT_LIST_DIR}/../build/sysroot-aarch64 ABSOLUTE)
endif()
if(NOT EXISTS ${CMAKE_SYSROOT}/usr/include)
	message(FATAL_ERROR "no sysroot ${CMAKE_SYSROOT}: tools/make-sysroot makes it")
endif()
if(CMAKE_SYSROOT MATCHES " ")
	message(FATAL_ERROR "pkg-config takes no blanks in '${CMAKE_SYSROOT}': "
		"tools/make-sysroot SUITE FOLDER, and MARQ_SYSROOT=FOLDER")
endif()
set(CMAKE_FIND_ROOT_PATH ${CMAKE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(libraries ${CMAKE_SYSROOT}/usr/lib/${CMAKE_LIBRARY_ARCHITECTURE})
set(ENV{PKG_CONFIG_LIBDIR} ${libraries}/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig)
set(ENV{PKG_CONFIG_SYSROOT_DIR} ${CMAKE_SYSROOT})

find_program(MARQ_QEMU NAMES qemu-aarch64 qemu-aarch64-static)
set(CMAKE_CROSSCOMPILING_EMULATOR
	sh -c "echo 'skipped: no qemu-aarch64' && exit 77")
if(MARQ_QEMU)
	set(CMAKE_CROSSCOMPILING_EMULATOR
		${MARQ_QEMU} -cpu neoverse-n1 -L ${CMAKE_SYSROOT})
endif()
