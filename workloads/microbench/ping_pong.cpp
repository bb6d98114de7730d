// SPDX-License-Identifier: BSD-3-Clause
#include "microbench/ping_pong.h"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>

#include "common/clock.h"
#include "common/mpi_process.h"

namespace workloads {
namespace {

// The two directions carry different patterns: an echo that was never sent would be seen.
constexpr std::uint64_t seed_of(std::uint64_t batch, bool from_first) { return (2 * batch) + (from_first ? 0 : 1); }

}  // namespace

PingPong::PingPong(const PingPongSettings& settings) : settings_(settings), out_(settings.bytes), in_(settings.bytes) {}

std::string PingPong::run(int trips, std::vector<double>& latencies) {
  begin();
  latencies.reserve(latencies.size() + static_cast<std::size_t>(trips));  // no allocation between two trips
  auto previous = Clock::now();
  for (int trip = -lead_in(trips); trip < trips; ++trip) {
    round_trip();
    if (settings_.first && settings_.slowdown > 1) {
      spin_for(seconds_since(previous) * (settings_.slowdown - 1));
    }
    const auto now = Clock::now();
    if (trip >= 0) {
      latencies.push_back(seconds_between(previous, now) / 2);
    }
    previous = now;
  }
  return verify();
}

void PingPong::begin() {
  ++seed_;
  trip_ = 0;
  mismatches_ = 0;
  out_.fill(seed_of(seed_, settings_.first));
}

void PingPong::round_trip() {
  if (settings_.first) {
    send();
    receive();
  } else {
    receive();
    send();
  }
  ++trip_;
}

std::string PingPong::verify() {
  if (mismatches_ > 0) {
    return fmt::format("{} messages of {} bytes carried another trip's number", mismatches_, settings_.bytes);
  }
  if (settings_.bytes > 0) {
    in_.bytes().front() = static_cast<std::byte>(pattern_word(seed_of(seed_, !settings_.first), 0));
  }
  return in_.check(seed_of(seed_, !settings_.first));
}

void PingPong::send() {
  const auto count = static_cast<int>(out_.size());
  if (count > 0) {
    out_.bytes().front() = static_cast<std::byte>(pattern_word(seed_of(seed_, settings_.first), 0) + trip_);
  }
  if (!settings_.nonblocking) {
    require(MPI_Send(out_.data(), count, MPI_BYTE, settings_.partner, settings_.tag, MPI_COMM_WORLD));
    return;
  }
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Isend(out_.data(), count, MPI_BYTE, settings_.partner, settings_.tag, MPI_COMM_WORLD, &request));
  require(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

void PingPong::receive() {
  const auto count = static_cast<int>(in_.size());
  if (settings_.nonblocking) {
    MPI_Request request = MPI_REQUEST_NULL;
    require(MPI_Irecv(in_.data(), count, MPI_BYTE, settings_.partner, settings_.tag, MPI_COMM_WORLD, &request));
    require(MPI_Wait(&request, MPI_STATUS_IGNORE));
  } else {
    require(MPI_Recv(in_.data(), count, MPI_BYTE, settings_.partner, settings_.tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
  if (count > 0) {
    const auto expected = static_cast<std::byte>(pattern_word(seed_of(seed_, !settings_.first), 0) + trip_);
    mismatches_ += in_.bytes().front() == expected ? 0 : 1;
  }
}

Parameter round_trips_parameter(std::int64_t default_value) {
  constexpr std::int64_t most = 10'000'000;
  return integer_parameter("round_trips", {1, most}, "round trips",
                           "round trips a repetition, behind 1 % and one more that are not counted", default_value);
}

double median_of_last(const std::vector<double>& values, std::size_t count) {
  std::vector<double> last(values.end() - static_cast<std::ptrdiff_t>(std::min(count, values.size())), values.end());
  const auto middle = last.begin() + static_cast<std::ptrdiff_t>(last.size() / 2);
  std::ranges::nth_element(last, middle);
  return last.empty() ? 0 : *middle;
}

}  // namespace workloads
