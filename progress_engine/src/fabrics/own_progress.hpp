// SPDX-License-Identifier: BSD-3-Clause
// Where a network's adapter or its library moves messages while the program computes, the engine has nothing to win.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace progress_engine {

// What the process shows of its network, after MPI_Init.
struct NetworkFacts {
  std::function<std::string(const char* name)> variable;  // of the environment; "" if it is not set
  std::vector<std::string> libraries;                     // loaded: "libpsm2.so"
  std::vector<std::string> devices;                       // open: "/dev/cxi0"
  std::vector<std::string> adapters;                      // as the kernel lists them: "mlx5_0"
};

struct OwnProgress {
  std::string by;    // who makes progress without the engine; "" if nobody does
  std::string hint;  // the variable that would switch such progress on; "" if there is none
};

OwnProgress own_progress(const NetworkFacts& facts);

// The adapters for verbs of this machine; `root` is another one's in tests.
std::vector<std::string> verbs_adapters(const std::string& root = "");

}  // namespace progress_engine
