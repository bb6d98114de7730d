// SPDX-License-Identifier: BSD-3-Clause
// miniGhost stripped to its messages: an exchange of halos beside an inflated computation, and the unit of that.
#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "common/clock.h"
#include "common/errors.h"
#include "common/experiment.h"
#include "common/fixed_work.h"
#include "common/grid.h"
#include "common/mpi_process.h"
#include "common/overlap_sample.h"
#include "minighost/inflation.h"
#include "minighost/solve.h"

namespace workloads::minighost::calibration {
namespace {

// The duration of a unit of the inflated computation, which amounts of work are made of.

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("calibration", {"unit"}, "one unit of the inflated computation"),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{leading(seconds("unit_s"))};
  return table;
}

class UnitOfInflation final : public Experiment {
 public:
  explicit UnitOfInflation(const Preparation& /*preparation*/) {}

  [[nodiscard]] std::string role() const override { return "computing"; }

  [[nodiscard]] Names quantities() const override { return names_of(quantity_table()); }

  std::string repeat(std::span<double> values) override {
    values.front() = unit_of(work_);
    return {};
  }

 private:
  Inflation work_{default_edge};
};

const Benchmark& benchmark() {
  static const Benchmark table{
      .name = "calibration",
      .question = "How long is a unit of the inflated computation?",
      .parameters = minighost::calibration::parameters(),
      .quantities = minighost::calibration::quantity_table(),
      .prepare = make_experiment<minighost::calibration::UnitOfInflation>,
  };
  return table;
}

}  // namespace
}  // namespace workloads::minighost::calibration

// miniGhost stripped to send - inflated computation - receive (Strohbeen, Sandia 2011; studies early-arrival,
// computation-inflation, large-messages). A rank has up to 6 neighbours in the process grid and sends each of them one
// halo. As `overlap`, with a fixed amount of work; a barrier closes the total.
//
// Point: size_bytes (of a halo), work_units, edge (64, of the block that the computation sweeps over), posting,
// test_every (0; manual progression), exchange (messages; or the neighbourhood collective in their place), topology
// (graph), compute (real). Samples, one a repetition, on every rank: those of every
// benchmark of overlap; and unless the receives come last, both of the rank where they are least: arrived_early, the
// share of a rank's halos that were there completely when the wait began, and changed_early, the share of their places
// looked at that had changed.

namespace workloads::minighost::exchange {
namespace {

constexpr std::int64_t largest_work = 1'000'000'000'000;  // months
constexpr int largest_edge = 1024;
constexpr int smallest_edge = 4;
constexpr int directions = 6;

const Parameters& parameters() {
  static const Parameters table{
      integer_parameter("size_bytes", {0, largest_message}, "bytes", "the halo that each neighbour is sent"),
      integer_parameter("work_units", {0, largest_work}, "units",
                        "the inflated computation, in units of about 1000 points of the 7-point stencil"),
      integer_parameter("edge", {smallest_edge, largest_edge}, "points",
                        "edge of the block that the computation sweeps over", default_edge),
      choice_parameter("posting", {"receives-first", "sends-first", "receives-last"},
                       "the receives are posted before the sends, right after them, or after the computation",
                       "receives-first"),
      integer_parameter("test_every", {0, largest_work}, "units",
                        "manual progression: MPI_Testall after every so many units of the computation; 0: never", 0),
      exchange_parameter(),
      topology_parameter(),
      compute_parameter(),
  };
  return table;
}

void check(const Json& point, int ranks) {
  if (ranks < 2) {
    throw UsageError("an exchange needs 2 ranks at least, and there is 1");
  }
  constexpr double arrays = 2;  // of the computation
  constexpr double ways = 2;    // of a halo
  const auto edge = integer_of(point, parameters(), "edge");
  const auto bytes = integer_of(point, parameters(), "size_bytes");
  const auto exchange = choice_of(point, parameters(), "exchange");
  if (exchange != by_messages && choice_of(point, parameters(), "posting") != "receives-first") {
    throw UsageError(fmt::format("{} sends and receives in one call: leave posting at receives-first", exchange));
  }
  if (exchange != by_messages && bytes > largest_message / directions) {
    throw UsageError(fmt::format("{} counts the bytes of {} halos in an int: size_bytes must be at most {}", exchange,
                                 directions, largest_message / directions));
  }
  require_memory(fmt::format("a block of {0} x {0} x {0} points with halos of {1} bytes", edge, bytes),
                 (arrays * std::pow(static_cast<double>(edge) + 2, 3) * sizeof(double)) +
                     (ways * most_faces(ranks) * static_cast<double>(bytes)));
}

/// One neighbour and what goes both ways.
struct Halo : Face {
  std::span<std::byte> out;
  std::span<std::byte> in;
};

struct Run : OverlapRun {
  double arrived = 1;
  double changed = 1;
};

class Exchange final : public Experiment {
 public:
  explicit Exchange(const Preparation& preparation)
      : Exchange(preparation, faces_of(preparation.mpi.rank(), preparation.mpi.size()),
                 static_cast<std::size_t>(integer_of(preparation.point, parameters(), "size_bytes"))) {}

