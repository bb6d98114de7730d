// SPDX-License-Identifier: BSD-3-Clause
#include "built_for.hpp"

namespace progress_engine {

const char* built_for() { return PE_BUILT_FOR; }

}  // namespace progress_engine
