// SPDX-License-Identifier: BSD-3-Clause
// JSON with its keys in the order written, so that a record reads as it was meant; and files of its lines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "common/noncopyable.h"

namespace workloads {

using Json = nlohmann::ordered_json;

/// One line of text, without the line break. Text that is not UTF-8 (a host name, an argument) is replaced, not
/// refused.
inline std::string to_line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// A file of JSON lines. Each line is handed to the system as a whole at once: what is finished survives a crash.
class RecordFile : NonCopyable {
 public:
  /// Truncates `path`; an empty path is standard output. UsageError if it cannot be written.
  explicit RecordFile(const std::string& path);
  ~RecordFile();

  /// Failure if the line could not be written as a whole.
  void write(const Json& line);

 private:
  std::string name_;
  int descriptor_;
};

}  // namespace workloads
