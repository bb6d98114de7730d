// SPDX-License-Identifier: BSD-3-Clause
// What is pending in the MPI, and how it completes. The communication thread's alone.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "mpi/mpi_handles.hpp"
#include "mpi/progress.hpp"
#include "mpi/quirks.hpp"
#include "offload/operation.hpp"

namespace progress_engine::offload {

// A call that has no request to wait for, but a nonblocking form that can be tried again (MPI_Probe, MPI_Win_wait).
struct Attempt : Command {
  // True once it is done; `code` is the call's result.
  bool (*attempt)(void* closure, int* code) = nullptr;
  void* closure = nullptr;
  int code = MPI_SUCCESS;
  Completion completion;
};

class Table : public Progress {
 public:
  Table(const MpiHandles& handles, Pool<Proxy>& proxies) : handles_(handles), proxies_(proxies) {}

  // What the start of `operation` gave: it is pending now, or done.
  void adopt(Operation& operation, int code);
  // Takes a pending one out: its request is freed or its owner gone.
  void remove(Operation& operation);
  void adopt(Attempt& attempt);

  bool advance() override;
  bool pending() const override { return !requests_.empty() || !in_order_.empty() || !attempts_.empty(); }
  void nudge() override;
  bool exposed() const override { return windows_ > 0; }
  void rouse_waiters() override;

  // How many partitions a partitioned send waits for from now on (of a receive: 1 for its first start). While one waits
  // nothing is polled unless a thread waits for an operation or tests, see mpi/requests.hpp.
  void lacks(Proxy& proxy, int lacking);

  // Some communicator has another than the one that ends the program.
  void error_handler_set() { error_handler_set_ = true; }
  void window_made() {
    ++windows_;
    had_windows_.store(true, std::memory_order_relaxed);
  }
  bool had_windows() const { return had_windows_.load(std::memory_order_relaxed); }  // any thread
  void window_freed() { --windows_; }
  void use_progress_function(std::unique_ptr<NamedProgressFunction> function) {
    progress_function_ = std::move(function);
  }
  void release_progress_function() { progress_function_.reset(); }

  // Sends that returned before they were done; they must be before MPI_Finalize. Any thread.
  std::size_t detached() const { return detached_.load(std::memory_order_relaxed); }
  // Calls in which a thread of the program waits.
  std::size_t awaited() const;
  const MPI_Status& empty_status() const { return empty_; }
  const Quirks& quirks() const { return quirks_; }
  // Asks the MPI what it is and what an empty status is (MPI 4.0, section 3.7.3). After MPI_Init.
  void learn_of_mpi();

 private:
  bool must_be_looked_at(const Operation& operation) const;
  void test(std::size_t place);
  void test(Operation& operation, MPI_Request& request);
  bool test_in_order();
  bool test_each();
  bool test_some();
  bool tell();
  bool try_attempts();
  void complete(Operation& operation);

  const MpiHandles& handles_;
  Pool<Proxy>& proxies_;
  std::unique_ptr<NamedProgressFunction> progress_function_;
  std::vector<MPI_Request> requests_;   // the MPI's, dense, as MPI_Testsome wants them
  std::vector<Operation*> operations_;  // whose they are
  std::vector<Operation*> in_order_;    // not among these
  std::vector<Attempt*> attempts_;
  std::vector<int> indices_;
  std::vector<MPI_Status> statuses_;
  std::vector<Operation*> completed_;
  MPI_Status empty_{};
  Quirks quirks_;
  std::atomic<std::size_t> detached_{0};        // written by the communication thread alone
  std::atomic<bool> error_handler_set_{false};  // these two by any thread
  std::atomic<int> windows_{0};
  std::atomic<bool> had_windows_{false};
  int waiting_for_the_program_ = 0;
};

}  // namespace progress_engine::offload
