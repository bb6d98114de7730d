// SPDX-License-Identifier: BSD-3-Clause
// Does a nonblocking collective progress while the ranks compute (study collective-overlap)?
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "common/clock.h"
#include "common/errors.h"
#include "common/fixed_work.h"
#include "common/machine.h"
#include "common/mpi_process.h"
#include "common/overlap_sample.h"
#include "microbench/benchmarks.h"
#include "microbench/computation.h"
#include "microbench/payload.h"

namespace workloads {

// The nonblocking collectives, each with contents that show who sent what to whom.

struct CollectiveKind;

/// All names, in the order of the paper: all-to-one, one-to-all, all-to-all. Rank 0 is the root.
const std::vector<std::string>& collective_names();

/// Whether it adds numbers of 8 bytes each.
bool is_reduction(std::string_view name);

/// One collective on MPI_COMM_WORLD with its memory. Collective.
class Collective {
 public:
  /// `name` is one of collective_names(). `bytes` is the message: of broadcasts and reductions the whole vector, of the
  /// others the block that a rank sends to another.
  Collective(std::string_view name, const MpiProcess& mpi, std::size_t bytes);

  /// Writes what this rank contributes, and clears what it receives.
  void fill(std::uint64_t seed);

  /// The caller completes the request.
  MPI_Request start();

  /// What is wrong with what this rank has received; empty if nothing.
  [[nodiscard]] std::string check(std::uint64_t seed) const;

 private:
  const CollectiveKind& kind_;
  int rank_;
  int ranks_;
  std::size_t bytes_;
  Payload sent_;
  Payload received_;
};

/// Who holds how many blocks, and the call.
struct CollectiveKind {
  enum class Blocks : std::uint8_t { none, one, one_each };
  struct Buffers {
    void* sent;
    void* received;
    int bytes;
  };
  using Start = int (*)(const Buffers& buffers, MPI_Request* request);

  const char* name;
  Blocks sent_by_root;
  Blocks sent_by_others;
  Blocks received_by_root;
  Blocks received_by_others;
  bool adds;       ///< what is received is the sum of the ranks' vectors
  bool from_root;  ///< every block comes from rank 0
  bool personal;   ///< another block for each receiver
  Start start;
};

namespace {

using Kind = CollectiveKind;
constexpr auto none = Kind::Blocks::none;
constexpr auto one = Kind::Blocks::one;
constexpr auto one_each = Kind::Blocks::one_each;
constexpr int root = 0;
constexpr auto word_bytes = static_cast<int>(sizeof(std::uint64_t));

int start_ireduce(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Ireduce(b.sent, b.received, b.bytes / word_bytes, MPI_UINT64_T, MPI_SUM, root, MPI_COMM_WORLD, request);
}

int start_igather(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Igather(b.sent, b.bytes, MPI_BYTE, b.received, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD, request);
}

int start_ibcast(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Ibcast(b.received, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD, request);
}

int start_iscatter(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Iscatter(b.sent, b.bytes, MPI_BYTE, b.received, b.bytes, MPI_BYTE, root, MPI_COMM_WORLD, request);
}

int start_iallreduce(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Iallreduce(b.sent, b.received, b.bytes / word_bytes, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, request);
}

int start_ialltoall(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Ialltoall(b.sent, b.bytes, MPI_BYTE, b.received, b.bytes, MPI_BYTE, MPI_COMM_WORLD, request);
}

int start_iallgather(const Kind::Buffers& b, MPI_Request* request) {
  return MPI_Iallgather(b.sent, b.bytes, MPI_BYTE, b.received, b.bytes, MPI_BYTE, MPI_COMM_WORLD, request);
}

constexpr std::array kinds{
    Kind{"ireduce", one, one, one, none, true, false, false, start_ireduce},
    Kind{"igather", one, one, one_each, none, false, false, false, start_igather},
    Kind{"ibcast", none, none, one, one, false, true, false, start_ibcast},
    Kind{"iscatter", one_each, none, one, one, false, true, true, start_iscatter},
    Kind{"iallreduce", one, one, one, one, true, false, false, start_iallreduce},
    Kind{"ialltoall", one_each, one_each, one_each, one_each, false, false, true, start_ialltoall},
    Kind{"iallgather", one, one, one_each, one_each, false, false, false, start_iallgather},
};

const Kind& kind_of(std::string_view name) {
  return *std::ranges::find_if(kinds, [&](const Kind& kind) { return name == kind.name; });
}

std::size_t count(Kind::Blocks blocks, int ranks) {
  if (blocks == one_each) {
    return static_cast<std::size_t>(ranks);
  }
  return blocks == one ? 1 : 0;
}

std::size_t sent_blocks(const Kind& kind, int rank, int ranks) {
  return count(rank == root ? kind.sent_by_root : kind.sent_by_others, ranks);
}

std::size_t received_blocks(const Kind& kind, int rank, int ranks) {
  return count(rank == root ? kind.received_by_root : kind.received_by_others, ranks);
}

/// Every pair of ranks has a pattern of its own in every repetition.
std::uint64_t block_seed(std::uint64_t seed, std::size_t sender, std::size_t receiver) {
  constexpr std::uint64_t most_ranks = 1U << 20U;
  return (((seed * most_ranks) + sender) * most_ranks) + receiver;
}

}  // namespace

const std::vector<std::string>& collective_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all;
    std::ranges::transform(kinds, std::back_inserter(all), &Kind::name);
    return all;
  }();
  return names;
}

