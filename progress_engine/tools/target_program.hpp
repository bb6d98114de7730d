// SPDX-License-Identifier: BSD-3-Clause
// What kind of program a command starts, as far as preloading goes.
#pragma once

#include <string>
#include <vector>

namespace progress_engine {

// The file that `command` names, searched for in PATH as execvp does; "" if there is none that can be executed.
std::string find_program(const std::string& command);

struct Preloading {
  std::string refusal;  // why the engine cannot be preloaded, in words that complete "CMD ..."; "" if it can
  std::string before;   // the library that must come first: AddressSanitizer's ends the program otherwise; "" for none
  std::string mpi;      // the MPI library that the program names, by way of others too; "" for none
};

// Of the program in `path`.
Preloading how_to_preload(const std::string& path);

// LD_PRELOAD is a list that blanks and colons divide, and in which $ begins a name of the loader's: nothing quotes
// them.

// A name of `library` that can stand in the list: its own, or one through a link to its folder that is made in a folder
// of the user's alone. Throws std::runtime_error with a sentence if there is none.
std::string name_for_preload(const std::string& library);

}  // namespace progress_engine
