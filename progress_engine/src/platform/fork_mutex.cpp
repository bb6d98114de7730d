// SPDX-License-Identifier: BSD-3-Clause
#include "platform/fork_mutex.hpp"

#include <pthread.h>

#include <vector>

namespace progress_engine {
namespace {

struct All {
  std::mutex mutex;  // held by a fork, too: none begins or ends meanwhile
  std::vector<ForkMutex*> members;
};

All& all();

void before_fork() {
  all().mutex.lock();
  for (ForkMutex* one : all().members) one->lock();
}

void after_fork() {
  for (ForkMutex* one : all().members) one->unlock();
  all().mutex.unlock();
}

All& all() {
  static auto* them = [] {  // never destroyed: a thread may end, or fork, at any time
    pthread_atfork(before_fork, after_fork, after_fork);
    return new All;
  }();
  return *them;
}

}  // namespace

ForkMutex::ForkMutex() {
  const std::scoped_lock lock(all().mutex);
  all().members.push_back(this);
}

ForkMutex::~ForkMutex() {
  const std::scoped_lock lock(all().mutex);
  std::erase(all().members, this);
}

}  // namespace progress_engine
