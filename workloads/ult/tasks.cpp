// SPDX-License-Identifier: BSD-3-Clause
#include "ult/tasks.h"

#include "ult/engine.h"

namespace workloads {
namespace {

bool suspends(const std::string& threading) { return threading == "ult" && engine_suspends_user_level_threads(); }

}  // namespace

Tasks::Tasks(std::size_t count, const Json& point, const Parameters& parameters, int partner)
    : count_(count),
      workers_(workers_of(point, parameters)),
      threading_(choice_of(point, parameters, "threading")),
      suspending_(suspends(threading_)),
      messenger_(partner, threading_ == "ult" && !suspending_ ? yield_user_level_thread : std::function<void()>()) {}

double Tasks::run(const Body& body) const {
  return threading_ == "kernel" ? run_kernel_threads(count_, body) : run_on_workers(body);
}

double Tasks::run_on_workers(const Body& body) const { return run_user_level_threads(workers_, count_, body); }

std::string_view Tasks::waits() const {
  if (threading_ != "ult") {
    return "blocking";
  }
  return suspending_ ? "suspending" : "test-and-yield";
}

}  // namespace workloads
