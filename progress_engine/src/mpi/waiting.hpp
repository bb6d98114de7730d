// SPDX-License-Identifier: BSD-3-Clause
// What the interposed blocking calls do instead of the MPI's own waiting when the policy says waiting=managed.
#pragma once

#include "mpi/call.hpp"
#include "mpi/managed_wait.hpp"
#include "platform/platform.hpp"

namespace progress_engine {

// While it lives, the thread is asleep in its call: in nobody's way inside MPI, and itself a reason to poll.
class Asleep {
 public:
  explicit Asleep(Call& call) : call_(call) { call_.sleeps(); }
  ~Asleep() { call_.awakes(); }
  Asleep(const Asleep&) = delete;
  Asleep& operator=(const Asleep&) = delete;

 private:
  Call& call_;
};

// `test(&done)` is one nonblocking test of what `native()` waits for.
template <typename Test>
[[gnu::noinline]] int wait_for(Call& call, ManagedWaits* waits, Test test) {
  int done = 0;
  const ManagedWaits::Test plain = [](void* operation, int* ended) { return (*static_cast<Test*>(operation))(ended); };
  int code = waits->spin(plain, &test, done);
  if (done == 0 && code == MPI_SUCCESS) {
    const Asleep asleep(call);
    code = waits->sleep(plain, &test, done, [&] { return call.managed_waits() != nullptr; });
  }
  while (done == 0 && code == MPI_SUCCESS) code = test(&done);  // switched off meanwhile: as most MPIs wait
  return code;
}

template <typename Test, typename Native>
PE_ALWAYS_INLINE int managed_wait(Call& call, Test test, Native native) {
  ManagedWaits* waits = call.managed_waits();
  return waits ? wait_for(call, waits, test) : native();
}

// A blocking call as its nonblocking start and a managed wait.
template <typename Start>
[[gnu::noinline]] int start_and_wait(Call& call, MPI_Status* status, Start start) {
  MPI_Request request{};
  if (const int code = start(&request); code != MPI_SUCCESS) return code;
  return managed_wait(
      call, [&](int* done) { return PE_PMPI(MPI_Test)(&request, done, status); },
      [&] { return PE_PMPI(MPI_Wait)(&request, status); });
}

template <typename Start, typename Native>
PE_ALWAYS_INLINE int managed_operation(Call& call, MPI_Status* status, Start start, Native native) {
  return call.managed_waits() ? start_and_wait(call, status, start) : native();
}

inline auto test_one(MPI_Request* request, MPI_Status* status) {
  return [=](int* done) { return PE_PMPI(MPI_Test)(request, done, status); };
}

// One after the other: MPICH 5 returns errors from MPI_Testall for partitioned requests that MPI_Waitall takes.
class OneByOne {
 public:
  OneByOne(int count, MPI_Request* requests, MPI_Status* statuses)
      : count_(count), requests_(requests), statuses_(statuses) {}

  int operator()(int* done) {
    for (; next_ < count_; ++next_) {
      int flag = 0;
      MPI_Status* status = statuses_ == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses_[next_];
      const int code = PE_PMPI(MPI_Test)(&requests_[next_], &flag, status);
      if (code == MPI_SUCCESS && !flag) return MPI_SUCCESS;
      if (status != MPI_STATUS_IGNORE) status->MPI_ERROR = code;
      if (code != MPI_SUCCESS) code_ = MPI_ERR_IN_STATUS;
    }
    *done = 1;
    return code_;
  }

 private:
  int count_;
  MPI_Request* requests_;
  MPI_Status* statuses_;
  int next_ = 0;
  int code_ = MPI_SUCCESS;
};

inline auto test_all(int count, MPI_Request* requests, MPI_Status* statuses) {
  return OneByOne(count, requests, statuses);
}

inline auto test_any(int count, MPI_Request* requests, int* index, MPI_Status* status) {
  return [=](int* done) { return PE_PMPI(MPI_Testany)(count, requests, index, done, status); };
}

// MPI_Testsome has no flag: it is done once it has completed something, or finds nothing to wait for.
inline auto test_some(int count, MPI_Request* requests, int* number, int* indices, MPI_Status* statuses) {
  return [=](int* done) {
    const int code = PE_PMPI(MPI_Testsome)(count, requests, number, indices, statuses);
    *done = *number != 0 ? 1 : 0;
    return code;
  };
}

}  // namespace progress_engine
