# SPDX-License-Identifier: BSD-3-Clause
# fmt of portable.cmake's builds: headers alone, since Debian has no libfmt.a.
add_library(fmt::fmt-header-only INTERFACE IMPORTED)
set_target_properties(fmt::fmt-header-only PROPERTIES INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY=1)
add_library(fmt::fmt ALIAS fmt::fmt-header-only)
