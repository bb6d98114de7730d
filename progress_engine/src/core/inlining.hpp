// SPDX-License-Identifier: BSD-3-Clause
// PE_ALWAYS_INLINE: for what runs in each interposed call, whose budget is some ten nanoseconds. Under a sanitizer the
// budget is lost anyhow, and inlining into some hundred wrappers would more than double the time of the whole build.
#pragma once

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PE_ALWAYS_INLINE inline
#else
#define PE_ALWAYS_INLINE [[gnu::always_inline]] inline
#endif
