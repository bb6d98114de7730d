// SPDX-License-Identifier: BSD-3-Clause
// For tests of the tests. Builds with unit tests can leave out how the engine handles one hazard, the one that
// PROGRESS_ENGINE_BREAK names: that hazard's test must then fail (tests/test_hazards.py). In all other builds this is
// false at compile time, and the variable is refused as any unknown setting is.
#pragma once

#include <string_view>

namespace progress_engine {

#ifdef PE_BREAKABLE
inline constexpr bool breakable = true;
bool broken(std::string_view hazard);
#else
inline constexpr bool breakable = false;
constexpr bool broken(std::string_view /*hazard*/) { return false; }
#endif

}  // namespace progress_engine