bool is_reduction(std::string_view name) { return kind_of(name).adds; }

Collective::Collective(std::string_view name, const MpiProcess& mpi, std::size_t bytes)
    : kind_(kind_of(name)),
      rank_(mpi.rank()),
      ranks_(mpi.size()),
      bytes_(bytes),
      sent_(sent_blocks(kind_, rank_, ranks_) * bytes),
      received_(received_blocks(kind_, rank_, ranks_) * bytes) {}

void Collective::fill(std::uint64_t seed) {
  std::ranges::fill(received_.bytes(), std::byte{0});
  for (std::size_t block = 0; block < sent_blocks(kind_, rank_, ranks_); ++block) {
    const std::size_t receiver = kind_.personal ? block : 0;
    fill_pattern(sent_.bytes().subspan(block * bytes_, bytes_),
                 block_seed(seed, static_cast<std::size_t>(rank_), receiver));
  }
  if (rank_ == root && sent_blocks(kind_, rank_, ranks_) == 0) {  // a broadcast sends from where others receive
    fill_pattern(received_.bytes(), block_seed(seed, root, 0));
  }
}

MPI_Request Collective::start() {
  MPI_Request request = MPI_REQUEST_NULL;
  require(
      kind_.start({.sent = sent_.data(), .received = received_.data(), .bytes = static_cast<int>(bytes_)}, &request));
  return request;
}

std::string Collective::check(std::uint64_t seed) const {
  const auto blocks = received_blocks(kind_, rank_, ranks_);
  if (kind_.adds) {
    std::vector<std::uint64_t> seeds(blocks == 0 ? 0 : static_cast<std::size_t>(ranks_));
    for (std::size_t rank = 0; rank < seeds.size(); ++rank) {
      seeds[rank] = block_seed(seed, rank, 0);
    }
    return check_sum(received_.bytes(), seeds);
  }
  for (std::size_t block = 0; block < blocks; ++block) {
    const std::size_t sender = kind_.from_root ? root : block;
    const std::size_t receiver = kind_.personal ? static_cast<std::size_t>(rank_) : 0;
    auto problem = check_pattern(received_.bytes().subspan(block * bytes_, bytes_), block_seed(seed, sender, receiver));
    if (!problem.empty()) {
      return fmt::format("{}, block of rank {}: {}", kind_.name, sender, problem);
    }
  }
  return {};
}

}  // namespace workloads

// Does a nonblocking collective progress while its ranks compute? (Ruhela et al., EuroMPI 2018; study
// collective-overlap.) As `overlap`, with a fixed amount of work; a barrier closes the total, because a rank that has
// done its part is not done with the collective.
//
// Point: collective, size_bytes (the vector of ibcast, ireduce, iallreduce; else the block from one rank to another),
// work_units, work (register), compute (real), test_every (0; manual progression), back_to_back (0), computes_for
// (work_units). Samples, one a repetition, on every rank: total_s, comm_s, comp_s, comp_in_s (tests included), post_s,
// wait_s, test_s, ack_s (the closing barrier alone), cpu_s, the context switches of the application's and of other
// threads, and own_comm_s: the collective alone until this rank's own part is done, without the barrier, which is what
// OSU's and IMB's benchmarks call its time.

