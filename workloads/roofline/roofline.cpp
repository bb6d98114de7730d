// SPDX-License-Identifier: BSD-3-Clause
// What bounds all computation of a machine: its operations, and the bandwidth of its memory.
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "common/clock.h"
#include "common/experiment.h"
#include "common/mpi_process.h"
#include "roofline/kernels.h"

namespace workloads::peak {
namespace {

// How many operations of a kind a core does at most, on every rank at the same time.

Choices names_of_operations() {
  Choices names;
  for (const auto& operation : roofline::operations()) {
    names.emplace_back(operation.name);
  }
  return names;
}

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("operation", names_of_operations(),
                       "what is done: multiply and add, divide, square root, multiply 64-bit integers", "fma-single"),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      {.name = "operations_per_s", .unit = "1/s", .better = Better::higher, .leading = true},
      {.name = "flops_per_s", .unit = "FLOP/s", .better = Better::higher},
  };
  return table;
}

class Peak final : public Experiment {
 public:
  explicit Peak(const Preparation& preparation)
      : operation_(*std::ranges::find(roofline::operations(), choice_of(preparation.point, parameters(), "operation"),
                                      &roofline::Operation::name)) {}

  [[nodiscard]] std::string role() const override { return "computing"; }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    constexpr std::uint64_t rounds = 500'000;
    require(MPI_Barrier(MPI_COMM_WORLD));
    const auto begin = Clock::now();
    const double result = operation_.run(rounds);
    const double rate = static_cast<double>(rounds * operation_.a_round) / seconds_since(begin);
    values[0] = rate;
    values[1] = rate * operation_.flops;
    return std::isfinite(result) ? std::string() : "the operations gave no number";
  }

 private:
  const roofline::Operation& operation_;
};

const Benchmark& benchmark() {
  static const Benchmark table{
      .name = "peak",
      .question = "How many operations a second does a core do at most?",
      .parameters = peak::parameters(),
      .quantities = peak::quantity_table(),
      .prepare = make_experiment<peak::Peak>,
  };
  return table;
}

}  // namespace
}  // namespace workloads::peak

// STREAM's triad on every rank at the same time: read two arrays, write a third, whose lines are read first where a
// store allocates. bytes_per_s counts 3 arrays, as STREAM does; moved_bytes_per_s counts 4. Beside it messages may be
// pending: whoever polls for them takes memory's bandwidth, or cache, from it (bosilca in open-mpi/ompi#13074).

namespace workloads::triad {
namespace {

constexpr int most_megabytes = 1'000'000;
constexpr int most_messages = 100;

const Parameters& parameters() {
  static const Parameters table{
      integer_parameter("megabytes", {0, most_megabytes}, "MB",
                        "of the three arrays together, on each rank; 0: twice the last-level cache, 240 at least", 240),
      integer_parameter("pending", {0, most_messages}, "messages",
                        "of 4 MiB that each rank is to receive, pending while it computes: they are sent afterwards",
                        0),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      {.name = "bytes_per_s", .unit = "B/s", .better = Better::higher, .leading = true},
      {.name = "moved_bytes_per_s", .unit = "B/s", .better = Better::higher},
      {.name = "array_bytes", .unit = "B", .better = Better::neither},
  };
  return table;
}

std::size_t bytes_of(const Json& point) {
  const auto megabytes = static_cast<std::size_t>(integer_of(point, parameters(), "megabytes"));
  return megabytes > 0 ? megabytes * 1'000'000 : roofline::bytes_beyond(sysconf(_SC_LEVEL3_CACHE_SIZE));
}

/// Messages of the rank before this one, which it sends when all ranks have computed. They are long: for short ones
/// nobody has to poll.
class Pending {
 public:
  Pending(const MpiProcess& mpi, std::size_t messages)
      : rank_(mpi.rank()),
        ranks_(mpi.size()),
        requests_(messages, MPI_REQUEST_NULL),
        sent_(messages > 0 ? words : 0),
        received_(messages * words) {}

