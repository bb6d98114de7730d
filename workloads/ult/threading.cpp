// SPDX-License-Identifier: BSD-3-Clause
#include "ult/threading.h"

#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <latch>
#include <thread>

#include "common/clock.h"
#include "common/experiment.h"
#include "common/machine.h"

namespace workloads {
namespace {

template <class Function>
Function engine_symbol(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

}  // namespace

bool engine_suspends_user_level_threads() {
  const auto name = engine_symbol<const char* (*)()>("pe_ult_adapter_name");
  return name != nullptr && name() != nullptr;
}

bool set_engine_waiting(const std::string& method) {
  const auto set = engine_symbol<int (*)(const char*)>("pe_set_ult_waiting");
  return engine_suspends_user_level_threads() && set != nullptr && set(method.c_str()) == 0;
}

Parameter threading_parameter(std::vector<std::string> choices) {
  return choice_parameter(
      "threading", Choices(std::move(choices)),
      "kernel: a kernel thread each, blocking calls; ult: user-level threads, blocking calls if an engine "
      "suspends them, else test-and-yield; phases: one thread communicates for all, then all compute",
      "ult");
}

Parameter count_parameter(const std::string& name, const Json& default_value) {
  constexpr int most = 16384;
  return integer_parameter(name, {1, most}, "threads",
                           "threads of each process, each with its partner in the other one", default_value);
}

Parameter cores_parameter() {
  constexpr int most = 1024;
  return integer_parameter(
      "cores", {0, most}, "kernel threads",
      "kernel threads that run the user-level threads; 0: as many as CPUs on which the process may run", 0);
}

Parameter bytes_parameter(std::int64_t default_value) {
  return integer_parameter("size_bytes", {0, largest_message}, "bytes", "size of a message", default_value);
}

Parameter mat_size_parameter() {
  constexpr std::int64_t most = 1'000'000'000;
  return integer_parameter("mat_size", {0, most}, "units of work",
                           "computation of a task between two exchanges; a unit takes about 1 us");
}

std::size_t workers_of(const Json& point, const Parameters& parameters) {
  const auto asked = static_cast<std::size_t>(integer_of(point, parameters, "cores"));
  return asked > 0 ? asked : allowed_cpus().size();
}

// On one CPU the caller may not run again before they have ended: it cannot tell when they began.
double run_kernel_threads(std::size_t count, const Body& body) {
  std::latch all_there(static_cast<std::ptrdiff_t>(count));
  std::vector<Clock::time_point> begins(count);
  std::vector<std::thread> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      all_there.arrive_and_wait();
      begins[i] = Clock::now();
      body(i);
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  return seconds_since(*std::ranges::min_element(begins));
}

}  // namespace workloads
