// SPDX-License-Identifier: BSD-3-Clause
// miniGhost's exchange of halos beside an inflated computation: the steps of workloads/minighost/exchange.cpp.
#include <algorithm>
#include <array>

#include "beside.h"
#include "common/errors.h"
#include "common/overlap_sample.h"
#include "grid/decomposition.h"

namespace simulated {
namespace {

using workloads::Face;
using workloads::UsageError;

enum class Posting : std::uint8_t { receives_first, sends_first, receives_last };

Posting posting_of(const Json& point) {
  static const std::array<std::string, 3> names{"receives-first", "sends-first", "receives-last"};
  const auto name = point.value("posting", names.front());
  const auto* const found = std::ranges::find(names, name);
  if (found == names.end()) {
    throw UsageError("posting=" + name + ": one of receives-first, sends-first, receives-last is wanted");
  }
  return static_cast<Posting>(found - names.begin());
}

struct Exchanged : Times {
  double arrived = 1;  ///< the share of the halos that were there before the wait, and of all their bytes
  double changed = 1;
};

class Halos {
 public:
  Halos(Rank& rank, const Json& point)
      : rank_(rank),
        bytes_(point.value("size_bytes", Bytes{0})),
        faces_(workloads::faces_of(rank.number(), rank.size())) {}

  void receive() {
    for (const Face& face : faces_) {
      receives_.push_back(rank_.receive(face.neighbour, face.arriving(), bytes_));
    }
  }

  void send() {
    for (const Face& face : faces_) {
      sends_.push_back(rank_.send(face.neighbour, face.direction, bytes_));
    }
  }

  [[nodiscard]] std::vector<RequestPtr> all() const {
    auto requests = receives_;
    requests.insert(requests.end(), sends_.begin(), sends_.end());
    return requests;
  }

  void look(Exchanged& times) const {
    times.arrived = times.changed = 0;
    for (const auto& request : receives_) {
      const double share = request->in_memory();
      times.changed += share;
      times.arrived += share < 1 ? 0 : 1;
    }
    times.arrived /= static_cast<double>(receives_.size());
    times.changed /= static_cast<double>(receives_.size());
  }

 private:
  Rank& rank_;
  Bytes bytes_;
  std::vector<Face> faces_;
  std::vector<RequestPtr> receives_;
  std::vector<RequestPtr> sends_;
};

Task exchange(Rank& rank, Fence& fence, const Json& point, Work work, Exchanged& times) {
  const Posting posting = posting_of(point);
  Halos halos(rank, point);
  co_await rank.compute(rank.model().settle);
  co_await fence.arrive();
  const Seconds begin = rank.now();
  if (posting == Posting::receives_first) {
    halos.receive();
  }
  halos.send();
  if (posting == Posting::sends_first) {
    halos.receive();
  }
  if (work.all > 0) {
    const Seconds started = rank.free_at();
    co_await compute_beside(rank, work, halos.all());
    times.inside = rank.now() - started;
  }
  if (posting == Posting::receives_last) {
    halos.receive();
  } else {
    halos.look(times);
  }
  const Seconds waiting = rank.now();
  co_await wait_all(rank, halos.all());
  times.wait = rank.now() - waiting;
  co_await real_barrier(rank);
  times.total = rank.now() - begin;
}

Task run_exchange(Rank& rank, Fence& fence, const Json& point, Measured& measured) {
  measured.role = "rank";
  const Work work = work_of(point, rank.model());
  Exchanged alone;
  Exchanged beside;
  co_await exchange(rank, fence, point, {}, alone);
  co_await fence.arrive();
  const Seconds begin = rank.now();
  co_await rank.compute(work.all, work.asleep);
  const Seconds computation = rank.now() - begin;
  co_await exchange(rank, fence, point, work, beside);
  co_await fence.arrive();
  const Seconds closing = rank.now();
  co_await real_barrier(rank);
  record(measured, alone, computation, beside, rank.now() - closing);
  if (posting_of(point) != Posting::receives_last) {  // which cannot have brought anything before the wait
    const double arrived = co_await fence.arrive(beside.arrived);
    const double changed = co_await fence.arrive(beside.changed);
    measured.values.emplace_back("arrived_early", arrived);
    measured.values.emplace_back("changed_early", changed);
  }
}

void check_exchange(const Json& point, int ranks) {
  posting_of(point);
  if (ranks < 2) {
    throw UsageError("an exchange needs 2 ranks at least, and there is 1");
  }
}

}  // namespace

const Pattern halo_exchange{
    .name = "exchange", .quantities = workloads::halo_quantities, .check = check_exchange, .run = run_exchange};

}  // namespace simulated
