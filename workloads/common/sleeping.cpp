// SPDX-License-Identifier: BSD-3-Clause
#include "common/sleeping.h"

#include <chrono>
#include <thread>

#include "common/clock.h"

namespace workloads {

Parameter compute_parameter() {
  return {
      .name = "compute",
      .domain = Choices{"real", "sleep"},
      .unit = "",
      .meaning = "the computation, or a sleep of 1 us a unit in its place",
      .default_value = "real",
  };
}

bool is_slept(const Json& point, const Parameters& parameters) {
  return choice_of(point, parameters, "compute") == "sleep";
}

void sleep_units(std::uint64_t units) noexcept {
  const std::chrono::duration<double> length(static_cast<double>(units) * slept_unit_s);
  std::this_thread::sleep_until(Clock::now() + std::chrono::duration_cast<Clock::duration>(length));
}

}  // namespace workloads
