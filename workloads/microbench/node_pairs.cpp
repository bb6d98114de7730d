// SPDX-License-Identifier: BSD-3-Clause
// How fast does each node compute, and each pair of nodes exchange messages? (study node-pairs; one rank a node.)
//
// In each round of a tournament every rank has another partner, so that pairs talk side by side and every pair meets
// once in n - 1 rounds, or n of an odd number, of which each rank rests in one. All ranks compute at the same time,
// then all pairs ping-pong.
//
// Point: round, size_bytes, work_units, work (register), round_trips (a repetition, 20). Samples, on every rank, one a
// repetition: comp_s; where it has a partner transfer_s (half a round trip, the median of a repetition) and partner,
// its rank.
#include <fmt/format.h>

#include <cstdint>
#include <optional>

#include "common/clock.h"
#include "common/errors.h"
#include "microbench/benchmarks.h"
#include "microbench/ping_pong.h"

namespace workloads::node_pairs {
namespace {

constexpr std::size_t resting = 1;  // quantities of a rank without a partner

const Parameters& parameters() {
  constexpr int most_rounds = 100'000;
  static const Parameters table{
      integer_parameter("round", {0, most_rounds}, "",
                        "of the tournament, which has a round less than ranks, or as many where that number is odd"),
      size_parameter(nullptr),
      work_units_parameter(nullptr),
      work_parameter(),
      round_trips_parameter(20),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      seconds("comp_s"),
      leading(seconds("transfer_s")),
      {.name = "partner", .unit = "1", .better = Better::neither},
  };
  return table;
}

int rounds_of(int ranks) { return ranks % 2 == 0 ? ranks - 1 : ranks; }

/// Whom `rank` meets: the circle method, by which the last one stays where it is and the others go round. With an odd
/// number nobody is the last one.
std::optional<int> partner_of(int rank, int round, int ranks) {
  const int moving = rounds_of(ranks);
  const bool stays = rank == moving;
  int partner = 0;
  if (stays) {
    // whoever would meet itself: 2 * partner = round, modulo the odd number of those who move
    partner = round % 2 == 0 ? round / 2 : (round + moving) / 2;
  } else {
    partner = (round - rank + moving) % moving;
  }
  if (!stays && partner == rank) {
    partner = moving;
  }
  return partner < ranks ? std::optional(partner) : std::nullopt;
}

void check(const Json& point, int ranks) {
  if (ranks < 2) {
    throw UsageError("pairs of nodes are needed, and there is 1 rank: start one on each of 2 or more");
  }
  const auto round = integer_of(point, parameters(), "round");
  if (round >= rounds_of(ranks)) {
    throw UsageError(fmt::format("round = {}: {} ranks have the rounds 0 to {}", round, ranks, rounds_of(ranks) - 1));
  }
}

class NodePairs final : public Experiment {
 public:
  explicit NodePairs(const Preparation& preparation)
      : partner_(partner_of(preparation.mpi.rank(),
                            static_cast<int>(integer_of(preparation.point, parameters(), "round")),
                            preparation.mpi.size())),
        work_(make_fixed_work(work_of(preparation.point, parameters()))),
        units_(units_of(preparation, parameters())),
        trips_(static_cast<int>(integer_of(preparation.point, parameters(), "round_trips"))) {
    if (partner_) {
      ping_pong_.emplace(PingPongSettings{
          .partner = *partner_,
          .tag = ping_pong_tag,
          .bytes = size_of(preparation.point, parameters()),
          .first = preparation.mpi.rank() < *partner_,
      });
    }
  }

  [[nodiscard]] std::string role() const override { return partner_ ? "one of a pair" : "resting"; }

  [[nodiscard]] Names quantities() const override {
    return names_of(quantity_table(), partner_ ? quantity_table().size() : resting);
  }

  std::string repeat(std::span<double> values) override {
    timed_barrier();
    const auto begin = Clock::now();
    work_->run(units_);
    values[0] = seconds_since(begin);
    timed_barrier();
    if (!partner_ || !ping_pong_) {  // there are both, or neither
      return {};
    }
    values[2] = *partner_;
    trip_s_.clear();
    auto problem = ping_pong_->run(trips_, trip_s_);
    values[1] = median_of_last(trip_s_, trip_s_.size());
    return problem;
  }

 private:
  std::optional<int> partner_;
  std::optional<PingPong> ping_pong_;
  std::unique_ptr<FixedWork> work_;
  std::uint64_t units_;
  int trips_;
  std::vector<double> trip_s_;
};

}  // namespace
}  // namespace workloads::node_pairs

const workloads::Benchmark& workloads::node_pairs_benchmark() {
  static const Benchmark benchmark{
      .name = "node-pairs",
      .question = "How fast does each node compute, and each pair of nodes exchange messages?",
      .parameters = node_pairs::parameters(),
      .quantities = node_pairs::quantity_table(),
      .check = node_pairs::check,
      .prepare = make_experiment<node_pairs::NodePairs>,
  };
  return benchmark;
}
