// SPDX-License-Identifier: BSD-3-Clause
// The engines beside a tool, one for each ABI. This file alone differs from MPI to MPI: the tools' others are compiled
// once for all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace progress_engine {

// The MPI library of this build, e.g. "libmpi.so.12".
const char* built_for();

struct Build {
  std::filesystem::path folder;  // of its libraries
  std::string built_for;
};

// Those in lib/progress_engine, where installed ones stand in folders of their MPI libraries' names: several can be
// installed into one prefix. The last is this build's own as a build tree has it. May name some twice.
std::vector<Build> builds_here();

}  // namespace progress_engine
