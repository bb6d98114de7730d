// SPDX-License-Identifier: BSD-3-Clause
// JSON with its keys in the order written, so that a record reads as it was meant.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace workloads {

using Json = nlohmann::ordered_json;

/// One line of text, without the line break. Text that is not UTF-8 (a host name, an argument) is replaced, not
/// refused.
inline std::string to_line(const Json& value) { return value.dump(-1, ' ', false, Json::error_handler_t::replace); }

}  // namespace workloads
