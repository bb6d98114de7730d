// SPDX-License-Identifier: BSD-3-Clause
#include "npb/kernel.h"

#include <fmt/format.h>

#include <bit>

#include "common/errors.h"

namespace workloads::npb {

Parameter class_parameter(const std::string& meaning) {
  return {
      .name = "class",
      .domain = Choices{"S", "W", "A", "B", "C", "D"},
      .unit = "",
      .meaning = "the problem's size: " + meaning,
      .default_value = "S",
  };
}

Parameters kernel_parameters(const std::string& meaning) {
  return {
      class_parameter(meaning),
      {
          .name = "mode",
          .domain = Choices{"blocking", "overlapped"},
          .unit = "",
          .meaning = "communication as the benchmark is published, or beside the computation that does not need it",
          .default_value = "blocking",
      },
  };
}

bool is_overlapped(const Json& point) { return point.value("mode", "blocking") == "overlapped"; }

std::string class_of(const Json& point) { return point.value("class", "S"); }

void require_ranks(const Json& point, int ranks, int least, int most) {
  if (!std::has_single_bit(static_cast<unsigned>(ranks)) || ranks < least || ranks > most) {
    throw UsageError(fmt::format("{} rank{} cannot run class {}: start a power of two, from {} to {}", ranks,
                                 ranks == 1 ? "" : "s", class_of(point), least, most));
  }
}

}  // namespace workloads::npb