namespace workloads::collective_overlap {
namespace {

constexpr auto own_part = "own_part";

const Parameters& parameters() {
  constexpr std::int64_t most_before = 1'000;
  static const Parameters table{
      choice_parameter("collective", collective_names(), "the collective, with rank 0 as its root"),
      size_parameter(nullptr),
      work_units_parameter(nullptr),
      work_parameter(),
      compute_parameter(),
      test_every_parameter(),
      integer_parameter("back_to_back", {0, most_before}, "1",
                        "so many of the same right before the measured one, with a barrier between and no pause", 0),
      choice_parameter(
          "computes_for", {"work_units", own_part},
          "how long: the work, or as long as this rank's own part of the collective alone took lately, as in "
          "OSU's and IMB's benchmarks; work_units is then where it begins",
          "work_units"),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities own{seconds("own_comm_s")};
  static const Quantities table = joined(overlap_quantities(), own);
  return table;
}

void check(const Json& point, int ranks) {
  const auto collective = choice_of(point, parameters(), "collective");
  const auto size = size_of(point, parameters());
  if (ranks < 2) {
    throw UsageError("a collective needs 2 ranks at least, and there is 1");
  }
  if (is_reduction(collective) && size % sizeof(std::uint64_t) != 0) {
    throw UsageError(
        fmt::format("{} adds numbers of 8 bytes: size_bytes = {} is not a multiple of 8", collective, size));
  }
}

class CollectiveOverlap final : public Experiment {
 public:
  explicit CollectiveOverlap(const Preparation& preparation)
      : collective_(choice_of(preparation.point, parameters(), "collective"), preparation.mpi,
                    size_of(preparation.point, parameters())),
        computation_(preparation, parameters()),
        role_(preparation.mpi.is_root() ? "root" : "other"),
        before_(integer_of(preparation.point, parameters(), "back_to_back")),
        for_own_part_(choice_of(preparation.point, parameters(), "computes_for") == own_part),
        settle_s_(preparation.settle_s) {}

  [[nodiscard]] std::string role() const override { return role_; }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    const OverlapRun alone = run(false);
    timed_barrier();
    const double own_s = alone.post_s + alone.wait_s;
    if (for_own_part_) {
      own_part_s_ = own_part_s_ == 0 ? own_s : (own_part_s_ + own_s) / 2;
      computation_.set_duration(own_part_s_);
      timed_barrier();
    }
    const double comp_s = computation_.alone();
    const OverlapRun beside = run(true);
    timed_barrier();
    values[overlap_quantities_count] = own_s;
    return write_overlap(alone, comp_s, beside, timed_barrier(), values);
  }

 private:
  OverlapRun run(bool computing) {
    // Written once: of several one after the other what the last one should bring is there before it.
    collective_.fill(++seed_);
    spin_for(settle_s_);
    for (std::int64_t done = 0; done < before_; ++done) {
      once(computing);
    }
    OverlapRun times = once(computing);
    times.problem = collective_.check(seed_);
    return times;
  }

  OverlapRun once(bool computing) {
    timed_barrier();
    OverlapRun times;
    const Usage before = read_usage();
    const auto begin = Clock::now();
    MPI_Request request = collective_.start();
    const auto started = Clock::now();
    if (computing) {
      times.inside = computation_.beside(request);
    }
    const auto waiting = Clock::now();
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): it was started by start(), out of the checker's sight
    require(MPI_Wait(&request, MPI_STATUS_IGNORE));
    times.wait_s = seconds_since(waiting);
    timed_barrier();
    times.total_s = seconds_since(begin);
    times.usage = read_usage() - before;
    times.post_s = seconds_between(begin, started);
    return times;
  }

  Collective collective_;
  Computation computation_;
  std::string role_;
  std::int64_t before_;
  bool for_own_part_;
  double own_part_s_ = 0;  ///< of this rank lately: each repetition counts half as much as the next one
  double settle_s_;
  std::uint64_t seed_ = 0;
};

}  // namespace
}  // namespace workloads::collective_overlap

const workloads::Benchmark& workloads::collective_overlap_benchmark() {
  static const Benchmark benchmark{
      .name = "collective-overlap",
      .question = "Does a nonblocking collective progress while its ranks compute?",
      .parameters = collective_overlap::parameters(),
      .quantities = collective_overlap::quantity_table(),
      .check = collective_overlap::check,
      .prepare = make_experiment<collective_overlap::CollectiveOverlap>,
      .calibration = &calibration_benchmark(),
  };
  return benchmark;
}
