// SPDX-License-Identifier: BSD-3-Clause
#include "common/json.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "common/errors.h"

namespace workloads {
namespace {

constexpr mode_t readable_by_all = 0644;

int open_output(const std::string& path) {
  if (path.empty()) {
    return STDOUT_FILENO;
  }
  const int descriptor = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, readable_by_all);
  if (descriptor < 0) {
    throw UsageError(fmt::format("--output {}: cannot be written: {}", path, std::strerror(errno)));
  }
  return descriptor;
}

}  // namespace

RecordFile::RecordFile(const std::string& path)
    : name_(path.empty() ? "standard output" : path), descriptor_(open_output(path)) {}

RecordFile::~RecordFile() {
  if (descriptor_ != STDOUT_FILENO) {
    close(descriptor_);
  }
}

void RecordFile::write(const Json& line) {
  const std::string text = to_line(line) + "\n";
  for (std::string_view rest = text; !rest.empty();) {
    const ssize_t written = ::write(descriptor_, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      throw Failure(fmt::format("{}: a record line could not be written: {}", name_, std::strerror(errno)));
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
}

}  // namespace workloads
