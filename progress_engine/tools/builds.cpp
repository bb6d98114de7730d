// SPDX-License-Identifier: BSD-3-Clause
#include "builds.hpp"

#include <system_error>

namespace progress_engine {

const char* built_for() { return PE_BUILT_FOR; }

std::vector<Build> builds_here() {
  namespace fs = std::filesystem;
  std::vector<Build> builds;
  const auto prefix = fs::read_symlink("/proc/self/exe").parent_path().parent_path();
  for (const char* folder : {"lib", PE_INSTALL_LIBDIR}) {
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(prefix / folder / "progress_engine", none))
      builds.push_back({entry.path(), entry.path().filename()});
  }
  builds.push_back({prefix / "lib", built_for()});
  return builds;
}

}  // namespace progress_engine