  Exchange(const Preparation& preparation, const std::vector<Face>& faces, std::size_t bytes)
      : rank_(static_cast<std::uint64_t>(preparation.mpi.rank())),
        posting_(choice_of(preparation.point, parameters(), "posting")),
        settle_s_(preparation.settle_s),
        test_every_(static_cast<std::uint64_t>(integer_of(preparation.point, parameters(), "test_every"))),
        slept_(is_slept(preparation.point, parameters())),
        work_(static_cast<int>(integer_of(preparation.point, parameters(), "edge"))),
        neighbours_(choice_of(preparation.point, parameters(), "exchange"),
                    choice_of(preparation.point, parameters(), "topology"), faces, preparation.mpi.size(), bytes),
        out_(neighbours_.blocks() * bytes),
        in_(neighbours_.blocks() * bytes) {
    const auto units = static_cast<double>(integer_of(preparation.point, parameters(), "work_units"));
    units_ = static_cast<std::uint64_t>(std::llround(units * preparation.slowdown));
    for (std::size_t face = 0; face < faces.size(); ++face) {
      const std::size_t place = neighbours_.block(face) * bytes;
      const std::size_t sent = neighbours_.sends_the_same() ? 0 : place;
      halos_.push_back({faces[face], out_.bytes().subspan(sent, bytes), in_.bytes().subspan(place, bytes)});
    }
    requests_.reserve(2 * halos_.size());
  }

  [[nodiscard]] std::string role() const override { return "rank"; }

  [[nodiscard]] Names quantities() const override {
    const auto& table = halo_quantities();
    return names_of(table, table.size() - (looks() ? 0 : 2));
  }

  std::string repeat(std::span<double> values) override {
    const Run alone = run(0);
    timed_barrier();
    const double comp_s = compute(units_).elapsed_s;
    const Run beside = run(units_);
    timed_barrier();
    auto problem = write_overlap(alone, comp_s, beside, timed_barrier(), values);
    if (looks()) {
      const auto fewest = fewest_of_all({beside.arrived, beside.changed});
      std::ranges::copy(fewest, values.begin() + overlap_quantities_count);
    }
    return problem;
  }

 private:
  /// Receives that come last cannot have brought anything before the wait.
  [[nodiscard]] bool looks() const { return posting_ != "receives-last"; }

  /// Of the halo that `sender` sends in `direction`: another one each time, and in each direction, unless one goes to
  /// all.
  [[nodiscard]] std::uint64_t seed(std::uint64_t sender, int direction) const {
    constexpr std::uint64_t most_ranks = 1U << 20U;
    direction = neighbours_.sends_the_same() ? 0 : direction;
    return (((round_ * directions) + static_cast<std::uint64_t>(direction)) * most_ranks) + sender;
  }

  [[nodiscard]] std::uint64_t arriving_seed(const Halo& halo) const {
    return seed(static_cast<std::uint64_t>(halo.neighbour), halo.arriving());
  }

  void fill() {
    ++round_;
    for (auto& halo : halos_) {
      fill_pattern(halo.out, seed(rank_, halo.direction));
      poison(halo.in, arriving_seed(halo));
    }
  }

  void post_receives() {
    for (auto& halo : halos_) {
      require(MPI_Irecv(halo.in.data(), static_cast<int>(halo.in.size()), MPI_BYTE, halo.neighbour, halo.arriving(),
                        MPI_COMM_WORLD, &requests_.emplace_back()));
    }
  }

