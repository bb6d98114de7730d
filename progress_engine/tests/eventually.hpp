// SPDX-License-Identifier: BSD-3-Clause
// What threads will do, waited for: soon on a quiet machine.
#pragma once

#include <chrono>
#include <functional>
#include <thread>

#include "platform/platform.hpp"

namespace progress_engine {

inline bool eventually(const std::function<bool()>& holds) {
  for (const Nanoseconds end = now() + seconds(20); now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

}  // namespace progress_engine
