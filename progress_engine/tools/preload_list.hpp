// SPDX-License-Identifier: BSD-3-Clause
// LD_PRELOAD is a list that blanks and colons divide, and in which $ begins a name of the loader's: nothing quotes
// them.
#pragma once

#include <string>

namespace progress_engine {

// A name of `library` that can stand in the list: its own, or one through a link to its folder that is made in a folder
// of the user's alone. Throws std::runtime_error with a sentence if there is none.
std::string name_for_preload(const std::string& library);

}  // namespace progress_engine
