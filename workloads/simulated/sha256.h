// SPDX-License-Identifier: BSD-3-Clause
// SHA-256 (FIPS 180-4), so that a record says which files predicted it.
#pragma once

#include <string>
#include <string_view>

namespace simulated {

/// In hexadecimal, as sha256sum prints it.
std::string sha256(std::string_view bytes);

}  // namespace simulated
