// SPDX-License-Identifier: BSD-3-Clause
#include "machine.hpp"

#include <sys/utsname.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "platform/platform.hpp"
#include "platform/scheduling.hpp"
#include "telemetry/thread_usage.hpp"
#include "wait/event_source.hpp"
#include "wait/user_wait.hpp"

namespace progress_engine {

nlohmann::ordered_json describe_machine() {
  constexpr Nanoseconds asked = microseconds(100);
  nlohmann::ordered_json machine;
  utsname system{};
  uname(&system);
  prepare_fences();
  machine["kernel"] = system.release;
  machine["cpus"] = usage_of_thread(gettid()).cpus_allowed;
  machine["wait_instruction"] = wait_instruction_name(wait_instruction());
  const auto slice = probe_slice(asked);
  machine["slice_ns"] = slice ? nlohmann::ordered_json(*slice) : nlohmann::ordered_json();
  machine["short_slice"] = slice == asked;
  machine["precise_epoll"] = has_precise_epoll();
  machine["membarrier"] = !light_fence_is_full;
  return machine;
}

}  // namespace progress_engine
