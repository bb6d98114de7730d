// SPDX-License-Identifier: BSD-3-Clause
#include "offload/table.hpp"

#include <algorithm>

#include "mpi/mpi_header.hpp"

namespace progress_engine::offload {

void Table::learn_empty_status() {
  MPI_Request none = handles_.request_null;
  int flag = 0;
  PE_PMPI(MPI_Test)(&none, &flag, &empty_);
}

void Table::adopt(Operation& operation, int code) {
  if (operation.detached) detached_.store(detached() + 1, std::memory_order_relaxed);
  if (code != MPI_SUCCESS || operation.real == handles_.request_null) {
    complete(operation, empty_, code);
    return;
  }
  operation.listed = static_cast<std::uint32_t>(requests_.size());
  requests_.push_back(operation.real);
  operations_.push_back(&operation);
}

void Table::adopt(Attempt& attempt) { attempts_.push_back(&attempt); }

void Table::remove(Operation& operation) {
  const std::size_t place = operation.listed;
  if (place == Operation::not_listed) return;
  operation.listed = Operation::not_listed;
  operation.real = requests_[place];  // none, if the MPI has freed it
  requests_[place] = requests_.back();
  operations_[place] = operations_.back();
  if (operations_[place] != &operation) operations_[place]->listed = static_cast<std::uint32_t>(place);
  requests_.pop_back();
  operations_.pop_back();
}

void Table::complete(Operation& operation, const MPI_Status& status, int code) {
  operation.status = status;
  operation.code = code;
  if (operation.detached) {
    detached_.store(detached() - 1, std::memory_order_relaxed);
    proxies_.give_back(static_cast<Proxy&>(operation));
  } else {
    operation.completion.complete();  // the owner may be gone from here on
  }
}

void Table::lacks(Proxy& proxy, int lacking) {
  lacking = std::max(0, lacking);
  waiting_for_the_program_ += (lacking > 0 ? 1 : 0) - (proxy.lacking > 0 ? 1 : 0);
  proxy.lacking = lacking;
}

bool Table::advance() {
  if (waiting_for_the_program_ > 0 && awaited() == 0 && !take_test_in_vain()) return false;
  const bool moved = requests_.size() == 1 ? test_one() : !requests_.empty() && test_some();
  return try_attempts() || moved;
}

bool Table::test_one() {
  Operation& operation = *operations_.front();
  MPI_Status status = empty_;
  int flag = 0;
  const int code = PE_PMPI(MPI_Test)(requests_.data(), &flag, &status);
  if (flag == 0 && code == MPI_SUCCESS) return false;
  remove(operation);
  complete(operation, status, code);
  return true;
}

// One pass of the MPI's progress for all.
bool Table::test_some() {
  const auto count = requests_.size();
  indices_.resize(count);
  statuses_.resize(count);
  int done = 0;
  const int code =
      PE_PMPI(MPI_Testsome)(static_cast<int>(count), requests_.data(), &done, indices_.data(), statuses_.data());
  if (done == MPI_UNDEFINED || done <= 0) return false;
  completed_.clear();
  for (int i = 0; i < done; ++i)
    completed_.push_back(operations_[static_cast<std::size_t>(indices_[static_cast<std::size_t>(i)])]);
  for (int i = 0; i < done; ++i) {
    Operation& operation = *completed_[static_cast<std::size_t>(i)];
    const MPI_Status& status = statuses_[static_cast<std::size_t>(i)];
    remove(operation);
    complete(operation, status, code == MPI_ERR_IN_STATUS ? status.MPI_ERROR : code);
  }
  return true;
}

bool Table::try_attempts() {
  bool moved = false;
  for (std::size_t i = 0; i < attempts_.size();) {
    Attempt& attempt = *attempts_[i];
    if (!attempt.attempt(attempt.closure, &attempt.code)) {
      ++i;
      continue;
    }
    attempts_[i] = attempts_.back();
    attempts_.pop_back();
    attempt.completion.complete();
    moved = true;
  }
  return moved;
}

void Table::nudge() {
  if (progress_function_) progress_function_->poll();
}

void Table::rouse_waiters() {
  for (Operation* operation : operations_) operation->completion.rouse_waiter();
  for (Attempt* attempt : attempts_) attempt->completion.rouse_waiter();
}

std::size_t Table::awaited() const {
  const auto waits = [](const Operation* operation) { return operation->completion.awaited(); };
  return attempts_.size() + static_cast<std::size_t>(std::ranges::count_if(operations_, waits));
}

}  // namespace progress_engine::offload
