// SPDX-License-Identifier: BSD-3-Clause
// Which settings do not go together, each valid by itself.
#pragma once

#include "policy/settings.hpp"

namespace progress_engine {

// SettingError with what to use in their place.
void refuse_combinations(const Policy& policy);

}  // namespace progress_engine
