// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

#include "core/breakable.hpp"

namespace progress_engine {

// Engine threads run none of the program's signal handlers: threads inherit what their creator blocks. But what a
// thread's own instruction raises stays open: blocked, it would end the process past the program's crash handler.
class ProgramSignalsBlocked {
 public:
  ProgramSignalsBlocked() {
    sigset_t blocked;
    sigfillset(&blocked);
    if (broken("signals")) sigemptyset(&blocked);
    for (const int own : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
      if (!broken("crash-signals")) sigdelset(&blocked, own);
    pthread_sigmask(SIG_SETMASK, &blocked, &before_);
  }
  ~ProgramSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  ProgramSignalsBlocked(const ProgramSignalsBlocked&) = delete;
  ProgramSignalsBlocked& operator=(const ProgramSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace progress_engine