  void post_sends() {
    for (auto& halo : halos_) {
      require(MPI_Isend(halo.out.data(), static_cast<int>(halo.out.size()), MPI_BYTE, halo.neighbour, halo.direction,
                        MPI_COMM_WORLD, &requests_.emplace_back()));
    }
  }

  void wait() {
    require(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
    requests_.clear();
  }

  /// Seconds that it took.
  double test() {
    const auto begin = Clock::now();
    int complete = 0;
    require(MPI_Testall(static_cast<int>(requests_.size()), requests_.data(), &complete, MPI_STATUSES_IGNORE));
    return seconds_since(begin);
  }

  ComputationTimes compute(std::uint64_t units) {
    ComputationTimes times;
    const auto begin = Clock::now();
    const bool manual = test_every_ > 0 && !requests_.empty();
    const std::uint64_t step = manual ? test_every_ : std::max<std::uint64_t>(units, 1);
    for (std::uint64_t done = 0; done < units; done += step) {
      if (slept_) {
        sleep_units(std::min(step, units - done));
      } else {
        work_.run(std::min(step, units - done));
      }
      times.test_s += manual ? test() : 0;
    }
    times.elapsed_s = units == 0 ? 0 : seconds_since(begin);
    return times;
  }

  /// A halo is asynchronous if it is so everywhere.
  static std::array<double, 2> fewest_of_all(std::array<double, 2> shares) {
    require(MPI_Allreduce(MPI_IN_PLACE, shares.data(), static_cast<int>(shares.size()), MPI_DOUBLE, MPI_MIN,
                          MPI_COMM_WORLD));
    return shares;
  }

  void look(Run& run) const {
    double arrived = 0;
    double changed = 0;
    for (const auto& halo : halos_) {
      const double share = changed_share(halo.in, arriving_seed(halo));
      changed += share;
      arrived += share >= 1 ? 1 : 0;
    }
    run.arrived = arrived / static_cast<double>(halos_.size());
    run.changed = changed / static_cast<double>(halos_.size());
  }

  void start() {
    if (neighbours_.is_collective()) {
      requests_.push_back(neighbours_.start(out_.data(), in_.data()));
      return;
    }
    if (posting_ == "receives-first") {
      post_receives();
    }
    post_sends();
    if (posting_ == "sends-first") {
      post_receives();
    }
  }

  Run run(std::uint64_t units) {
    fill();
    spin_for(settle_s_);
    timed_barrier();
    Run times;
    const Usage before = read_usage();
    const auto begin = Clock::now();
    start();
    const auto started = Clock::now();
    times.inside = compute(units);
    if (looks()) {
      look(times);
    } else {
      post_receives();
    }
    const auto waiting = Clock::now();
    wait();
    times.wait_s = seconds_since(waiting);
    timed_barrier();
    times.total_s = seconds_since(begin);
    times.usage = read_usage() - before;
    times.post_s = seconds_between(begin, started);
    times.problem = verify();
    return times;
  }

  [[nodiscard]] std::string verify() const {
    for (const auto& halo : halos_) {
      if (const auto problem = check_pattern(halo.in, arriving_seed(halo)); !problem.empty()) {
        return fmt::format("halo of rank {}: {}", halo.neighbour, problem);
      }
    }
    return {};
  }

  std::uint64_t rank_;
  std::string posting_;
  double settle_s_;
  std::uint64_t test_every_;
  bool slept_;
  Inflation work_;
  Neighbourhood neighbours_;
  Payload out_;
  Payload in_;
  std::uint64_t units_ = 0;
  std::vector<Halo> halos_;
  std::vector<MPI_Request> requests_;
  std::uint64_t round_ = 0;
};

}  // namespace
}  // namespace workloads::minighost::exchange

const workloads::Benchmark& workloads::minighost_exchange_benchmark() {
  static const Benchmark benchmark{
      .name = "exchange",
      .question = "Do halos move while an inflated computation runs, and are they there before the wait?",
      .parameters = minighost::exchange::parameters(),
      .quantities = halo_quantities(),
      .check = minighost::exchange::check,
      .prepare = make_experiment<minighost::exchange::Exchange>,
      .calibration = &minighost::calibration::benchmark(),
  };
  return benchmark;
}
