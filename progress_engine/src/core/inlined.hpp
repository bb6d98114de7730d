// SPDX-License-Identifier: BSD-3-Clause
#pragma once

// What every interposed call goes through. GCC stops inlining in a file as large as the generated interposer, so it is
// forced to; but not in builds with a sanitizer, where no speed is measured and it multiplies the time to compile.
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define PE_INLINED [[gnu::always_inline]]
#else
#define PE_INLINED
#endif
