// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/mark.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <sstream>

namespace progress_engine {
namespace {

// Which file it is: the descriptor's number may be another one's by now.
std::string identity(int descriptor) {
  struct stat found{};
  if (fstat(descriptor, &found) != 0) return "";
  return std::to_string(found.st_dev) + ":" + std::to_string(found.st_ino);
}

bool write_to(int descriptor, const std::string& wanted) {
  return identity(descriptor) == wanted && pwrite(descriptor, "1", 1, 0) == 1;
}

}  // namespace

std::string describe_mark(int descriptor, const std::string& path) {
  return std::to_string(descriptor) + " " + identity(descriptor) + " " + path;
}

void leave_mark() {
  const char* described = std::getenv(mark_variable);
  if (!described) return;
  std::istringstream words(described);
  int inherited = -1;
  std::string wanted;
  std::string path;
  std::getline(words >> inherited >> wanted >> std::ws, path);
  if (write_to(inherited, wanted)) return;
  const int opened = open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened < 0) return;
  write_to(opened, wanted);
  close(opened);
}

}  // namespace progress_engine
