// SPDX-License-Identifier: BSD-3-Clause
// Does a message whose parts are computed one after the other travel while the rest is computed (study
// partitioned-overlap)? The sender computes part after part of it; the receiver waits, or computes as well.
//
// Point: mode (partitioned: MPI-4.0's MPI_Psend_init, each part readied when it is computed; pieces: an MPI_Isend for
// each part; whole: one MPI_Isend of all at the end), partitions (8), size_bytes (of all together), pattern (sender),
// work_units, work (register), compute (real). Samples, one a repetition: as `overlap`, comm_s being the same without
// computation; a barrier closes the total.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/errors.h"
#include "common/fixed_work.h"
#include "common/machine.h"
#include "common/mpi_process.h"
#include "common/overlap_sample.h"
#include "microbench/benchmarks.h"
#include "microbench/computation.h"
#include "microbench/pair.h"
#include "microbench/payload.h"

namespace workloads::partitioned_overlap {
namespace {

constexpr int message_tag = 300;

const Parameters& parameters() {
  constexpr std::int64_t most_partitions = 1024;
  static const Parameters table{
      choice_parameter("mode", {"partitioned", "pieces", "whole"},
                       "a partitioned message (MPI-4.0), a message for each part, or one of all at the end"),
      integer_parameter("partitions", {1, most_partitions}, "parts", "computed one after the other", 8),
      size_parameter(nullptr),
      choice_parameter("pattern", {"sender", "both"}, "who computes; else the receiver waits at once", "sender"),
      work_units_parameter(nullptr),
      work_parameter(),
      compute_parameter(),
  };
  return table;
}

void check(const Json& point, int ranks) {
  check_pairs(point, ranks);
  const auto size = integer_of(point, parameters(), "size_bytes");
  const auto partitions = integer_of(point, parameters(), "partitions");
  if (size % partitions != 0) {
    throw UsageError(fmt::format("{} bytes cannot be cut into {} parts of the same size", size, partitions));
  }
#ifndef HAS_PARTITIONED
  if (choice_of(point, parameters(), "mode") == "partitioned") {
    throw UsageError(
        "this MPI has no partitioned messages (MPI_Psend_init of MPI-4.0): take mode=pieces or mode=whole");
  }
#endif
}

/// The message's way: what is started before the computation, and what each part that is computed adds.
class Way : NonCopyable {
 public:
  Way(const Pair& pair, const std::string& mode, int partitions, Payload& message)
      : pair_(pair),
        partitioned_(mode == "partitioned"),
        partitions_(partitions),
        parts_(mode == "whole" ? 1 : partitions),
        message_(message),
        requests_(partitioned_ ? 1 : static_cast<std::size_t>(parts_), MPI_REQUEST_NULL) {
#ifdef HAS_PARTITIONED
    if (partitioned_) {
      if (pair_.is_sender()) {
        require(MPI_Psend_init(message_.data(), parts_, bytes(), MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD,
                               MPI_INFO_NULL, requests_.data()));
      } else {
        require(MPI_Precv_init(message_.data(), parts_, bytes(), MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD,
                               MPI_INFO_NULL, requests_.data()));
      }
    }
#endif
  }
  ~Way() {
    if (partitioned_) {
      MPI_Request_free(requests_.data());
    }
  }

  void start() {
    if (partitioned_) {
      require(MPI_Start(requests_.data()));
    } else if (!pair_.is_sender()) {
      for (int part = 0; part < parts_; ++part) {
        require(MPI_Irecv(place(part), bytes(), MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD,
                          &requests_[static_cast<std::size_t>(part)]));
      }
    }
  }

  /// By the sender, when it has computed this part.
  void ready(int part) {
#ifdef HAS_PARTITIONED
    if (partitioned_) {
      require(MPI_Pready(part, requests_.front()));
      return;
    }
#endif
    if (parts_ == partitions_ || part == partitions_ - 1) {
      const int sent = parts_ == partitions_ ? part : 0;
      require(MPI_Isend(place(sent), bytes(), MPI_BYTE, pair_.partner(), message_tag, MPI_COMM_WORLD,
                        &requests_[static_cast<std::size_t>(sent)]));
    }
  }

  void wait() { require(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE)); }

 private:
  [[nodiscard]] int bytes() const { return static_cast<int>(message_.size()) / parts_; }
  [[nodiscard]] void* place(int part) const {
    return message_.bytes().data() + (static_cast<std::size_t>(part) * static_cast<std::size_t>(bytes()));
  }

  const Pair& pair_;
  bool partitioned_;
  int partitions_;  ///< that are computed
  int parts_;       ///< that travel
  Payload& message_;
  std::vector<MPI_Request> requests_;
};

class PartitionedOverlap final : public Experiment {
 public:
  explicit PartitionedOverlap(const Preparation& preparation)
      : pair_(preparation.mpi),
        partitions_(static_cast<int>(integer_of(preparation.point, parameters(), "partitions"))),
        message_(size_of(preparation.point, parameters())),
        way_(pair_, choice_of(preparation.point, parameters(), "mode"), partitions_, message_),
        computation_(preparation, parameters(), partitions_),
        settle_s_(preparation.settle_s) {
    if (!pair_.is_sender() && choice_of(preparation.point, parameters(), "pattern") == "sender") {
      computation_.skip();
    }
  }

  [[nodiscard]] std::string role() const override { return std::string(pair_.role()); }

  [[nodiscard]] Names quantities() const override { return names_of(overlap_quantities()); }

  std::string repeat(std::span<double> values) override {
    const OverlapRun alone = run(false);
    timed_barrier();
    double comp_s = 0;
    for (int part = 0; part < partitions_; ++part) {
      comp_s += computation_.alone();
    }
    const OverlapRun beside = run(true);
    timed_barrier();
    return write_overlap(alone, comp_s, beside, timed_barrier(), values);
  }

 private:
  OverlapRun run(bool computing) {
    ++seed_;
    std::ranges::fill(message_.bytes(), std::byte{0});
    if (pair_.is_sender()) {
      message_.fill(seed_);
    }
    spin_for(settle_s_);
    timed_barrier();
    OverlapRun times;
    const Usage before = read_usage();
    const auto begin = Clock::now();
    way_.start();
    times.post_s = seconds_since(begin);
    for (int part = 0; part < partitions_; ++part) {
      times.inside.elapsed_s += computing ? computation_.alone() : 0;
      if (pair_.is_sender()) {
        const auto readied = Clock::now();
        way_.ready(part);
        times.post_s += seconds_since(readied);
      }
    }
    const auto waiting = Clock::now();
    way_.wait();
    times.wait_s = seconds_since(waiting);
    timed_barrier();
    times.total_s = seconds_since(begin);
    times.usage = read_usage() - before;
    times.problem = pair_.is_sender() ? std::string() : message_.check(seed_);
    return times;
  }

  Pair pair_;
  int partitions_;
  Payload message_;
  Way way_;
  Computation computation_;
  double settle_s_;
  std::uint64_t seed_ = 0;
};

}  // namespace
}  // namespace workloads::partitioned_overlap

const workloads::Benchmark& workloads::partitioned_overlap_benchmark() {
  static const Benchmark benchmark{
      .name = "partitioned-overlap",
      .question = "Does a message whose parts are computed one after the other travel while the rest is computed?",
      .parameters = partitioned_overlap::parameters(),
      .quantities = overlap_quantities(),
      .check = partitioned_overlap::check,
      .prepare = make_experiment<partitioned_overlap::PartitionedOverlap>,
      .calibration = &calibration_benchmark(),
  };
  return benchmark;
}
