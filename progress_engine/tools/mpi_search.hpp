// SPDX-License-Identifier: BSD-3-Clause
// Which MPI comes with a program or library that does not name it itself: found in the files, as the loader would.
#pragma once

#include <set>
#include <string>
#include <vector>

namespace progress_engine {

struct Loader {
  // What is not looked into.
  bool (*has)(const std::string& name);
  // The soname of an MPI's library that is in none of the folders that are known; "" if it is not there.
  std::string (*soname_of)(const std::string& name);
};

class MpiSearch {
 public:
  explicit MpiSearch(Loader loader) : loader_(loader) {}

  // The soname of the MPI's library that `name` is or is linked with, by way of others too; "" if there is none, also
  // where `name` is not there. It is looked for in `folders`, and in those that the loader has for all but for its
  // cache.
  std::string with(const std::string& name, const std::vector<std::string>& folders);

 private:
  Loader loader_;
  std::set<std::string> seen_;
};

}  // namespace progress_engine
