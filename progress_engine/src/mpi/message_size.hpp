// SPDX-License-Identifier: BSD-3-Clause
// How large a message is. Knows no MPI.
#pragma once

#include <cstdint>
#include <limits>

namespace progress_engine {

// The most there is where it is more than that: a datatype may have terabytes, and an MPI says of one that it has no
// number for that its size is negative (MPI_UNDEFINED).
constexpr std::int64_t bytes_of(std::int64_t count, std::int64_t size) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  std::int64_t bytes = 0;
  if (count <= 0) return 0;
  return size < 0 || __builtin_mul_overflow(count, size, &bytes) ? most : bytes;
}

}  // namespace progress_engine