  void start() {
    ++round_;
    for (std::size_t n = 0; n < requests_.size(); ++n) {
      require(
          MPI_Irecv(&received_[n * words], words, MPI_UINT64_T, before(), message_tag, MPI_COMM_WORLD, &requests_[n]));
    }
  }

  /// What is wrong with the messages; empty if nothing.
  std::string complete() {
    if (requests_.empty()) {
      return {};
    }
    timed_barrier();
    std::ranges::fill(sent_, value_of(rank_));
    for (std::size_t n = 0; n < requests_.size(); ++n) {
      require(MPI_Send(sent_.data(), words, MPI_UINT64_T, (rank_ + 1) % ranks_, message_tag, MPI_COMM_WORLD));
    }
    require(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    const bool good = std::ranges::all_of(received_, [&](std::uint64_t word) { return word == value_of(before()); });
    return good ? std::string() : "a message that was pending is wrong";
  }

 private:
  static constexpr int message_tag = 300;
  static constexpr int words = 512 * 1024;  // 4 MiB

  [[nodiscard]] int before() const noexcept { return (rank_ + ranks_ - 1) % ranks_; }
  [[nodiscard]] std::uint64_t value_of(int sender) const noexcept {
    return (round_ * static_cast<std::uint64_t>(ranks_)) + static_cast<std::uint64_t>(sender);
  }

  int rank_;
  int ranks_;
  std::uint64_t round_ = 0;
  std::vector<MPI_Request> requests_;
  std::vector<std::uint64_t> sent_;
  std::vector<std::uint64_t> received_;
};

class Triad final : public Experiment {
 public:
  explicit Triad(const Preparation& preparation)
      : length_(bytes_of(preparation.point) / 3 / sizeof(float)),
        passes_(std::max<std::size_t>(1, least_values / length_)),
        a_(length_, 0.0F),
        b_(length_, 1.0F),
        c_(length_, 2.0F),
        pending_(preparation.mpi, static_cast<std::size_t>(integer_of(preparation.point, parameters(), "pending"))) {}

  [[nodiscard]] std::string role() const override { return "computing"; }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    pending_.start();
    require(MPI_Barrier(MPI_COMM_WORLD));
    const auto begin = Clock::now();
    for (std::size_t pass = 0; pass < passes_; ++pass) {
      roofline::triad(a_, b_, c_, static_cast<float>(pass + 1));
    }
    const double elapsed_s = seconds_since(begin);
    const auto array = static_cast<double>(length_ * passes_ * sizeof(float));
    values[0] = 3 * array / elapsed_s;
    values[1] = 4 * array / elapsed_s;
    values[2] = static_cast<double>(3 * length_ * sizeof(float));
    auto problem = pending_.complete();
    const float right = 1 + (2 * static_cast<float>(passes_));
    const bool good = std::ranges::all_of(a_, [&](float value) { return value == right; });
    return good ? problem : "a value of the triad is wrong";
  }

 private:
  static constexpr std::size_t least_values = 20'000'000;  // of a repetition: some ten milliseconds

  std::size_t length_;
  std::size_t passes_;
  std::vector<float> a_;
  std::vector<float> b_;
  std::vector<float> c_;
  Pending pending_;
};

const Benchmark& benchmark() {
  static const Benchmark table{
      .name = "triad",
      .question = "How many bytes a second does memory, or a cache, give to a rank, messages pending or none?",
      .parameters = triad::parameters(),
      .quantities = triad::quantity_table(),
      .prepare = make_experiment<triad::Triad>,
  };
  return table;
}

}  // namespace
}  // namespace workloads::triad

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "roofline",
          .purpose = "What bounds a computation on this machine: memory's bandwidth and the core's operations.",
          .example = "Example: mpiexec -n 1 roofline triad --point megabytes=240 --point megabytes=1",
          .benchmarks = {&workloads::triad::benchmark(), &workloads::peak::benchmark()},
      },
      argc, argv);
}
