// SPDX-License-Identifier: BSD-3-Clause
#include "npb/kernel.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>

#include "common/errors.h"
#include "common/thread_usage.h"

namespace workloads::npb {
namespace {

class Repetition final : public Experiment {
 public:
  Repetition(double slowdown, std::unique_ptr<Kernel> kernel) : slowdown_(slowdown), kernel_(std::move(kernel)) {}

  [[nodiscard]] std::string role() const override { return "rank"; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static constexpr std::array<std::string_view, quantities_count> names{
        "elapsed_s",
        "comp_s",
        "comm_s",
        "mops",
        "cpu_s",
        "application_involuntary_switches",
        "other_voluntary_switches",
    };
    return names;
  }

  std::string repeat(std::span<double> values) override {
    kernel_->restart();
    timed_barrier();
    const Usage usage = read_usage();
    const auto begin = Clock::now();
    Phases phases(slowdown_);
    kernel_->run(phases);
    phases.end_of_computation();
    const double elapsed_s = seconds_since(begin);
    const auto used = read_usage() - usage;
    const std::array<double, quantities_count> measured{
        elapsed_s,
        elapsed_s - phases.comm_s(),
        phases.comm_s(),
        kernel_->operations() / elapsed_s / 1e6,
        used.cpu_s,
        static_cast<double>(used.application.involuntary),
        static_cast<double>(used.other.voluntary),
    };
    std::ranges::copy(measured, values.begin());
    return kernel_->verify();
  }

 private:
  static constexpr std::size_t quantities_count = 7;

  double slowdown_;
  std::unique_ptr<Kernel> kernel_;
};

}  // namespace

Parameters kernel_parameters(const std::string& meaning) {
  return {
      {
          .name = "class",
          .domain = Choices{"S", "W", "A", "B", "C", "D"},
          .unit = "",
          .meaning = "the problem's size: " + meaning,
          .default_value = "S",
      },
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

std::unique_ptr<Experiment> experiment_of(const Preparation& preparation, std::unique_ptr<Kernel> kernel) {
  return std::make_unique<Repetition>(preparation.slowdown, std::move(kernel));
}

}  // namespace workloads::npb
