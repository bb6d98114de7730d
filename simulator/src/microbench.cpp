// SPDX-License-Identifier: BSD-3-Clause
// The benchmarks of microbench that have a model: a message beside a computation, a collective beside one, and what the
// amounts of work are chosen from. Each step is that of workloads/microbench.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>

#include "common/errors.h"
#include "common/overlap_sample.h"
#include "overlap_point.h"

namespace simulated {
namespace {

using workloads::UsageError;

enum Tag : std::uint8_t { payload_tag, acknowledgement_tag, ping_tag, pong_tag };

constexpr std::array collectives{"ireduce", "igather", "ibcast", "iscatter", "iallreduce", "ialltoall", "iallgather"};

Bytes size_of(const Json& point) { return point.value("size_bytes", Bytes{0}); }

bool computes(const Json& point, bool sender) {
  const auto pattern = point.value("pattern", std::string("both"));
  return pattern == "both" || pattern == (sender ? "sender" : "receiver");
}

/// One message from `rank` to its partner or from it, and the acknowledgement that closes the sender's time.
Task transfer(Rank& rank, Fence& fence, const Json& point, Work work, Times& times) {
  const int peer = (rank.number() + (rank.size() / 2)) % rank.size();
  const bool sender = rank.number() < rank.size() / 2;
  const Bytes bytes = size_of(point);
  RequestPtr request;
  co_await rank.compute(rank.model().settle);
  if (!sender && point.value("receive", std::string("preposted")) == "preposted") {
    request = rank.receive(peer, payload_tag, bytes);
  }
  co_await fence.arrive();
  const Seconds begin = rank.now();
  if (!request) {
    request = sender ? rank.send(peer, payload_tag, bytes) : rank.receive(peer, payload_tag, bytes);
  }
  if (work.all > 0) {
    co_await compute_overlapped(rank, work, std::vector(1, request));
    times.inside = rank.now() - begin;
  }
  co_await rank.wait(request);
  times.total = rank.now() - begin;
  times.wait = times.total - times.inside;
  if (sender) {
    co_await rank.wait(rank.receive(peer, acknowledgement_tag, 0));
    times.total = rank.now() - begin;
  } else {
    co_await rank.wait(rank.send(peer, acknowledgement_tag, 0));
  }
}

/// Half of a round trip of an empty message.
Task latency(Rank& rank, Fence& fence, Seconds& half) {
  const int peer = (rank.number() + (rank.size() / 2)) % rank.size();
  const bool first = rank.number() < rank.size() / 2;
  co_await fence.arrive();
  const Seconds begin = rank.now();
  if (first) {
    co_await rank.wait(rank.send(peer, ping_tag, 0));
    co_await rank.wait(rank.receive(peer, pong_tag, 0));
  } else {
    co_await rank.wait(rank.receive(peer, ping_tag, 0));
    co_await rank.wait(rank.send(peer, pong_tag, 0));
  }
  half = (rank.now() - begin) / 2;
}

Task run_overlap(Rank& rank, Fence& fence, const Json& point, Measured& measured) {
  const bool sender = rank.number() < rank.size() / 2;
  measured.role = sender ? "sender" : "receiver";
  Work work = work_of(point, rank.model());
  if (!computes(point, sender)) {
    work = {};
  }
  const Communicate communicate = [&](Work mine, Times& times) { return transfer(rank, fence, point, mine, times); };
  const Close close = [&](Seconds& closing) { return latency(rank, fence, closing); };
  co_await measure(rank, fence, point, work, communicate, close, measured);
}

workloads::Parameter choice(const char* name, workloads::Choices choices, const char* meaning) {
  const Json first = choices.front();
  return workloads::choice_parameter(name, std::move(choices), meaning, first);
}

void check_pairs(int ranks) {
  if (ranks % 2 != 0) {
    throw UsageError(fmt::format("pairs of ranks are needed, and there are {}", ranks));
  }
}

void check_overlap(const Json& point, int ranks) {
  static const auto parameters = overlap_parameters({choice("pattern", {"both", "sender", "receiver"}, "who computes"),
                                                     choice("receive", {"preposted", "late"}, "when it is posted")});
  workloads::check_point(point, parameters, "the point");
  check_pairs(ranks);
}

std::string why_no_overlap(const Json& point) {
  return point.value("wake_us", Json(0)) == 0 ? std::string()
                                              : "wake_us: a message that moves without MPI is not simulated";
}

// ---- collectives

class OneCollective final : public Operation {
 public:
  OneCollective(Rank& rank, const Json& point)
      : rank_(rank),
        what_{.name = point["collective"].get<std::string>(),
              .rank = rank.number(),
              .ranks = rank.size(),
              .bytes = size_of(point)} {}

  void start() override { request_ = rank_.start(schedule_of(rank_.model().schedules, what_)); }
  [[nodiscard]] std::vector<RequestPtr> requests() const override { return {request_}; }

 private:
  Rank& rank_;
  Collective what_;
  RequestPtr request_;
};

Task run_collective(Rank& rank, Fence& fence, const Json& point, Measured& measured) {
  measured.role = rank.number() == 0 ? "root" : "other";
  OneCollective collective(rank, point);
  co_await measure(rank, fence, point, collective, measured);
}

void check_collective(const Json& point, int ranks) {
  static const auto parameters = [] {
    auto collective = choice("collective", workloads::Choices(collectives.begin(), collectives.end()), "which");
    collective.default_value = nullptr;  // the point must say it
    return overlap_parameters({collective});
  }();
  workloads::check_point(point, parameters, "the point");
  if (ranks < 2) {
    throw UsageError("a collective needs 2 ranks at least, and there is 1");
  }
}

// ---- calibration

const Quantities& calibration_quantities() {
  static const Quantities table{workloads::leading(workloads::seconds("unit_s")), workloads::seconds("comm_s"),
                                workloads::seconds("ack_s")};
  return table;
}

Task run_calibration(Rank& rank, Fence& fence, const Json& point, Measured& measured) {
  if (point["calibration"] == "unit") {
    measured.role = "computing";
    measured.values = {{"unit_s", rank.model().computation.unit}};
    co_return;
  }
  measured.role = rank.number() < rank.size() / 2 ? "sender" : "receiver";
  Times alone;
  Seconds closing = 0;
  co_await transfer(rank, fence, point, {}, alone);
  co_await latency(rank, fence, closing);
  measured.values = {{"comm_s", alone.total}, {"ack_s", closing}};
}

void check_calibration(const Json& point, int ranks) {
  workloads::check_point(point, overlap_parameters({}), "--size");
  if (point["calibration"] == "comm") {
    check_pairs(ranks);
  }
}

}  // namespace

Task real_barrier(Rank& rank) {
  const auto request = rank.start(barrier(rank.number(), rank.size()));
  co_await rank.wait(request);
}

const Pattern overlap{.name = "overlap",
                      .quantities = workloads::overlap_quantities,
                      .check = check_overlap,
                      .run = run_overlap,
                      .why_not = why_no_overlap};
const Pattern collective_overlap{.name = "collective-overlap",
                                 .quantities = workloads::overlap_quantities,
                                 .check = check_collective,
                                 .run = run_collective};
const Pattern calibration{
    .name = "calibration", .quantities = calibration_quantities, .check = check_calibration, .run = run_calibration};

}  // namespace simulated
