// SPDX-License-Identifier: BSD-3-Clause
// What the amounts of work are chosen from: the duration of one unit of work, and of a message alone.
#include <algorithm>

#include "common/clock.h"
#include "common/fixed_work.h"
#include "microbench/benchmarks.h"
#include "microbench/transfer.h"

namespace workloads {
namespace {

const Parameters& parameters() {
  static const Parameters table{
      {
          .name = "calibration",
          .domain = Choices{"unit", "comm"},
          .unit = "",
          .meaning = "one unit of the fixed work, or one message alone",
          .default_value = nullptr,
      },
      size_parameter(0),
      work_parameter(),
      receive_parameter(),
  };
  return table;
}

/// All ranks compute at the same time, as they do in what is calibrated.
class UnitCalibration final : public Experiment {
 public:
  explicit UnitCalibration(const Preparation& preparation)
      : pair_(preparation.mpi), work_(make_fixed_work(work_of(preparation.point, parameters()))) {}

  [[nodiscard]] std::string role() const override { return std::string(pair_.role()); }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static constexpr std::array<std::string_view, 1> names{"unit_s"};
    return names;
  }

  std::string repeat(std::span<double> values) override {
    constexpr int units = 10'000;  // some ten milliseconds, as long as the computations that are made of it
    pair_.synchronise();
    const auto begin = Clock::now();
    work_->run(units);
    values.front() = seconds_since(begin) / units;
    return {};
  }

 private:
  Pair pair_;
  std::unique_ptr<FixedWork> work_;
};

class CommunicationCalibration final : public Experiment {
 public:
  explicit CommunicationCalibration(const Preparation& preparation)
      : transfer_(preparation.mpi, size_of(preparation.point, parameters()),
                  posting_of(preparation.point, parameters()), preparation.settle_s) {}

  [[nodiscard]] std::string role() const override { return std::string(transfer_.pair().role()); }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static constexpr std::array<std::string_view, 2> names{"comm_s", "ack_s"};
    return names;
  }

  std::string repeat(std::span<double> values) override {
    const TransferTimes alone = transfer_.run([] {});
    transfer_.pair().synchronise();
    values[0] = alone.total_s;
    values[1] = transfer_.pair().measure_latency();
    return alone.problem;
  }

 private:
  Transfer transfer_;
};

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  if (choice_of(preparation.point, parameters(), "calibration") == "unit") {
    return std::make_unique<UnitCalibration>(preparation);
  }
  return std::make_unique<CommunicationCalibration>(preparation);
}

}  // namespace

const Benchmark& calibration_benchmark() {
  static const Benchmark benchmark{
      .name = "calibration",
      .question = "How long are a unit of work and a message alone?",
      .parameters = parameters(),
      .check = check_pairs,
      .prepare = prepare,
  };
  return benchmark;
}

}  // namespace workloads
