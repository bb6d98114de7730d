// SPDX-License-Identifier: BSD-3-Clause
// NPB IS: keys are sent to the rank that ranks their range of values, ten times. Overlapped, a rank ranks the keys that
// it need not send while the others travel.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <numeric>

#include "common/mpi_process.h"
#include "npb/is_kernel.h"
#include "npb/npb.h"

namespace workloads::npb::is {
namespace {

const Parameters& parameters() {
  static const auto table = kernel_parameters(
      "2^16 keys below 2^11 (S), 2^20 below 2^16 (W), 2^23 below 2^19 (A), 2^25 below 2^21 (B), "
      "2^27 below 2^23 (C) or 2^31 below 2^27 (D)");
  return table;
}

const IsClass& problem_of(const Json& point) { return find_class(is_classes(), point); }

void check(const Json& point, int ranks) {
  const auto& problem = problem_of(point);
  constexpr std::int64_t most_keys = std::int64_t{1} << 30U;  // MPI counts them by an int, and a rank may get some more
  const auto least = static_cast<int>(std::max<std::int64_t>(problem.keys() / most_keys, 1));
  require_ranks(point, ranks, least, static_cast<int>(problem.buckets()));
  // keys, by bucket, received (half as many again where buckets do not divide well) and sorted; two counts a value
  const double keys = 5 * static_cast<double>(problem.keys()) / ranks;
  require_memory("class " + class_of(point), sizeof(Key) * (keys + 2.0 * problem.limit()));
}

/// What one rank sends to each, or receives: counts and where they begin.
struct Parts {
  explicit Parts(std::size_t ranks) : counts(ranks), begins(ranks) {}
  std::vector<int> counts;
  std::vector<int> begins;

  void place() { std::exclusive_scan(counts.begin(), counts.end(), begins.begin(), 0); }
  [[nodiscard]] std::size_t end() const {
    return static_cast<std::size_t>(begins.back()) + static_cast<std::size_t>(counts.back());
  }
};

class Is final : public Kernel {
 public:
  explicit Is(const Preparation& preparation)
      : problem_(problem_of(preparation.point)),
        overlapped_(is_overlapped(preparation.point)),
        rank_(preparation.mpi.rank()),
        ranks_(preparation.mpi.size()),
        keys_(is_keys(problem_, rank_, ranks_)),
        by_bucket_(keys_.size()),
        sort_(problem_),
        totals_(problem_.buckets() + is_probes),
        outgoing_(static_cast<std::size_t>(ranks_)),
        incoming_(static_cast<std::size_t>(ranks_)) {
    std::copy_n(keys_.begin(), overwritten_.size(), overwritten_.begin());
  }

  void restart() override {
    std::ranges::copy(overwritten_, keys_.begin());
    missing_ = {};
    passed_ = 0;
    strays_ = 0;
    problem_seen_.clear();
  }

  void run(Phases& phases) override {
    for (int iteration = 1; iteration <= is_iterations; ++iteration) {
      if (rank_ == 0) {
        const auto place = static_cast<std::size_t>(iteration);
        keys_[place] = iteration;
        keys_[place + is_iterations] = problem_.limit() - iteration;
      }
      sort_.sort(keys_, by_bucket_);
      share(phases);
      exchange(phases);
      const std::int64_t ranked = ranking_.finish();
      strays_ += ranking_.strays();
      look_at_probes(iteration);
      missing_[static_cast<std::size_t>(iteration - 1)] = sum_of_keys() - ranked;
    }
  }

  std::string verify() override {
    std::vector<std::int64_t> sums(missing_.begin(), missing_.end());
    sums.insert(sums.end(), {strays_, passed_});
    require(
        MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
    const bool sorted = is_sorted();
    if (!problem_seen_.empty()) {
      return problem_seen_;
    }
    const std::int64_t passed = sums.back();
    sums.pop_back();
    if (std::ranges::any_of(sums, [](std::int64_t sum) { return sum != 0; })) {
      return fmt::format("class {}: the keys that were ranked are not those that were sent", problem_.name);
    }
    if (passed != is_iterations * static_cast<std::int64_t>(is_probes)) {
      return fmt::format("class {}: {} ranks of {} were seen", problem_.name, passed, is_iterations * is_probes);
    }
    return sorted ? "" : fmt::format("class {}: keys in the order of their ranks are not sorted", problem_.name);
  }

  [[nodiscard]] double operations() const override { return static_cast<double>(problem_.keys()) * is_iterations; }

 private:
  /// Which buckets are whose, after the sizes of all ranks' buckets.
  void share(Phases& phases) {
    const auto sizes = sort_.sizes();
    std::ranges::copy(sizes, totals_.begin());
    const auto here = static_cast<std::int64_t>(keys_.size());
    for (std::size_t probe = 0; probe < is_probes; ++probe) {
      const bool mine = problem_.place[probe] / here == rank_;
      totals_[sizes.size() + probe] = mine ? keys_[static_cast<std::size_t>(problem_.place[probe] % here)] : 0;
    }
    phases.communicate([&] {
      require(MPI_Allreduce(MPI_IN_PLACE, totals_.data(), static_cast<int>(totals_.size()), MPI_INT64_T, MPI_SUM,
                            MPI_COMM_WORLD));
    });
    limits_ = share_buckets(std::span(totals_).first(sizes.size()), ranks_);
    for (std::size_t r = 0; r < outgoing_.counts.size(); ++r) {
      const auto part = sizes.subspan(limits_[r], limits_[r + 1] - limits_[r]);
      outgoing_.counts[r] = static_cast<int>(std::accumulate(part.begin(), part.end(), std::int64_t{0}));
    }
    outgoing_.place();
  }

  void exchange(Phases& phases) {
    phases.communicate([&] {
      require(MPI_Alltoall(outgoing_.counts.data(), 1, MPI_INT, incoming_.counts.data(), 1, MPI_INT, MPI_COMM_WORLD));
    });
    const auto me = static_cast<std::size_t>(rank_);
    own_ = {};
    if (overlapped_) {
      own_ =
          std::span(by_bucket_)
              .subspan(static_cast<std::size_t>(outgoing_.begins[me]), static_cast<std::size_t>(outgoing_.counts[me]));
      outgoing_.counts[me] = incoming_.counts[me] = 0;
    }
    incoming_.place();
    received_.resize(incoming_.end());
    if (overlapped_) {
      send_beside_own(phases);
    } else {
      phases.communicate([&] {
        require(MPI_Alltoallv(by_bucket_.data(), outgoing_.counts.data(), outgoing_.begins.data(), MPI_INT32_T,
                              received_.data(), incoming_.counts.data(), incoming_.begins.data(), MPI_INT32_T,
                              MPI_COMM_WORLD));
      });
      start_ranking();
    }
    ranking_.count(received_);
  }

  void send_beside_own(Phases& phases) {
    MPI_Request request = MPI_REQUEST_NULL;
    phases.communicate([&] {
      require(MPI_Ialltoallv(by_bucket_.data(), outgoing_.counts.data(), outgoing_.begins.data(), MPI_INT32_T,
                             received_.data(), incoming_.counts.data(), incoming_.begins.data(), MPI_INT32_T,
                             MPI_COMM_WORLD, &request));
    });
    start_ranking();
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): it does not know MPI_Ialltoallv
    phases.communicate([&] { require(MPI_Wait(&request, MPI_STATUS_IGNORE)); });
  }

