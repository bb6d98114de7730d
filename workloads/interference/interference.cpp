// SPDX-License-Identifier: BSD-3-Clause
// A thread computes; next to it another one ping-pongs and waits for its messages in one of several ways (Miwa et al.:
// results a and b; studies interference, interference-network, detection-latency). Rank 0 has both threads; rank 1
// answers at once, on a CPU that none of them uses.
//
// Point: detection, placement (same-core), grid (the victim's; none: nobody computes), window_ms (of a repetition,
// 200). Samples of rank 0: the distribution latency_s (half a round trip of 8 bytes); one a repetition: batch_median_s,
// mflops (the victim's, meanwhile), alone_mflops (just before, nobody communicates), cpu_share (of a CPU, taken by the
// thread that waits). Of rank 1: elapsed_s.
#include "interference/interference.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <optional>
#include <thread>

#include "common/clock.h"
#include "common/errors.h"
#include "common/placement.h"
#include "interference/detection.h"
#include "interference/seats.h"
#include "interference/victim.h"

namespace workloads {
namespace {

constexpr int partner_rank = 1;
constexpr int ping_tag = 1;
constexpr int pong_tag = 2;
constexpr int end_tag = 3;

const Parameters& parameters() {
  static const Parameters table{
      {
          .name = "detection",
          .domain = detection_names(),
          .unit = "",
          .meaning = "what the waiting thread does between two looks for its message",
          .default_value = nullptr,
      },
      {
          .name = "placement",
          .domain = Choices(placement_names().begin(), placement_names().end()),
          .unit = "",
          .meaning = "where the waiting thread sits, seen from the victim",
          .default_value = "same-core",
      },
      {
          .name = "grid",
          .domain =
              [] {
                Choices names{"none"};
                names.insert(names.end(), himeno::size_names().begin(), himeno::size_names().end());
                return names;
              }(),
          .unit = "",
          .meaning = "the victim's problem, one of Himeno's published sizes; none: there is no victim",
          .default_value = "XS",
      },
      {
          .name = "window_ms",
          .domain = IntegerRange{.minimum = 1, .maximum = 60'000},
          .unit = "ms",
          .meaning = "how long a repetition ping-pongs",
          .default_value = 200,
      },
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

double thread_cpu_s() noexcept {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + (static_cast<double>(time.tv_nsec) * 1e-9);
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
    const auto seats = find_seats(placement, cpu_places(allowed_), with_partner);
    answer();  // connects the two: a socket may be there only now
    if (waits_) {
      take_seat(seats, placement, choice_of(preparation.point, parameters(), "grid"));
      detection_ = make_detection(detection, doorbell_ ? &*doorbell_ : nullptr, problem_);
    } else if (seats && with_partner) {
      bind_this_thread({seats->partner});
    }
  }

  ~Interference() override { bind_this_thread(allowed_); }
  Interference(const Interference&) = delete;
  Interference& operator=(const Interference&) = delete;
  Interference(Interference&&) = delete;
  Interference& operator=(Interference&&) = delete;

  [[nodiscard]] std::string role() const override { return waits_ ? "waiting" : "partner"; }

  [[nodiscard]] std::span<const std::string_view> quantities() const override {
    static const auto measured = names_of(quantity_table(), 4);
    static constexpr std::array<std::string_view, 1> answering{"elapsed_s"};
    return waits_ ? std::span<const std::string_view>(measured) : answering;
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
  void take_seat(const std::optional<Seats>& seats, const std::string& placement, const std::string& grid) {
    if (!seats) {
      problem_ = fmt::format("the CPUs that this process may use offer no place '{}' beside one for the partner: {}",
                             placement, fmt::join(allowed_, ", "));
      return;
    }
    if (grid != "none") {
      victim_.emplace(grid, seats->victim);
    }
    bind_this_thread({seats->waiting});
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
    require(MPI_Irecv(&answer, 1, MPI_UINT64_T, partner_rank, pong_tag, MPI_COMM_WORLD, &request), "MPI_Irecv");
    require(MPI_Send(&trip_, 1, MPI_UINT64_T, partner_rank, ping_tag, MPI_COMM_WORLD), "MPI_Send");
    for (int there = 0;;) {
      detection_->arm();
      require(MPI_Test(&request, &there, MPI_STATUS_IGNORE), "MPI_Test");
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

  static void end() { require(MPI_Send(nullptr, 0, MPI_UINT64_T, partner_rank, end_tag, MPI_COMM_WORLD), "MPI_Send"); }

  /// The partner: answers until told to end. Rank 0: tells it.
  void answer() {
    if (waits_) {
      end();
      return;
    }
    for (;;) {
      std::uint64_t trip = 0;
      MPI_Status status;
      require(MPI_Recv(&trip, 1, MPI_UINT64_T, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &status), "MPI_Recv");
      if (status.MPI_TAG == end_tag) {
        return;
      }
      trip = ~trip;
      require(MPI_Send(&trip, 1, MPI_UINT64_T, 0, pong_tag, MPI_COMM_WORLD), "MPI_Send");
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

std::unique_ptr<Experiment> prepare(const Preparation& preparation) {
  return std::make_unique<Interference>(preparation);
}

}  // namespace

const Benchmark& ping_pong_benchmark() {
  static const Benchmark benchmark{
      .name = "ping-pong",
      .question = "What does waiting for a message cost a computation next to it, and the message?",
      .parameters = parameters(),
      .quantities = quantity_table(),
      .check = check,
      .prepare = prepare,
      .thread_level = "funneled",
  };
  return benchmark;
}

}  // namespace workloads
