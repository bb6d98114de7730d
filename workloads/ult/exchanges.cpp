// SPDX-License-Identifier: BSD-3-Clause
#include "ult/exchanges.h"

#include <cstdint>

namespace workloads {

Exchanges::Exchanges(std::size_t count, std::size_t bytes) {
  tasks_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    tasks_.push_back({
        .out = Payload(bytes),
        .in = Payload(bytes),
        .work = make_fixed_work(WorkKind::register_bound),
        .problem = "",
    });
  }
}

std::uint64_t Exchanges::seed_of(std::size_t i, std::uint64_t batch, bool from_sender) const {
  return (2 * ((batch * tasks_.size()) + i)) + (from_sender ? 0 : 1);
}

void Exchanges::fill(std::size_t i, std::uint64_t batch, bool from_sender) {
  tasks_[i].out.fill(seed_of(i, batch, from_sender));
}

void Exchanges::exchange(std::size_t i, const Messenger& messenger) {
  messenger.exchange(tasks_[i].out, tasks_[i].in, first_task_tag + static_cast<int>(i));
}

void Exchanges::compute(std::size_t i, std::uint64_t units) { tasks_[i].work->run(units); }

void Exchanges::check(std::size_t i, std::uint64_t batch, bool from_sender) {
  if (tasks_[i].problem.empty()) {
    tasks_[i].problem = tasks_[i].in.check(seed_of(i, batch, from_sender));
  }
}

std::string Exchanges::problem() {
  std::string first;
  for (auto& task : tasks_) {
    first = first.empty() ? task.problem : first;
    task.problem.clear();
  }
  return first;
}

}  // namespace workloads