  /// With the keys that are here already.
  void start_ranking() {
    const auto me = static_cast<std::size_t>(rank_);
    const auto width = static_cast<std::size_t>(problem_.limit()) / problem_.buckets();
    ranking_.restart(static_cast<Key>(limits_[me] * width), static_cast<Key>(limits_[me + 1] * width));
    ranking_.count(own_);
  }

  void look_at_probes(int iteration) {
    const auto sizes = std::span(totals_).first(problem_.buckets());
    const auto lower = sizes.first(limits_[static_cast<std::size_t>(rank_)]);
    const std::int64_t below = std::accumulate(lower.begin(), lower.end(), std::int64_t{0});
    for (std::size_t probe = 0; probe < is_probes; ++probe) {
      const auto key = static_cast<Key>(totals_[sizes.size() + probe]);
      if (!ranking_.contains(key)) {
        continue;
      }
      const std::int64_t rank = below + ranking_.rank(key);
      const std::int64_t right = problem_.right_rank(probe, iteration);
      passed_ += rank == right ? 1 : 0;
      if (rank != right && problem_seen_.empty()) {
        problem_seen_ = fmt::format("class {}: key {} has rank {} in iteration {}, and {} is right", problem_.name, key,
                                    rank, iteration, right);
      }
    }
  }

  /// Of the keys that this rank has at this moment; only those that change are added up again.
  [[nodiscard]] std::int64_t sum_of_keys() const {
    const auto changing = std::span(keys_).first(overwritten_.size());
    return sum_of_the_rest_ + std::accumulate(changing.begin(), changing.end(), std::int64_t{0});
  }

  /// Whether the keys of the last iteration, each put at its rank, are in order on all ranks.
  bool is_sorted() {
    std::vector<Key> all(received_.begin(), received_.end());
    all.insert(all.end(), own_.begin(), own_.end());
    all = ranking_.sort(all);
    const Key last = all.empty() ? 0 : all.back();
    Key before = 0;  // MPI_Exscan leaves rank 0's as it is
    require(MPI_Exscan(&last, &before, 1, MPI_INT32_T, MPI_MAX, MPI_COMM_WORLD));
    return std::ranges::is_sorted(all) && (all.empty() || all.front() >= before);
  }

  const IsClass& problem_;
  bool overlapped_;
  int rank_;
  int ranks_;
  std::vector<Key> keys_;
  static constexpr std::ptrdiff_t overwritten_count = 1 + (2 * is_iterations);
  std::array<Key, overwritten_count> overwritten_{};  ///< the first keys as they were before an iteration
  std::int64_t sum_of_the_rest_ = std::accumulate(keys_.begin() + overwritten_count, keys_.end(), std::int64_t{0});
  std::vector<Key> by_bucket_;
  BucketSort sort_;
  std::vector<std::int64_t> totals_;  ///< the sizes of all ranks' buckets, then the probes' keys
  std::vector<std::size_t> limits_;
  Parts outgoing_;
  Parts incoming_;
  std::vector<Key> received_;
  std::span<const Key> own_;  ///< those that were not sent
  Ranking ranking_;
  std::array<std::int64_t, is_iterations> missing_{};  ///< sum of this rank's keys less that of those it ranked
  std::int64_t passed_ = 0;
  std::int64_t strays_ = 0;
  std::string problem_seen_;
};

}  // namespace
}  // namespace workloads::npb::is

const workloads::Benchmark& workloads::is_benchmark() {
  static const Benchmark benchmark{
      .name = "is",
      .question = "NPB IS: how long does it take to rank integers that must travel to be ranked?",
      .parameters = npb::is::parameters(),
      .quantities = kernel_quantities(),
      .check = npb::is::check,
      .prepare = make_kernel<npb::is::Is>,
  };
  return benchmark;
}
