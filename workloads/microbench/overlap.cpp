// SPDX-License-Identifier: BSD-3-Clause
// Does a message progress while both sides, or one of them, compute? (Denis, PDP 2015: figures 7, 8 and 9.)
#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

#include "common/clock.h"
#include "common/fixed_work.h"
#include "microbench/benchmarks.h"
#include "microbench/transfer.h"

namespace workloads {
namespace {

const Parameters& parameters() {
  static const Parameters table{
      {
          .name = "pattern",
          .domain = Choices{"both", "sender", "receiver"},
          .unit = "",
          .meaning = "who computes; the other side waits at once",
          .default_value = "both",
      },
      size_parameter(nullptr),
      {
          .name = "work_units",
          .domain = IntegerRange{.minimum = 0, .maximum = largest_work},
          .unit = "units",
          .meaning = "the computation, in units of the fixed work",
          .default_value = nullptr,
      },
      work_parameter(),
      receive_parameter(),
  };
  return table;
}

class Overlap final : public Experiment {
 public:
  Overlap(const Preparation& preparation, std::string_view pattern)
      : transfer_(preparation.mpi, size_of(preparation.point, parameters()),
                  posting_of(preparation.point, parameters()), preparation.settle_s),
        work_(make_fixed_work(work_of(preparation.point, parameters()))) {
    if (pattern == "both" || pattern == transfer_.pair().role()) {
      const auto units = static_cast<double>(integer_of(preparation.point, parameters(), "work_units"));
      units_ = static_cast<std::uint64_t>(std::llround(units * preparation.slowdown));
    }
  }

  [[nodiscard]] std::string role() const override { return std::string(transfer_.pair().role()); }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static constexpr std::array<std::string_view, quantities_count> names{
        "total_s",
        "comm_s",
        "comp_s",
        "comp_in_s",
        "post_s",
        "wait_s",
        "ack_s",
        "cpu_s",
        "application_voluntary_switches",
        "application_involuntary_switches",
        "other_voluntary_switches",
        "other_involuntary_switches",
    };
    return names;
  }

  std::string repeat(std::span<double> values) override {
    const TransferTimes alone = transfer_.run([] {});
    transfer_.pair().synchronise();
    const double comp_s = compute();
    double comp_in_s = 0;
    const TransferTimes total = transfer_.run([&] { comp_in_s = compute(); });
    transfer_.pair().synchronise();
    const double ack_s = transfer_.pair().measure_latency();
    const auto& [cpu_s, application, other] = total.usage;
    const std::array<double, quantities_count> measured{
        total.total_s,
        alone.total_s,
        comp_s,
        comp_in_s,
        total.post_s,
        total.wait_s,
        ack_s,
        cpu_s,
        static_cast<double>(application.voluntary),
        static_cast<double>(application.involuntary),
        static_cast<double>(other.voluntary),
        static_cast<double>(other.involuntary),
    };
    std::ranges::copy(measured, values.begin());
    return alone.problem.empty() ? total.problem : alone.problem;
  }

 private:
  static constexpr std::size_t quantities_count = 12;

  /// Seconds; exactly 0 where there is nothing to do.
  double compute() {
    if (units_ == 0) {
      return 0;
    }
    const auto begin = Clock::now();
    work_->run(units_);
    return seconds_since(begin);
  }

  Transfer transfer_;
  std::unique_ptr<FixedWork> work_;
  std::uint64_t units_ = 0;
};

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  return std::make_unique<Overlap>(preparation, choice_of(preparation.point, parameters(), "pattern"));
}

}  // namespace

const Benchmark& overlap_benchmark() {
  static const Benchmark benchmark{
      .name = "overlap",
      .question = "Does a message progress while its sides compute? Communication alone, computation alone, and both.",
      .parameters = parameters(),
      .check = check_pairs,
      .prepare = prepare,
      .calibration = &calibration_benchmark(),
  };
  return benchmark;
}

}  // namespace workloads
