// SPDX-License-Identifier: BSD-3-Clause
#pragma once

namespace workloads {

/// Base of what is neither copied nor moved.
class NonCopyable {
 public:
  NonCopyable() = default;
  NonCopyable(const NonCopyable&) = delete;
  NonCopyable& operator=(const NonCopyable&) = delete;
  NonCopyable(NonCopyable&&) = delete;
  NonCopyable& operator=(NonCopyable&&) = delete;

 protected:
  ~NonCopyable() = default;
};

}  // namespace workloads
