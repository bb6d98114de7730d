// SPDX-License-Identifier: BSD-3-Clause
// User-level threads of Boost.Fiber, on kernel threads that steal from each other.
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/barrier.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/fiber.hpp>
#include <boost/fiber/operations.hpp>
#include <boost/fiber/scheduler.hpp>
#include <cstdint>
#include <ctime>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "ult/threading.h"

namespace workloads {

// A scheduler for Boost.Fiber as MassiveThreads has it (Fukuoka et al., 2019): a ready queue a kernel thread, and who
// finds his own empty takes from the others'. Boost's own work_stealing either spins when there is nothing to do, or
// sleeps and then steals nothing.

class Stealing;

/// The kernel threads that steal from each other. It must outlive their schedulers.
class StealingTeam {
 public:
  explicit StealingTeam(std::size_t size) : members_(size), kept_(size) {}

  void join(std::size_t index, Stealing* member);
  /// A fiber of another member than `thief`, or null. Any thread.
  boost::fibers::context* steal_for(std::size_t thief) const;
  /// Wakes one member, if any sleeps.
  void wake_one() const;

 private:
  std::vector<std::atomic<Stealing*>> members_;
  // A thief may still look into the queue of a member whose thread has ended.
  std::vector<boost::fibers::algo::algorithm::ptr_t> kept_;
};

/// Boost.Fiber's interface: all functions but steal(), wake() and notify() are its kernel thread's.
class Stealing final : public boost::fibers::algo::algorithm {
 public:
  Stealing(StealingTeam* team, std::size_t index);

  void awakened(boost::fibers::context* fiber) noexcept override;
  boost::fibers::context* pick_next() noexcept override;
  [[nodiscard]] bool has_ready_fibers() const noexcept override;
  void suspend_until(const std::chrono::steady_clock::time_point& until) noexcept override;
  void notify() noexcept override;

  boost::fibers::context* steal() noexcept;
  /// False if it did not sleep.
  bool wake() noexcept;

 private:
  // Where its kernel thread sleeps: a futex, since who is woken under a mutex would only wait for that.
  enum Bell : std::uint32_t { awake, asleep, rung };

  boost::fibers::context* pop(bool own) noexcept;

  StealingTeam* team_;
  std::size_t index_;
  mutable std::mutex mutex_;
  std::deque<boost::fibers::context*> ready_;
  std::atomic<Bell> bell_{awake};
};

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

// User-level threads of Boost.Fiber.

namespace {

thread_local std::size_t worker_index = 0;

}  // namespace

double run_user_level_threads(std::size_t workers, std::size_t count, const Body& body) {
  StealingTeam team(workers);
  fibers::barrier schedulers_ready(workers);
  fibers::barrier all_done(workers);
  return run_kernel_threads(workers, [&](std::size_t worker) {
    worker_index = worker;
    fibers::use_scheduling_algorithm<Stealing>(&team, worker);
    schedulers_ready.wait();
    std::vector<fibers::fiber> mine;
    for (std::size_t task = worker; task < count; task += workers) {
      mine.emplace_back(fibers::launch::post, [&body, task] { body(task); });
    }
    for (auto& fiber : mine) {
      fiber.join();
    }
    all_done.wait();
  });
}

void run_beside(std::size_t count, const Body& body) {
  std::vector<fibers::fiber> threads;
  threads.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    threads.emplace_back(fibers::launch::post, [&body, i] { body(i); });
  }
  for (auto& thread : threads) {
    thread.join();
  }
}

void yield_user_level_thread() { boost::this_fiber::yield(); }

// Not inlined: the address of a thread-local value must not be kept across a suspension.
[[gnu::noinline]] std::size_t this_worker() { return worker_index; }

}  // namespace workloads
