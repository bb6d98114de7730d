# SPDX-License-Identifier: BSD-3-Clause
# A toolchain file: this machine's compiler makes what runs with glibc 2.28 or newer, and with any libstdc++, as the wheel
# must (./bench wheel). PORTABLE_SYSROOT: the headers and libraries of an older glibc, and portable.o, made of portable.c.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PORTABLE_SYSROOT)
set(CMAKE_SYSROOT ${PORTABLE_SYSROOT})
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(fmt_DIR ${CMAKE_CURRENT_LIST_DIR})

# -B: else the compiler takes its own crt1.o, with which an older glibc runs no constructor. The numbers are of system calls
# that the older headers do not have; an older kernel refuses them, too, and the engine does without.
set(CMAKE_C_FLAGS_INIT "-B${PORTABLE_SYSROOT}/usr/lib/x86_64-linux-gnu/")
set(CMAKE_CXX_FLAGS_INIT "-B${PORTABLE_SYSROOT}/usr/lib/x86_64-linux-gnu/ -DSYS_close_range=436 -DSYS_epoll_pwait2=441")
set(CMAKE_EXE_LINKER_FLAGS_INIT "-Wl,--allow-shlib-undefined") # of the MPI, whose own libraries are not asked for
set(CMAKE_CXX_STANDARD_LIBRARIES "${PORTABLE_SYSROOT}/portable.o -lpthread -ldl -lm")
