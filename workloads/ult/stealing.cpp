// SPDX-License-Identifier: BSD-3-Clause
#include "ult/stealing.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <ctime>

namespace workloads {

namespace fibers = boost::fibers;

void StealingTeam::join(std::size_t index, Stealing* member) {
  kept_[index] = member;
  members_[index].store(member);
}

fibers::context* StealingTeam::steal_for(std::size_t thief) const {
  for (std::size_t step = 1; step < members_.size(); ++step) {
    auto* victim = members_[(thief + step) % members_.size()].load();
    if (auto* fiber = victim == nullptr ? nullptr : victim->steal(); fiber != nullptr) {
      return fiber;
    }
  }
  return nullptr;
}

void StealingTeam::wake_one() const {
  for (const auto& place : members_) {
    if (auto* member = place.load(); member != nullptr && member->wake()) {
      return;
    }
  }
}

Stealing::Stealing(StealingTeam* team, std::size_t index) : team_(team), index_(index) { team->join(index, this); }

// The thread's own two fibers (its main one and the scheduler's) stay; all others may go wherever they are taken.
void Stealing::awakened(fibers::context* fiber) noexcept {
  const bool moves = !fiber->is_context(fibers::type::pinned_context);
  if (moves) {
    fiber->detach();
  }
  bool backlog = false;
  {
    const std::scoped_lock lock(mutex_);
    ready_.push_back(fiber);
    backlog = moves && ready_.size() > 1;
  }
  if (backlog) {
    team_->wake_one();
  }
}

fibers::context* Stealing::pick_next() noexcept {
  auto* fiber = pop(true);
  if (fiber == nullptr) {
    fiber = team_->steal_for(index_);
  }
  if (fiber != nullptr && !fiber->is_context(fibers::type::pinned_context)) {
    fibers::context::active()->attach(fiber);
  }
  return fiber;
}

fibers::context* Stealing::steal() noexcept { return pop(false); }

fibers::context* Stealing::pop(bool own) noexcept {
  const std::scoped_lock lock(mutex_);
  const auto may_go = [own](fibers::context* fiber) { return own || !fiber->is_context(fibers::type::pinned_context); };
  const auto found = std::ranges::find_if(ready_, may_go);
  if (found == ready_.end()) {
    return nullptr;
  }
  auto* fiber = *found;
  ready_.erase(found);
  return fiber;
}

bool Stealing::has_ready_fibers() const noexcept {
  const std::scoped_lock lock(mutex_);
  return !ready_.empty();
}

void Stealing::suspend_until(const std::chrono::steady_clock::time_point& until) noexcept {
  // A fiber that became ready elsewhere just before this sleep is found at its end.
  constexpr auto longest = std::chrono::nanoseconds(std::chrono::milliseconds(1));
  const auto left = std::clamp<std::chrono::nanoseconds>(until - std::chrono::steady_clock::now(), {}, longest);
  auto before = awake;
  if (bell_.compare_exchange_strong(before, asleep)) {
    const timespec bound{.tv_sec = 0, .tv_nsec = left.count()};
    syscall(SYS_futex, &bell_, FUTEX_WAIT_PRIVATE, asleep, &bound, nullptr, 0);
  }
  bell_ = awake;
}

// From the exchange on this object may be gone: the kernel looks at the address alone.
void Stealing::notify() noexcept {
  if (bell_.exchange(rung) == asleep) {
    syscall(SYS_futex, &bell_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
}

bool Stealing::wake() noexcept {
  auto before = asleep;
  const bool slept = bell_.compare_exchange_strong(before, rung);
  if (slept) {
    syscall(SYS_futex, &bell_, FUTEX_WAKE_PRIVATE, 1, nullptr, nullptr, 0);
  }
  return slept;
}

}  // namespace workloads
