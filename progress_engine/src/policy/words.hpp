// SPDX-License-Identifier: BSD-3-Clause
// The words of a list, as settings and their choices have them.
#pragma once

#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace progress_engine {

// In order, without empty ones.
inline std::vector<std::string> words(std::string_view text, char separator) {
  std::vector<std::string> result;
  std::istringstream stream{std::string(text)};
  for (std::string word; std::getline(stream, word, separator);)
    if (!word.empty()) result.push_back(word);
  return result;
}

}  // namespace progress_engine
