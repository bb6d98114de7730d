// SPDX-License-Identifier: BSD-3-Clause
#include "wait/wait.hpp"

#include <stdexcept>

namespace progress_engine {

WaitStrategy wait_strategy(Wait wait) {
  switch (wait) {
    case Wait::spin:
      return wait_spin;
    case Wait::pause:
      return wait_pause;
    case Wait::yield:
      return wait_yield;
    case Wait::timer:
      return wait_timer;
    case Wait::mwait:
      return wait_mwait;
    case Wait::futex:
      return wait_futex;
    case Wait::epoll:
      break;
  }
  throw std::logic_error("a dedicated thread has no such wait");
}

}  // namespace progress_engine
