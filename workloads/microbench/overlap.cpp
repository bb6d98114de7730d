// SPDX-License-Identifier: BSD-3-Clause
// A message beside a computation, and what the amounts of work of such points are chosen from.
#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "common/errors.h"
#include "common/fixed_work.h"
#include "common/mpi_process.h"
#include "microbench/benchmarks.h"
#include "microbench/computation.h"
#include "microbench/transfer.h"

namespace workloads::overlap {
namespace {

// Does a message progress while both sides, or one of them, compute? (Denis, PDP 2015: figures 7, 8 and 9;
// studies overlap-ratio and send-time.)
//
// Point: pattern (both), size_bytes, work_units, work (register), compute (real), test_every (0; manual progression),
// receive (preposted). Samples, one a repetition: total_s, comm_s, comp_s, comp_in_s (tests included), post_s, wait_s,
// test_s, ack_s, cpu_s and the context switches of the application's and of other threads.

constexpr std::int64_t longest_wake_us = 1'000'000;

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("pattern", {"both", "sender", "receiver"}, "who computes; the other side waits at once", "both"),
      size_parameter(nullptr),
      work_units_parameter(nullptr),
      work_parameter(),
      compute_parameter(),
      test_every_parameter(),
      receive_parameter(),
      integer_parameter(
          "wake_us", {0, longest_wake_us}, "us",
          "a thread moves the message over TCP, without MPI, and sleeps so long after each move; 0: MPI does", 0),
  };
  return table;
}

std::chrono::microseconds wake_of(const Json& point) {
  return std::chrono::microseconds(integer_of(point, parameters(), "wake_us"));
}

void check(const Json& point, int ranks) {
  check_pairs(point, ranks);
  if (wake_of(point).count() == 0) {
    return;
  }
  if (size_of(point, parameters()) == 0) {
    throw UsageError("wake_us: a message without bytes has nothing that TCP could move: give size_bytes");
  }
  if (integer_of(point, parameters(), "test_every") != 0) {
    throw UsageError("wake_us: without MPI there is no request to test: leave test_every at 0");
  }
  int provided = MPI_THREAD_SINGLE;
  MPI_Query_thread(&provided);
  if (provided == MPI_THREAD_SINGLE) {
    throw UsageError("wake_us: a thread moves the message beside MPI's: give --thread-level funneled");
  }
}

class Overlap final : public Experiment {
 public:
  Overlap(const Preparation& preparation, std::string_view pattern)
      : transfer_(preparation.mpi, size_of(preparation.point, parameters()),
                  posting_of(preparation.point, parameters()), preparation.settle_s, wake_of(preparation.point)),
        computation_(preparation, parameters()) {
    if (pattern != "both" && pattern != transfer_.pair().role()) {
      computation_.skip();
    }
  }

  [[nodiscard]] std::string role() const override { return std::string(transfer_.pair().role()); }

  [[nodiscard]] Names quantities() const override { return names_of(overlap_quantities()); }

  std::string repeat(std::span<double> values) override {
    const TransferTimes alone = transfer_.run([](MPI_Request&) {});
    transfer_.pair().synchronise();
    const double comp_s = computation_.alone();
    ComputationTimes inside;
    TransferTimes total = transfer_.run([&](MPI_Request& request) { inside = computation_.beside(request); });
    total.inside = inside;
    transfer_.pair().synchronise();
    return write_overlap(alone, comp_s, total, transfer_.pair().measure_latency(), values);
  }

 private:
  Transfer transfer_;
  Computation computation_;
};

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  return std::make_unique<Overlap>(preparation, choice_of(preparation.point, parameters(), "pattern"));
}

}  // namespace
}  // namespace workloads::overlap

const workloads::Benchmark& workloads::overlap_benchmark() {
  static const Benchmark benchmark{
      .name = "overlap",
      .question = "Does a message progress while its sides compute? Communication alone, computation alone, and both.",
      .parameters = overlap::parameters(),
      .quantities = overlap_quantities(),
      .check = overlap::check,
      .prepare = overlap::prepare,
      .calibration = &calibration_benchmark(),
  };
  return benchmark;
}

// What the amounts of work are chosen from: the duration of one unit of work, and of a message alone.

namespace workloads::calibration {
namespace {

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("calibration", {"unit", "comm"}, "one unit of the fixed work, or one message alone"),
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

  [[nodiscard]] Names quantities() const override { return {"unit_s"}; }

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

  [[nodiscard]] Names quantities() const override { return {"comm_s", "ack_s"}; }

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

const workloads::Benchmark& workloads::calibration_benchmark() {
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
