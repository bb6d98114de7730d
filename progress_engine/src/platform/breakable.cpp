// SPDX-License-Identifier: BSD-3-Clause
#include "platform/breakable.hpp"

#ifdef PE_BREAKABLE
#include <cstdlib>

namespace progress_engine {

bool broken(std::string_view hazard) {
  static const char* const named = std::getenv("PROGRESS_ENGINE_BREAK");
  return named && hazard == named;
}

}  // namespace progress_engine
#endif
