// SPDX-License-Identifier: BSD-3-Clause
#include "common/thread_usage.h"

#include <sys/resource.h>

#include "common/clock.h"

namespace workloads {
namespace {

Switches switches_of(__rusage_who_t who) noexcept {
  rusage usage{};
  getrusage(who, &usage);
  return {.voluntary = usage.ru_nvcsw, .involuntary = usage.ru_nivcsw};
}

Switches operator-(const Switches& end, const Switches& begin) noexcept {
  return {.voluntary = end.voluntary - begin.voluntary, .involuntary = end.involuntary - begin.involuntary};
}

}  // namespace

Switches thread_switches() noexcept { return switches_of(RUSAGE_THREAD); }

Usage read_usage() noexcept {
  Switches thread = thread_switches();
  Switches process = switches_of(RUSAGE_SELF);
  // A switch between the two readings would count for other threads, at times with a negative sign.
  for (Switches again = thread_switches(); again != thread; again = thread_switches()) {
    thread = again;
    process = switches_of(RUSAGE_SELF);
  }
  return {.cpu_s = process_cpu_s(), .application = thread, .other = process - thread};
}

Usage operator-(const Usage& end, const Usage& begin) noexcept {
  return {
      .cpu_s = end.cpu_s - begin.cpu_s,
      .application = end.application - begin.application,
      .other = end.other - begin.other,
  };
}

}  // namespace workloads
