// SPDX-License-Identifier: BSD-3-Clause
// What a thread that waits for messages takes from one that computes beside it (Miwa et al.; studies interference,
// interference-network, detection-latency).

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <optional>
#include <string>
#include <thread>

#include "common/clock.h"
#include "common/errors.h"
#include "common/experiment.h"
#include "common/machine.h"
#include "common/noncopyable.h"
#include "himeno/kernel.h"
#include "interference/detection.h"
#include "interference/placement.h"

namespace workloads {

// The thread whose computation is disturbed: the sequential Himeno benchmark on a CPU of its own choice.

/// Sleeps until started. Used from one thread.
class Victim : NonCopyable {
 public:
  /// `grid`: a published size of Himeno. std::bad_alloc, std::system_error.
  Victim(const std::string& grid, int cpu);
  ~Victim();

  /// Returns at once; the victim begins with the published start.
  void start();
  /// Returns when its iteration is complete. MFLOPS since it began, as the benchmark counts them.
  double stop();
  /// What is wrong with its results so far, a sentence; empty if nothing.
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  void wake();
  void live(int cpu);
  double compute();
  void verify(double first, double last);

  Triple grid_;
  himeno::Kernel kernel_;
  double exact_gosa_;
  double mflops_ = 0;
  std::string problem_;
  // Counted, and not a state: the victim may sleep through a whole start and stop, and must compute for it
  // nevertheless.
  std::atomic<unsigned> started_ = 0;
  std::atomic<unsigned> ended_ = 0;
  std::atomic<bool> computing_ = false;
  std::atomic<bool> leaving_ = false;
  std::thread thread_;
};

Victim::Victim(const std::string& grid, int cpu)
    : grid_(himeno::grid_of(grid)),
      kernel_(grid_),
      exact_gosa_(himeno::exact_gosa(grid_, 1)),
      thread_([this, cpu] { live(cpu); }) {}

Victim::~Victim() {
  leaving_ = true;
  wake();
  thread_.join();
}

void Victim::start() {
  computing_ = true;
  wake();
}

double Victim::stop() {
  computing_ = false;
  for (unsigned ended = ended_; ended != started_; ended = ended_) ended_.wait(ended);
  return mflops_;
}

void Victim::wake() {
  ++started_;
  started_.notify_all();
}

void Victim::live(int cpu) {
  bind_this_thread({cpu});
  for (unsigned ended = 0;;) {
    started_.wait(ended);
    if (leaving_) return;
    mflops_ = compute();
    ended_ = ++ended;
    ended_.notify_all();
  }
}

/// Until stopped; at least one iteration.
double Victim::compute() {
  kernel_.initialise();
  double first = 0;
  double last = 0;
  double iterations = 0;
  const auto begin = Clock::now();
  do {
    last = kernel_.iterate();
    first = iterations == 0 ? last : first;
    ++iterations;
  } while (computing_.load(std::memory_order_relaxed));
  const double seconds = seconds_since(begin);
  verify(first, last);
  return himeno::flops_a_point * kernel_.points() * iterations / seconds / 1e6;
}

void Victim::verify(double first, double last) {
  constexpr double rounding = 2e-7;  // single precision, against a residual of 1 / (3 imax^2): see himeno/himeno.cpp
  const double tolerance = 1e-4 + (rounding * 3 * grid_[0] * grid_[0]);
  if (std::abs(first - exact_gosa_) > tolerance * exact_gosa_ || !(last <= first)) {
    problem_ = fmt::format("Himeno's gosa was {:.6e} and {:.6e} in the end; it begins with {:.6e} and falls", first,
                           last, exact_gosa_);
  }
}

// A thread computes; next to it another one ping-pongs and waits for its messages in one of several ways (Miwa et al.:
// results a and b; studies interference, interference-network, detection-latency). Rank 0 has both threads; rank 1
// answers at once, on a CPU that none of them uses.
//
// Point: detection, placement (same-core), grid (the victim's; none: nobody computes), window_ms (of a repetition,
// 200). Samples of rank 0: the distribution latency_s (half a round trip of 8 bytes); one a repetition: batch_median_s,
// mflops (the victim's, meanwhile), alone_mflops (just before, nobody communicates), cpu_share (of a CPU, taken by the
// thread that waits). Of rank 1: elapsed_s.

namespace {

constexpr int partner_rank = 1;
constexpr int ping_tag = 1;
constexpr int pong_tag = 2;
constexpr int end_tag = 3;

const Parameters& parameters() {
  static const Parameters table{
      choice_parameter("detection", detection_names(),
                       "what the waiting thread does between two looks for its message"),
      choice_parameter("placement", Choices(placement_names().begin(), placement_names().end()),
                       "where the waiting thread sits, seen from the victim", "same-core"),
      choice_parameter(
          "grid",
          [] {
            Choices names{"none"};
            names.insert(names.end(), himeno::size_names().begin(), himeno::size_names().end());
            return names;
          }(),
          "the victim's problem, one of Himeno's published sizes; none: there is no victim", "XS"),
      integer_parameter("window_ms", {1, 60'000}, "ms", "how long a repetition ping-pongs", 200),
  };
  return table;
}

const Quantities& quantity_table() {
  static const Quantities table{
      seconds("batch_median_s"),
      {.name = "mflops", .unit = "MFLOP/s", .better = Better::higher, .leading = true},
      {.name = "alone_mflops", .unit = "MFLOP/s", .better = Better::higher},
      {.name = "cpu_share", .unit = "1", .better = Better::lower},
      seconds("latency_s"),
      seconds("elapsed_s"),
  };
  return table;
}

bool on_one_node(const MpiProcess& mpi) { return mpi.maximum(mpi.broadcast(host_name()) == host_name() ? 0 : 1) == 0; }

class Interference final : public Experiment {
 public:
  explicit Interference(const Preparation& preparation)
      : waits_(preparation.mpi.is_root()),
        allowed_(allowed_cpus()),
        window_s_(static_cast<double>(integer_of(preparation.point, parameters(), "window_ms")) * 1e-3) {
    const auto detection = choice_of(preparation.point, parameters(), "detection");
    if (needs_doorbell(detection)) {
      doorbell_.emplace();
    }
    const auto placement = choice_of(preparation.point, parameters(), "placement");
    const bool with_partner = on_one_node(preparation.mpi);
    const auto cpus = find_cpus(placement, cpu_places(allowed_), with_partner);
    answer();  // connects the two: a socket may be there only now
    if (waits_) {
      take_cpu(cpus, placement, choice_of(preparation.point, parameters(), "grid"));
      detection_ = make_detection(detection, doorbell_ ? &*doorbell_ : nullptr, problem_);
    } else if (cpus && with_partner) {
      bind_this_thread({cpus->partner});
    }
  }

  ~Interference() override { bind_this_thread(allowed_); }

  [[nodiscard]] std::string role() const override { return waits_ ? "waiting" : "partner"; }

  [[nodiscard]] Names quantities() const override {
    return waits_ ? names_of(quantity_table(), 4) : Names{"elapsed_s"};
  }

  std::string repeat(std::span<double> values) override {
    if (!waits_) {
      const auto begin = Clock::now();
      answer();
      values[0] = seconds_since(begin);
      return {};
    }
    if (problem_.empty()) {
      values[2] = alone();
      beside(values);
    }
    end();
    return victim_ && !victim_->problem().empty() ? victim_->problem() : problem_;
  }

  [[nodiscard]] std::span<Distribution> distributions() override {
    return waits_ ? std::span(latencies_) : std::span<Distribution>();
  }

 private:
  void take_cpu(const std::optional<ThreadCpus>& cpus, const std::string& placement, const std::string& grid) {
    if (!cpus) {
      problem_ = fmt::format("the CPUs that this process may use offer no place '{}' beside one for the partner: {}",
                             placement, fmt::join(allowed_, ", "));
      return;
    }
    if (grid != "none") {
      victim_.emplace(grid, cpus->victim);
    }
    bind_this_thread({cpus->waiting});
  }

  double alone() {
    if (!victim_) {
      return 0;
    }
    victim_->start();
    std::this_thread::sleep_for(std::chrono::duration<double>(window_s_ / 2));
    return victim_->stop();
  }

  void beside(std::span<double> values) {
    auto& latencies = latencies_.front().values;
    const std::size_t before = latencies.size();
    if (victim_) {
      victim_->start();
    }
    const double cpu_s = thread_cpu_s();
    const auto begin = Clock::now();
    double elapsed_s = 0;
    do {
      round_trip();
      const double now_s = seconds_since(begin);
      latencies.push_back((now_s - elapsed_s) / 2);
      elapsed_s = now_s;
    } while (elapsed_s < window_s_ && problem_.empty());
    values[3] = (thread_cpu_s() - cpu_s) / elapsed_s;
    values[1] = victim_ ? victim_->stop() : 0;
    std::vector<double> batch(latencies.begin() + static_cast<std::ptrdiff_t>(before), latencies.end());
    const auto middle = batch.begin() + static_cast<std::ptrdiff_t>(batch.size() / 2);
    std::ranges::nth_element(batch, middle);
    values[0] = *middle;
  }

  void round_trip() {
    ++trip_;
    std::uint64_t answer = 0;
    MPI_Request request = MPI_REQUEST_NULL;
    require(MPI_Irecv(&answer, 1, MPI_UINT64_T, partner_rank, pong_tag, MPI_COMM_WORLD, &request));
    require(MPI_Send(&trip_, 1, MPI_UINT64_T, partner_rank, ping_tag, MPI_COMM_WORLD));
    for (int there = 0;;) {
      detection_->arm();
      require(MPI_Test(&request, &there, MPI_STATUS_IGNORE));
      if (there != 0) {
        break;
      }
      detection_->wait();
    }
    // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): the request was tested until it was complete
    if (answer != ~trip_) {
      problem_ = fmt::format("round trip {} came back as {}", trip_, ~answer);
    }
  }

  static void end() { require(MPI_Send(nullptr, 0, MPI_UINT64_T, partner_rank, end_tag, MPI_COMM_WORLD)); }

  /// The partner: answers until told to end. Rank 0: tells it.
  void answer() {
    if (waits_) {
      end();
      return;
    }
    for (;;) {
      std::uint64_t trip = 0;
      MPI_Status status;
      require(MPI_Recv(&trip, 1, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status));
      if (status.MPI_TAG == end_tag) {
        return;
      }
      trip = ~trip;
      require(MPI_Send(&trip, 1, MPI_UINT64_T, 0, pong_tag, MPI_COMM_WORLD));
      if (doorbell_ && doorbell_->usable()) {
        doorbell_->ring();
      }
    }
  }

  bool waits_;
  std::vector<int> allowed_;
  double window_s_;
  std::optional<Doorbell> doorbell_;
  std::optional<Victim> victim_;
  std::unique_ptr<Detection> detection_;
  std::string problem_;
  std::uint64_t trip_ = 0;
  std::array<Distribution, 1> latencies_{Distribution{.name = "latency_s", .values = {}}};
};

void check(const Json& /*point*/, int ranks) {
  if (ranks != 2) {
    throw UsageError(fmt::format("a ping-pong has 2 ranks, and there {} {}", ranks == 1 ? "is" : "are", ranks));
  }
}

const Benchmark& ping_pong_benchmark() {
  static const Benchmark benchmark{
      .name = "ping-pong",
      .question = "What does waiting for a message cost a computation next to it, and the message?",
      .parameters = parameters(),
      .quantities = quantity_table(),
      .check = check,
      .prepare = make_experiment<Interference>,
      .thread_level = "funneled",
  };
  return benchmark;
}

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  return workloads::run_program(
      {
          .name = "interference",
          .purpose = "What a thread that waits for messages costs a thread that computes next to it.",
          .example = "Example: mpiexec -n 2 interference ping-pong --point detection=sleep,placement=same-core,grid=XS",
          .benchmarks = {&workloads::ping_pong_benchmark()},
      },
      argc, argv);
}
