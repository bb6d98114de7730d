// SPDX-License-Identifier: BSD-3-Clause
// How much of the host's time does a message cost? The computation beside it grows until the message is hidden as far
// as it ever will be; what the whole then takes beyond the computation is the host's overhead (Sandia SMB's
// mpi_overhead, COMB's post-work-wait: Doerfler and Brightwell 2006, Lawry et al. 2002). Availability is 1 - overhead_s
// / comm_s; the analysis computes it.
//
// Point: pattern (who computes: sender, receiver), size_bytes, work (register), step_units (the first computation, 10;
// it doubles), receive (preposted). Samples, one a repetition: total_s, comm_s, comp_s, ack_s, cpu_s, work_units (the
// amount found) as in `overlap`; on the side that computes also overhead_s: total_s without the acknowledgement's
// latency, as far as it was waited for, less comp_s.
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <limits>

#include "common/clock.h"
#include "common/fixed_work.h"
#include "microbench/benchmarks.h"
#include "microbench/transfer.h"

namespace workloads::host_overhead {
namespace {

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("pattern", {"sender", "receiver"}, "whose overhead: who computes; the other side waits at once",
                       "sender"),
      size_parameter(nullptr),
      work_parameter(),
      integer_parameter("step_units", {1, largest_work}, "units",
                        "the first amount of work tried; it doubles until it hides the message", 10),
      receive_parameter(),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      leading(seconds("total_s")),
      seconds("comm_s"),
      seconds("comp_s"),
      seconds("ack_s"),
      seconds("cpu_s"),
      {.name = "work_units", .unit = "1", .better = Better::neither},
      seconds("overhead_s"),
  };
  return table;
}

class HostOverhead final : public Experiment {
 public:
  explicit HostOverhead(const Preparation& preparation)
      : transfer_(preparation.mpi, size_of(preparation.point, parameters()),
                  posting_of(preparation.point, parameters()), preparation.settle_s),
        work_(make_fixed_work(work_of(preparation.point, parameters()))),
        computes_(choice_of(preparation.point, parameters(), "pattern") == transfer_.pair().role()) {
    const auto step = static_cast<double>(integer_of(preparation.point, parameters(), "step_units"));
    find_amount(preparation.mpi, static_cast<std::uint64_t>(std::max(1.0, step * preparation.slowdown)));
  }

  [[nodiscard]] std::string role() const override { return std::string(transfer_.pair().role()); }

  [[nodiscard]] Names quantities() const override {
    return names_of(quantity_table(), quantity_table().size() - (computes_ ? 0 : 1));
  }

  std::string repeat(std::span<double> values) override {
    const TransferTimes alone = transfer_.run([](MPI_Request&) {});
    transfer_.pair().synchronise();
    const double comp_s = compute();
    const TransferTimes total = transfer_.run([&](MPI_Request&) { compute(); });
    transfer_.pair().synchronise();
    const double ack_s = transfer_.pair().measure_latency();
    values[0] = total.total_s;
    values[1] = alone.total_s;
    values[2] = comp_s;
    values[3] = ack_s;
    values[4] = total.usage.cpu_s;
    values[5] = static_cast<double>(computes_ ? units_ : 0);
    if (computes_) {
      // An acknowledgement that came while this side computed or waited cost it nothing.
      const double own_s = total.post_s + total.between_s + total.wait_s;
      const double step_s = transfer_.pair().is_sender() ? std::max(total.total_s - ack_s, own_s) : total.total_s;
      values[6] = step_s - comp_s;
    }
    return alone.problem.empty() ? total.problem : alone.problem;
  }

 private:
  /// Seconds; 0 on the side that does not compute.
  double compute() {
    if (!computes_) {
      return 0;
    }
    const auto begin = Clock::now();
    work_->run(units_);
    return seconds_since(begin);
  }

  /// Doubles the work until the computation takes half as long again as the message alone (SMB's threshold): then
  /// whatever can be hidden is hidden. All ranks agree on the amount.
  void find_amount(const MpiProcess& mpi, std::uint64_t step) {
    constexpr double threshold = 1.5;
    const double comm_s = shortest([&] { return transfer_.run([](MPI_Request&) {}).total_s; });
    const auto too_little = [&] { return computes_ && shortest([&] { return compute(); }) < threshold * comm_s; };
    units_ = step;
    while (units_ < largest_work && mpi.maximum(too_little() ? 1 : 0) != 0) {
      units_ *= 2;
    }
  }

  template <class Measurement>
  static double shortest(Measurement measurement) {
    constexpr int attempts = 5;
    double best = std::numeric_limits<double>::max();
    for (int attempt = 0; attempt < attempts; ++attempt) {
      best = std::min(best, measurement());
    }
    return best;
  }

  Transfer transfer_;
  std::unique_ptr<FixedWork> work_;
  bool computes_;
  std::uint64_t units_ = 0;
};

}  // namespace
}  // namespace workloads::host_overhead

const workloads::Benchmark& workloads::host_overhead_benchmark() {
  static const Benchmark benchmark{
      .name = "host-overhead",
      .question = "How much of the host's time does a message cost, however much computation hides it?",
      .parameters = host_overhead::parameters(),
      .quantities = host_overhead::quantity_table(),
      .check = check_pairs,
      .prepare = make_experiment<host_overhead::HostOverhead>,
  };
  return benchmark;
}
