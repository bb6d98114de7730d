// SPDX-License-Identifier: BSD-3-Clause
#include "common/overlap_sample.h"

#include <algorithm>
#include <array>

namespace workloads {

std::span<const std::string_view> overlap_quantities() {
  static constexpr std::array<std::string_view, overlap_quantities_count> names{
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

std::string write_overlap(const OverlapRun& alone, double comp_s, const OverlapRun& beside, double ack_s,
                          std::span<double> values) {
  const Usage& usage = beside.usage;
  const std::array<double, overlap_quantities_count> measured{
      beside.total_s,
      alone.total_s,
      comp_s,
      beside.inside.elapsed_s,
      beside.post_s,
      beside.wait_s,
      beside.inside.test_s,
      ack_s,
      usage.cpu_s,
      static_cast<double>(usage.application.voluntary),
      static_cast<double>(usage.application.involuntary),
      static_cast<double>(usage.other.voluntary),
      static_cast<double>(usage.other.involuntary),
  };
  std::ranges::copy(measured, values.begin());
  return alone.problem.empty() ? beside.problem : alone.problem;
}

}  // namespace workloads
