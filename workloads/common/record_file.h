// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <string>

#include "common/json.h"

namespace workloads {

/// A file of JSON lines. Each line is handed to the system as a whole at once: what is finished survives a crash.
class RecordFile {
 public:
  /// Truncates `path`; an empty path is standard output. UsageError if it cannot be written.
  explicit RecordFile(const std::string& path);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  RecordFile& operator=(const RecordFile&) = delete;
  RecordFile(RecordFile&&) = delete;
  RecordFile& operator=(RecordFile&&) = delete;

  /// Failure if the line could not be written as a whole.
  void write(const Json& line);

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace workloads
