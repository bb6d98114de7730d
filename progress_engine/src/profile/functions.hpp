// SPDX-License-Identifier: BSD-3-Clause
// The functions that the profiler knows, by the index that call sites have: of profiled.cpp, which is generated.
#pragma once

namespace progress_engine::profile {

extern const char* const function_names[];

}  // namespace progress_engine::profile
