// SPDX-License-Identifier: BSD-3-Clause
// miniGhost's exchange of halos beside an inflated computation: the steps of workloads/minighost/exchange.cpp.
#include <algorithm>
#include <cstdint>

#include "common/errors.h"
#include "common/grid.h"
#include "common/overlap_sample.h"
#include "overlap_point.h"

namespace simulated {
namespace {

using workloads::Face;
using workloads::UsageError;

enum class Posting : std::uint8_t { receives_first, sends_first, receives_last };

const workloads::Choices& names_of_postings() {
  static const workloads::Choices names{"receives-first", "sends-first", "receives-last"};
  return names;
}

/// Of a point that was checked.
Posting posting_of(const Json& point) {
  const auto name = point.value("posting", names_of_postings().front());
  return static_cast<Posting>(std::ranges::find(names_of_postings(), name) - names_of_postings().begin());
}

class Halos final : public Operation {
 public:
  Halos(Rank& rank, const Json& point)
      : rank_(rank),
        bytes_(point.value("size_bytes", Bytes{0})),
        posting_(posting_of(point)),
        faces_(workloads::faces_of(rank.number(), rank.size())) {}

  void start() override {
    receives_.clear();
    sends_.clear();
    if (posting_ == Posting::receives_first) {
      receive();
    }
    for (const Face& face : faces_) {
      sends_.push_back(rank_.send(face.neighbour, face.direction, bytes_));
    }
    if (posting_ == Posting::sends_first) {
      receive();
    }
  }

  void before_the_wait() override {
    if (posting_ == Posting::receives_last) {
      receive();
      return;
    }
    arrived_ = changed_ = 0;
    for (const auto& request : receives_) {
      const double share = request->in_memory();
      changed_ += share;
      arrived_ += share < 1 ? 0 : 1;
    }
    arrived_ /= static_cast<double>(receives_.size());
    changed_ /= static_cast<double>(receives_.size());
  }

  [[nodiscard]] std::vector<RequestPtr> requests() const override {
    auto requests = receives_;
    requests.insert(requests.end(), sends_.begin(), sends_.end());
    return requests;
  }

  /// Those that are posted last cannot have brought anything before the wait.
  [[nodiscard]] bool can_be_early() const { return posting_ != Posting::receives_last; }
  /// The share of the halos that were there before the wait, and of all their bytes.
  [[nodiscard]] double arrived() const { return arrived_; }
  [[nodiscard]] double changed() const { return changed_; }

 private:
  void receive() {
    for (const Face& face : faces_) {
      receives_.push_back(rank_.receive(face.neighbour, face.arriving(), bytes_));
    }
  }

  Rank& rank_;
  Bytes bytes_;
  Posting posting_;
  std::vector<Face> faces_;
  std::vector<RequestPtr> receives_;
  std::vector<RequestPtr> sends_;
  double arrived_ = 1;
  double changed_ = 1;
};

Task run_exchange(Rank& rank, Fence& fence, const Json& point, Measured& measured) {
  measured.role = "rank";
  Halos halos(rank, point);
  co_await measure(rank, fence, point, halos, measured);
  if (halos.can_be_early()) {
    const double arrived = co_await fence.arrive(halos.arrived());
    const double changed = co_await fence.arrive(halos.changed());
    measured.values.emplace_back("arrived_early", arrived);
    measured.values.emplace_back("changed_early", changed);
  }
}

void check_exchange(const Json& point, int ranks) {
  static const auto parameters = overlap_parameters({workloads::choice_parameter(
      "posting", names_of_postings(), "when the receives are posted", names_of_postings().front())});
  workloads::check_point(point, parameters, "the point");
  if (ranks < 2) {
    throw UsageError("an exchange needs 2 ranks at least, and there is 1");
  }
}

}  // namespace

const Pattern halo_exchange{
    .name = "exchange", .quantities = workloads::halo_quantities, .check = check_exchange, .run = run_exchange};

}  // namespace simulated
