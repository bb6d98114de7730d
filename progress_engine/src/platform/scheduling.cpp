// SPDX-License-Identifier: BSD-3-Clause
#include "platform/scheduling.hpp"

#include <sched.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <memory>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "platform/placement.hpp"

namespace progress_engine {
namespace {

// struct sched_attr of linux/sched/types.h, version 1: that header cannot be included beside <sched.h>.
struct KernelSchedulingAttributes {
  std::uint32_t size = sizeof(KernelSchedulingAttributes);
  std::uint32_t policy = SCHED_OTHER;
  std::uint64_t flags = 0;
  std::int32_t nice = 0;
  std::uint32_t priority = 0;
  std::uint64_t runtime = 0;
  std::uint64_t deadline = 0;
  std::uint64_t period = 0;
  std::uint32_t utilization_minimum = 0;
  std::uint32_t utilization_maximum = 0;
};

std::optional<Nanoseconds> read_slice() {
  KernelSchedulingAttributes attributes;
  if (syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) != 0 || attributes.runtime == 0) return {};
  return static_cast<Nanoseconds>(attributes.runtime);
}

bool is_real_time(std::uint32_t policy) { return policy == SCHED_FIFO || policy == SCHED_RR; }

void on_another_thread(const std::function<void()>& try_it) {
  pthread_join(start_engine_thread("pe-trial", try_it), nullptr);
}

}  // namespace

bool in_real_time_class() {
  constexpr std::uint64_t reset_on_fork = 1;  // SCHED_FLAG_RESET_ON_FORK
  KernelSchedulingAttributes attributes;
  return syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0) == 0 && is_real_time(attributes.policy) &&
         (attributes.flags & reset_on_fork) == 0;
}

void refuse_beside_real_time(bool without_pause) {
  if (without_pause && in_real_time_class())
    throw std::runtime_error(
        "the program runs in a real-time class (SCHED_FIFO or SCHED_RR), in which threads that poll without a pause "
        "would keep everything else from their CPUs; adaptive and timer sleep between polls, and so does offload with "
        "wait=epoll");
}

std::optional<Nanoseconds> schedule_this_thread(const Scheduling& wanted) {
  KernelSchedulingAttributes attributes;
  syscall(SYS_sched_getattr, 0, &attributes, sizeof attributes, 0);
  if (!is_real_time(attributes.policy)) attributes.policy = wanted.idle_class ? SCHED_IDLE : SCHED_OTHER;
  attributes.nice = std::max(attributes.nice, wanted.nice);  // going below the inherited level needs a privilege
  attributes.runtime = static_cast<std::uint64_t>(microseconds(wanted.slice_us));
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  prctl(PR_SET_TIMERSLACK, 1UL);
  return read_slice();
}

bool can_lift_from_idle_class() {
  bool can = false;
  on_another_thread([&] {
    schedule_this_thread({.idle_class = true});
    const bool was_idle = sched_getscheduler(0) == SCHED_IDLE;
    lift_from_idle_class(0, 0);
    can = was_idle && sched_getscheduler(0) == SCHED_OTHER;
  });
  return can;
}

void lift_from_idle_class(int tid, int slice_us) {
  KernelSchedulingAttributes attributes;
  attributes.runtime = static_cast<std::uint64_t>(microseconds(slice_us));
  syscall(SYS_sched_setattr, tid, &attributes, 0);
}

void return_to_idle_class() {
  KernelSchedulingAttributes attributes;
  attributes.policy = SCHED_IDLE;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
}

std::optional<Nanoseconds> probe_slice(Nanoseconds wanted) {
  std::optional<Nanoseconds> slice;
  on_another_thread([&] { slice = schedule_this_thread({.slice_us = static_cast<int>(wanted / 1000)}); });
  return slice;
}

namespace {

struct Start {
  const char* name;
  std::function<void()> body;
};

std::size_t size_of_stack() {
  rlimit limit{};
  getrlimit(RLIMIT_STACK, &limit);
  return std::min<std::size_t>(limit.rlim_cur, unlimited_stack);
}

void* enter(void* argument) {
  const std::unique_ptr<Start> start(static_cast<Start*>(argument));
  pthread_setname_np(pthread_self(), start->name);
  bind_this_thread_to(cpus_of_process());  // what the kernel refuses stays as it was
  start->body();
  return nullptr;
}

}  // namespace

pthread_t start_engine_thread(const char* name, std::function<void()> body) {
  auto start = std::make_unique<Start>(name, std::move(body));
  const ProgramSignalsBlocked blocked;  // the floating-point mode is inherited as well
  pthread_t thread{};
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, size_of_stack());  // refused where it is too small
  int error = pthread_create(&thread, &attributes, enter, start.get());
  pthread_attr_destroy(&attributes);
  if (error == EAGAIN) error = pthread_create(&thread, nullptr, enter, start.get());  // its addresses are limited
  if (error != 0) throw std::system_error(error, std::generic_category(), "a thread could not be started");
  [[maybe_unused]] const Start* const its_own = start.release();
  return thread;
}

bool join_engine_thread(pthread_t thread, Nanoseconds limit) {
  return tried_until(now() + limit, [&] { return pthread_tryjoin_np(thread, nullptr) == 0; });
}

}  // namespace progress_engine
