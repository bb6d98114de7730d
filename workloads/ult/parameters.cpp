// SPDX-License-Identifier: BSD-3-Clause
#include "ult/parameters.h"

#include <cstdint>

#include "common/placement.h"
#include "common/program.h"

namespace workloads {

Parameter threading_parameter(std::vector<std::string> choices) {
  return {
      .name = "threading",
      .domain = Choices(std::move(choices)),
      .unit = "",
      .meaning =
          "kernel: a kernel thread each, blocking calls; ult: user-level threads, blocking calls if an engine "
          "suspends them, else test-and-yield; phases: one thread communicates for all, then all compute",
      .default_value = "ult",
  };
}

Parameter count_parameter(const std::string& name, const Json& default_value) {
  constexpr int most = 16384;
  return {
      .name = name,
      .domain = IntegerRange{.minimum = 1, .maximum = most},
      .unit = "threads",
      .meaning = "threads of each process, each with its partner in the other one",
      .default_value = default_value,
  };
}

Parameter cores_parameter() {
  constexpr int most = 1024;
  return {
      .name = "cores",
      .domain = IntegerRange{.minimum = 0, .maximum = most},
      .unit = "kernel threads",
      .meaning = "kernel threads that run the user-level threads; 0: as many as CPUs on which the process may run",
      .default_value = 0,
  };
}

Parameter bytes_parameter(std::int64_t default_value) {
  return {
      .name = "size_bytes",
      .domain = IntegerRange{.minimum = 0, .maximum = largest_message},
      .unit = "bytes",
      .meaning = "size of a message",
      .default_value = default_value,
  };
}

Parameter mat_size_parameter() {
  constexpr std::int64_t most = 1'000'000'000;
  return {
      .name = "mat_size",
      .domain = IntegerRange{.minimum = 0, .maximum = most},
      .unit = "units of work",
      .meaning = "computation of a task between two exchanges; a unit takes about 1 us",
      .default_value = nullptr,
  };
}

std::size_t workers_of(const Json& point, const Parameters& parameters) {
  const auto asked = static_cast<std::size_t>(integer_of(point, parameters, "cores"));
  return asked > 0 ? asked : allowed_cpus().size();
}

}  // namespace workloads
