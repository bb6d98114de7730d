// SPDX-License-Identifier: BSD-3-Clause
#include "beside.h"

#include <algorithm>

#include "common/sleeping.h"

namespace simulated {

Work work_of(const Json& point, const Model& model) {
  const bool asleep = point.value("compute", std::string("real")) == "sleep";
  const Seconds unit = asleep ? workloads::slept_unit_s : model.computation.unit;
  return {
      .all = point.value("work_units", 0.0) * unit, .part = point.value("test_every", 0.0) * unit, .asleep = asleep};
}

Task compute_beside(Rank& rank, Work work, std::vector<RequestPtr> requests) {
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

void record(Measured& measured, const Times& alone, Seconds computation, const Times& beside, Seconds closing) {
  measured.values = {{"total_s", beside.total},    {"comm_s", alone.total}, {"comp_s", computation},
                     {"comp_in_s", beside.inside}, {"wait_s", beside.wait}, {"ack_s", closing}};
}

}  // namespace simulated
