// SPDX-License-Identifier: BSD-3-Clause
// What the amounts of work are chosen from: the duration of one unit of work, and of a message alone.
#include <mpi.h>

#include <algorithm>

#include "common/fixed_work.h"
#include "common/unit_of_work.h"
#include "microbench/benchmarks.h"
#include "microbench/transfer.h"

namespace workloads::calibration {
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

const Quantities& quantity_table() {
  static const Quantities table{leading(seconds("unit_s")), seconds("comm_s"), seconds("ack_s")};
  return table;
}

/// All ranks compute at the same time, as they do in what is calibrated.
class UnitCalibration final : public Experiment {
 public:
  explicit UnitCalibration(const Preparation& preparation)
      : work_(make_fixed_work(work_of(preparation.point, parameters()))) {}

  [[nodiscard]] std::string role() const override { return "computing"; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static constexpr std::array<std::string_view, 1> names{"unit_s"};
    return names;
  }

  std::string repeat(std::span<double> values) override {
    values.front() = unit_of(*work_);
    return {};
  }

 private:
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
    const TransferTimes alone = transfer_.run([](MPI_Request&) {});
    transfer_.pair().synchronise();
    values[0] = alone.total_s;
    values[1] = transfer_.pair().measure_latency();
    return alone.problem;
  }

 private:
  Transfer transfer_;
};

void check(const Json& point, int ranks) {
  if (choice_of(point, parameters(), "calibration") == "comm") {
    check_pairs(point, ranks);
  }
}

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  if (choice_of(preparation.point, parameters(), "calibration") == "unit") {
    return std::make_unique<UnitCalibration>(preparation);
  }
  return std::make_unique<CommunicationCalibration>(preparation);
}

}  // namespace
}  // namespace workloads::calibration

namespace workloads {

const Benchmark& calibration_benchmark() {
  static const Benchmark benchmark{
      .name = "calibration",
      .question = "How long are a unit of work and a message alone?",
      .parameters = calibration::parameters(),
      .quantities = calibration::quantity_table(),
      .check = calibration::check,
      .prepare = calibration::prepare,
  };
  return benchmark;
}

}  // namespace workloads
