// SPDX-License-Identifier: BSD-3-Clause
// The two ways in which a workload ends early. The message is the sentence that the user reads.
#pragma once

#include <stdexcept>

namespace workloads {

/// The user asked for something that cannot be: exit status 2. Thrown by all ranks alike, never by some.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Something went wrong while doing what was asked: exit status 1. Thrown by all ranks alike, never by some.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace workloads
