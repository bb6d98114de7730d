// SPDX-License-Identifier: BSD-3-Clause
#include "npb/npb.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "common/errors.h"
#include "common/experiment.h"
#include "common/kernel.h"

namespace workloads::npb {

Parameter class_parameter(const std::string& meaning) {
  return choice_parameter("class", {"S", "W", "A", "B", "C", "D"}, "the problem's size: " + meaning, "S");
}

Parameters kernel_parameters(const std::string& meaning) {
  return {
      class_parameter(meaning),
      choice_parameter("mode", {"blocking", "overlapped"},
                       "communication as the benchmark is published, or beside the computation that does not need it",
                       "blocking"),
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

// Any of the kernels, by its name in the point: one launch measures all of them, where each would need its own.

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
    found.insert(found.begin(), choice_parameter("kernel", names, "which one; ep and lu have no overlapped mode"));
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

const workloads::Benchmark& workloads::npb_suite_benchmark() {
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

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "npb",
          .purpose = "Kernels of the NAS Parallel Benchmarks, written from their specification, with its verification.",
          .example = "Example: mpiexec -n 2 npb ep --point class=A",
          .benchmarks = {&workloads::ep_benchmark(), &workloads::is_benchmark(), &workloads::cg_benchmark(),
                         &workloads::mg_benchmark(), &workloads::ft_benchmark(), &workloads::lu_benchmark(),
                         &workloads::npb_suite_benchmark()},
      },
      argc, argv);
}
