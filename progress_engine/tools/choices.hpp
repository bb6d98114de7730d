// SPDX-License-Identifier: BSD-3-Clause
// What progress-run leaves for libprogress_chooser.so: what to preload for each MPI that an engine was built for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "split.hpp"

namespace progress_engine {

inline constexpr const char* choices_variable = "PROGRESS_ENGINE_CHOICES";

struct Choice {
  std::string mpi;        // the soname of the MPI's library
  std::string libraries;  // as in LD_PRELOAD
};

// MPI=LIBRARIES, with blanks between, which LD_PRELOAD cannot hold. The first is for a program of which nobody knows
// the MPI.
inline std::string to_text(const std::vector<Choice>& choices) {
  std::string text;
  for (const auto& choice : choices) text.append(choice.mpi).append("=").append(choice.libraries).append(" ");
  return text;
}

inline std::vector<Choice> choices_from(std::string_view text) {
  std::vector<Choice> choices;
  for (const auto& line : split(text, ' '))
    if (const auto equals = line.find('='); equals != std::string::npos)
      choices.push_back({line.substr(0, equals), line.substr(equals + 1)});
  return choices;
}

}  // namespace progress_engine
