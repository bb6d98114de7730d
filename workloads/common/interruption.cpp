// SPDX-License-Identifier: BSD-3-Clause
#include "common/interruption.h"

#include <csignal>

namespace workloads {
namespace {

volatile std::sig_atomic_t interrupted = 0;

void note_interruption(int /*signal*/) { interrupted = 1; }

}  // namespace

void watch_for_interruption() {
  struct sigaction action{};
  action.sa_handler = note_interruption;
  action.sa_flags = static_cast<int>(SA_RESETHAND | SA_RESTART);  // the MPI's system calls must not see EINTR
  sigemptyset(&action.sa_mask);
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
}

bool is_interrupted() noexcept { return interrupted != 0; }

}  // namespace workloads
