// SPDX-License-Identifier: BSD-3-Clause
// A mutex that no child of fork() finds held.
#pragma once

#include <mutex>

namespace progress_engine {

// In a child of fork() only the thread that forked is there: nobody gives back what another thread held. So fork()
// waits until nobody holds one of these, and holds them all until it is over, in both processes (pthread_atfork,
// POSIX.1). As std::mutex for the rest. Who holds one neither takes another nor forks: so their order does not matter.
class ForkMutex {
 public:
  ForkMutex();
  ~ForkMutex();
  ForkMutex(const ForkMutex&) = delete;
  ForkMutex& operator=(const ForkMutex&) = delete;

  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  std::mutex mutex_;
};

}  // namespace progress_engine
