// SPDX-License-Identifier: BSD-3-Clause
// What threads will do, waited for: soon on a quiet machine, in time on a busy one.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <fstream>
#include <functional>
#include <string>
#include <thread>

#include "platform/platform.hpp"

namespace progress_engine {

constexpr Nanoseconds patience = seconds(60);

inline bool eventually(const std::function<bool()>& holds) {
  for (const Nanoseconds end = now() + patience; now() < end;) {
    if (holds()) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return false;
}

// Whether a thread of this process sleeps: its state in proc(5) stands behind its name.
inline bool asleep(pid_t tid) {
  std::string said;
  std::getline(std::ifstream("/proc/self/task/" + std::to_string(tid) + "/stat"), said);
  return said.find(") S ") != std::string::npos;
}

}  // namespace progress_engine
