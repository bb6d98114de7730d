// SPDX-License-Identifier: BSD-3-Clause
#include "common/sleeping.h"

#include <algorithm>

#include "common/clock.h"

namespace workloads {
namespace {

constexpr const char* parameter_name = "compute";

}  // namespace

Parameter compute_parameter() {
  auto parameter = choice_parameter(parameter_name, {"real", "sleep"},
                                    "the computation, or a sleep of 1 us a unit in its place", "real");
  if (time_is_simulated) {  // a real one would take none of it, and each record is to say so
    parameter.domain = Choices{"sleep"};
    parameter.default_value = nullptr;
  }
  return parameter;
}

bool can_sleep(const Parameters& parameters) {
  return std::ranges::find(parameters, parameter_name, &Parameter::name) != parameters.end();
}

bool is_slept(const Json& point, const Parameters& parameters) {
  return choice_of(point, parameters, parameter_name) == "sleep";
}

void sleep_units(std::uint64_t units) noexcept { sleep_for(static_cast<double>(units) * slept_unit_s); }

}  // namespace workloads
