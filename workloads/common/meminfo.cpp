// SPDX-License-Identifier: BSD-3-Clause
#include "common/meminfo.h"

#include <limits>
#include <string>

namespace workloads {

double parse_available_bytes(std::istream& text) {
  constexpr double kilobyte = 1024;
  for (std::string word; text >> word;) {
    if (double kilobytes = 0; word == "MemAvailable:" && text >> kilobytes) {
      return kilobytes * kilobyte;
    }
  }
  return std::numeric_limits<double>::infinity();
}

}  // namespace workloads
