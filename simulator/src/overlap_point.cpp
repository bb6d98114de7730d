// SPDX-License-Identifier: BSD-3-Clause
#include "overlap_point.h"

#include <algorithm>
#include <cstdint>

#include "common/experiment.h"
#include "common/fixed_work.h"

namespace simulated {
namespace {

constexpr std::int64_t largest_work = 1'000'000'000'000;  // as the workloads take it

}  // namespace

workloads::Parameters overlap_parameters(const workloads::Parameters& own) {
  workloads::Parameters all{
      workloads::integer_parameter("size_bytes", {0, workloads::largest_message}, "bytes", "the message", 0),
      workloads::integer_parameter("work_units", {0, largest_work}, "units", "the computation", 0),
      workloads::integer_parameter("test_every", {0, largest_work}, "units", "a test after so many; 0: none", 0),
      workloads::compute_parameter()};
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

Work work_of(const Json& point, const Model& model) {
  const bool asleep = point.value("compute", std::string("real")) == "sleep";
  const Seconds unit = asleep ? workloads::slept_unit_s : model.computation.unit;
  return {
      .all = point.value("work_units", 0.0) * unit, .part = point.value("test_every", 0.0) * unit, .asleep = asleep};
}

Task compute_overlapped(Rank& rank, Work work, std::vector<RequestPtr> requests) {
  if (work.part <= 0) {
    co_await rank.compute(work.all, work.asleep);
    co_return;
  }
  const auto nothing = std::make_shared<Request>();
  nothing->done = true;
  Seconds left = work.all;
  while (left > 0) {
    co_await rank.compute(std::min(work.part, left), work.asleep);
    left -= work.part;
    if (std::ranges::any_of(requests, [](const auto& request) { return !request->done; })) {
      co_await rank.wait(nothing);  // MPI_Test: a visit, and no wait
    }
  }
}

Task wait_all(Rank& rank, std::vector<RequestPtr> requests) {
  for (const auto& request : requests) {
    co_await rank.wait(request);
  }
}

namespace {

/// The closing is a barrier.
Task whole(Rank& rank, Fence& fence, Operation& operation, Work work, Times& times) {
  co_await rank.compute(rank.model().settle);
  co_await fence.arrive();
  const Seconds begin = rank.now();
  operation.start();
  if (work.all > 0) {
    const Seconds started = rank.free_at();
    co_await compute_overlapped(rank, work, operation.requests());
    times.inside = rank.now() - started;
  }
  operation.before_the_wait();
  const Seconds waiting = rank.now();
  co_await wait_all(rank, operation.requests());
  times.wait = rank.now() - waiting;
  co_await real_barrier(rank);
  times.total = rank.now() - begin;
}

Task barrier_alone(Rank& rank, Fence& fence, Seconds& closing) {
  co_await fence.arrive();
  const Seconds begin = rank.now();
  co_await real_barrier(rank);
  closing = rank.now() - begin;
}

}  // namespace

Task measure(Rank& rank, Fence& fence, const Json& point, Work work, const Communicate& communicate, const Close& close,
             Measured& measured) {
  Times alone;
  Seconds computation = 0;
  Seconds closing = 0;
  co_await communicate({}, alone);
  Times beside = alone;
  if (point.value("work_units", 0.0) > 0) {
    co_await fence.arrive();
    const Seconds begin = rank.now();
    co_await rank.compute(work.all, work.asleep);
    computation = rank.now() - begin;
    co_await communicate(work, beside);
  }
  co_await close(closing);
  measured.values = {{"total_s", beside.total},    {"comm_s", alone.total}, {"comp_s", computation},
                     {"comp_in_s", beside.inside}, {"wait_s", beside.wait}, {"ack_s", closing}};
}

Task measure(Rank& rank, Fence& fence, const Json& point, Operation& operation, Measured& measured) {
  const Communicate communicate = [&](Work work, Times& times) { return whole(rank, fence, operation, work, times); };
  const Close close = [&](Seconds& closing) { return barrier_alone(rank, fence, closing); };
  co_await measure(rank, fence, point, work_of(point, rank.model()), communicate, close, measured);
}

}  // namespace simulated
