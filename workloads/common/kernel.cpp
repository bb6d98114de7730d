// SPDX-License-Identifier: BSD-3-Clause
#include "common/kernel.h"

#include <algorithm>
#include <array>

#include "common/machine.h"

namespace workloads {
namespace {

class Repetition final : public Experiment {
 public:
  Repetition(double slowdown, std::unique_ptr<Kernel> kernel) : slowdown_(slowdown), kernel_(std::move(kernel)) {}

  [[nodiscard]] std::string role() const override { return "rank"; }

  [[nodiscard]] Names quantities() const override { return names_of(kernel_quantities()); }

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

std::unique_ptr<Experiment> experiment_of(const Preparation& preparation, std::unique_ptr<Kernel> kernel) {
  return std::make_unique<Repetition>(preparation.slowdown, std::move(kernel));
}

}  // namespace workloads
