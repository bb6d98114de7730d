// SPDX-License-Identifier: BSD-3-Clause
#include "offload/table.hpp"

#include <algorithm>
#include <cstdint>

#include "mpi/mpi_header.hpp"

namespace progress_engine::offload {

// Partitions are looked at when the program says so, see lacks().
bool Table::must_be_looked_at(const Operation& operation) const {
  return quirks_.testsome_differs && operation.persistent && static_cast<const Proxy&>(operation).partitions == 0;
}

void Table::learn_of_mpi() {
  quirks_ = quirks_of_this_mpi();
  MPI_Request none = handles_.request_null;
  int flag = 0;
  PE_PMPI(MPI_Test)(&none, &flag, &empty_);
}

void Table::adopt(Operation& operation, int code) {
  if (operation.detached) detached_.store(detached() + 1, std::memory_order_relaxed);
  if (code != MPI_SUCCESS || operation.real == handles_.request_null) {
    operation.status = empty_;
    operation.code = code;
    complete(operation);
    return;
  }
  if (operation.order != 0) {
    in_order_.push_back(&operation);
    return;
  }
  operation.listed = static_cast<std::uint32_t>(requests_.size());
  requests_.push_back(operation.real);
  operations_.push_back(&operation);
  if (!must_be_looked_at(operation)) return;
  completed_.clear();
  test(operation.listed);
  tell();
}

void Table::adopt(Attempt& attempt) { attempts_.push_back(&attempt); }

void Table::remove(Operation& operation) {
  const std::size_t place = operation.listed;
  if (place == Operation::not_listed) {
    std::erase(in_order_, &operation);
    return;
  }
  operation.listed = Operation::not_listed;
  operation.real = requests_[place];  // none, if the MPI has freed it
  requests_[place] = requests_.back();
  operations_[place] = operations_.back();
  if (operations_[place] != &operation) operations_[place]->listed = static_cast<std::uint32_t>(place);
  requests_.pop_back();
  operations_.pop_back();
}

void Table::complete(Operation& operation) {
  if (operation.detached) {
    detached_.store(detached() - 1, std::memory_order_relaxed);
    proxies_.give_back(static_cast<Proxy&>(operation));
  } else {
    operation.completion.complete();  // the owner may be gone from here on
  }
}

void Table::lacks(Proxy& proxy, int lacking) {
  lacking = std::max(0, lacking);
  if (!quirks_.partitioned_alone) return;
  waiting_for_the_program_ += (lacking > 0 ? 1 : 0) - (proxy.lacking > 0 ? 1 : 0);
  if (lacking > 0) take_test_in_vain();  // one that came before is no reason to poll now
  proxy.lacking = lacking;
}

bool Table::advance() {
  if (waiting_for_the_program_ > 0 && awaited() == 0 && !take_test_in_vain()) return false;
  const bool one_by_one = requests_.size() == 1 || (error_handler_set_ && quirks_.testsome_differs);
  const bool moved = one_by_one ? test_each() : !requests_.empty() && test_some();
  const bool moved_files = !in_order_.empty() && test_in_order();
  return try_attempts() || moved || moved_files;
}

// Collective operations of a file move in their order, and only while the program waits for one of them or tests.
// ROMIO, the MPICH family's I/O, does not bear more: their inner collective operations would come in another order on
// another rank, also where one starts while an older one has moved.
bool Table::test_in_order() {
  const bool tests = take_test_in_vain();
  completed_.clear();
  std::vector<std::uint64_t> seen;
  for (Operation* oldest : in_order_) {
    if (std::ranges::find(seen, oldest->order) != seen.end()) continue;
    seen.push_back(oldest->order);
    const auto is_awaited = [&](const Operation* operation) {
      return operation->order == oldest->order && operation->completion.awaited();
    };
    if (tests || std::ranges::any_of(in_order_, is_awaited)) test(*oldest, oldest->real);
  }
  for (Operation* operation : completed_) std::erase(in_order_, operation);
  return tell();
}

// Nobody is told before all were tested, as by MPI_Testsome: who sends to itself finds both ends complete.
// From the last one: what is complete leaves its place to that.
bool Table::test_each() {
  completed_.clear();
  for (std::size_t place = requests_.size(); place-- > 0;) test(place);
  return tell();
}

void Table::test(std::size_t place) { test(*operations_[place], requests_[place]); }

void Table::test(Operation& operation, MPI_Request& request) {
  operation.status = empty_;
  int flag = 0;
  operation.code = PE_PMPI(MPI_Test)(&request, &flag, &operation.status);
  if (flag == 0 && operation.code == MPI_SUCCESS) return;
  if (operation.listed != Operation::not_listed) remove(operation);
  completed_.push_back(&operation);
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
    operation.status = statuses_[static_cast<std::size_t>(i)];
    operation.code = code == MPI_ERR_IN_STATUS ? operation.status.MPI_ERROR : code;
    remove(operation);
  }
  return tell();
}

// Who waits for one of them goes on at once and may ask for the others: those first.
bool Table::tell() {
  std::ranges::partition(completed_, [](const Operation* operation) { return !operation->completion.awaited(); });
  for (Operation* operation : completed_) complete(*operation);
  return !completed_.empty();
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
  if (progress_function_ && waiting_for_the_program_ == 0) progress_function_->poll();
}

void Table::rouse_waiters() {
  for (const auto* pending : {&operations_, &in_order_})
    for (Operation* operation : *pending) operation->completion.rouse_waiter();
  for (Attempt* attempt : attempts_) attempt->completion.rouse_waiter();
}

std::size_t Table::awaited() const {
  const auto waits = [](const Operation* operation) { return operation->completion.awaited(); };
  return attempts_.size() +
         static_cast<std::size_t>(std::ranges::count_if(operations_, waits) + std::ranges::count_if(in_order_, waits));
}

}  // namespace progress_engine::offload
