// SPDX-License-Identifier: BSD-3-Clause
#include "common/overlap_sample.h"

#include <algorithm>
#include <array>

namespace workloads {

std::span<const std::string_view> OverlapSample::quantities() {
  static constexpr std::array<std::string_view, quantities_count> names{
      "total_s",
      "comm_s",
      "comp_s",
      "comp_in_s",
      "post_s",
      "wait_s",
      "test_s",
      "ack_s",
      "cpu_s",
      "application_voluntary_switches",
      "application_involuntary_switches",
      "other_voluntary_switches",
      "other_involuntary_switches",
  };
  return names;
}

void OverlapSample::write(std::span<double> values) const {
  const std::array<double, quantities_count> measured{
      total_s,
      comm_s,
      comp_s,
      inside.elapsed_s,
      post_s,
      wait_s,
      inside.test_s,
      ack_s,
      usage.cpu_s,
      static_cast<double>(usage.application.voluntary),
      static_cast<double>(usage.application.involuntary),
      static_cast<double>(usage.other.voluntary),
      static_cast<double>(usage.other.involuntary),
  };
  std::ranges::copy(measured, values.begin());
}

}  // namespace workloads
