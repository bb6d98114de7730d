// SPDX-License-Identifier: BSD-3-Clause
#pragma once

#include <csignal>

#include "core/breakable.hpp"

namespace progress_engine {

// Engine threads run none of the program's signal handlers: threads inherit what their creator blocks.
class AllSignalsBlocked {
 public:
  AllSignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    if (broken("signals")) sigemptyset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~AllSignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  AllSignalsBlocked(const AllSignalsBlocked&) = delete;
  AllSignalsBlocked& operator=(const AllSignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace progress_engine
