// SPDX-License-Identifier: BSD-3-Clause
// A scheduler for Boost.Fiber as MassiveThreads has it (Fukuoka et al., 2019): a ready queue a kernel thread, and who
// finds his own empty takes from the others'. Boost's own work_stealing either spins when there is nothing to do, or
// sleeps and then steals nothing.
#pragma once

#include <atomic>
#include <boost/fiber/algo/algorithm.hpp>
#include <boost/fiber/context.hpp>
#include <boost/fiber/scheduler.hpp>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

namespace workloads {

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

}  // namespace workloads
