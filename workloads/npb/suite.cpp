// SPDX-License-Identifier: BSD-3-Clause
// Any of the kernels, by its name in the point: one launch measures all of them, where each would need its own.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/errors.h"
#include "common/kernel.h"
#include "npb/benchmarks.h"
#include "npb/kernel.h"

namespace workloads::npb::suite {
namespace {

const auto& kernels() {
  static const std::array<const Benchmark*, 6> all{&is_benchmark(), &ep_benchmark(), &cg_benchmark(),
                                                   &mg_benchmark(), &ft_benchmark(), &lu_benchmark()};
  return all;
}

const Parameters& parameters() {
  static const auto table = [] {
    auto found = kernel_parameters("each kernel has its own sizes; ep has no class D");
    Choices names;
    std::ranges::transform(kernels(), std::back_inserter(names), &Benchmark::name);
    found.insert(found.begin(), {
                                    .name = "kernel",
                                    .domain = names,
                                    .unit = "",
                                    .meaning = "which one; ep and lu have no overlapped mode",
                                    .default_value = nullptr,
                                });
    return found;
  }();
  return table;
}

const Benchmark& kernel_of(const Json& point) {
  return **std::ranges::find(kernels(), choice_of(point, parameters(), "kernel"), &Benchmark::name);
}

void check(const Json& point, int ranks) {
  const auto& kernel = kernel_of(point);
  check_point(point, kernel.parameters, "kernel " + kernel.name);
  const auto has_mode = std::ranges::find(kernel.parameters, "mode", &Parameter::name) != kernel.parameters.end();
  if (is_overlapped(point) && !has_mode) {
    throw UsageError(
        fmt::format("kernel {} has no overlapped mode: it has nothing to compute beside its messages", kernel.name));
  }
  kernel.check(point, ranks);
}

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  return kernel_of(preparation.point).prepare(preparation);
}

}  // namespace
}  // namespace workloads::npb::suite

namespace workloads {

const Benchmark& npb_suite_benchmark() {
  static const Benchmark benchmark{
      .name = "suite",
      .question = "How long does each of the kernels take, one after the other in one launch?",
      .parameters = npb::suite::parameters(),
      .quantities = kernel_quantities(),
      .check = npb::suite::check,
      .prepare = npb::suite::prepare,
  };
  return benchmark;
}

}  // namespace workloads
