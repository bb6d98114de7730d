// SPDX-License-Identifier: BSD-3-Clause
// Where settings come from. Last wins: the defaults, the preset, the configuration file, the environment,
// `progress-run --set`. A relative name of a file is one in the folder from which progress-run was started; where it
// comes from the environment alone, in the folder in which the program is when it is opened.
//
// The configuration file is the one that PROGRESS_ENGINE_CONFIG names. One KEY = VALUE a line, with the keys that
// progress-info lists, and `variant` for the preset; # begins a comment, empty lines mean nothing:
//
//     variant  = timer
//     timer_us = 500    # instead of the preset's
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policy/settings.hpp"

namespace progress_engine {

// Settings from one place; `origin` names it for people.
struct Source {
  std::string origin;
  Values values;
  std::string variant;  // the preset that it names; "" if none
};

// A complete set of values, and for each where it comes from.
struct Resolved {
  std::string variant;
  Values values;
  Values origins;
};

// The file's settings. Throws SettingError with the file and the line.
Source read_configuration(const std::string& path);

// The file that the environment names (nothing if it names none), then the environment itself.
std::vector<Source> sources_of_process(char* const* environment);

// Later sources win; without any variant it is `adaptive`. Every value is checked. Throws SettingError.
Resolved resolve(const std::vector<Source>& sources);

}  // namespace progress_engine
