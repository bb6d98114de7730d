// SPDX-License-Identifier: BSD-3-Clause
#include "ult/tasks.h"

#include <cstdint>

#include "common/mpi_process.h"
#include "ult/threading.h"

namespace workloads {
namespace {

int count_of(const Payload& payload) { return static_cast<int>(payload.size()); }

MPI_Request start_send(Payload& payload, int partner, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Isend(payload.data(), count_of(payload), MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request));
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): MPI_Testall completes it
  return request;
}

MPI_Request start_receive(Payload& payload, int partner, int tag) {
  MPI_Request request = MPI_REQUEST_NULL;
  require(MPI_Irecv(payload.data(), count_of(payload), MPI_BYTE, partner, tag, MPI_COMM_WORLD, &request));
  // NOLINTNEXTLINE(clang-analyzer-optin.mpi.MPI-Checker): MPI_Testall completes it
  return request;
}

}  // namespace

template <std::size_t count>
void Messenger::finish(std::array<MPI_Request, count> requests) const {
  for (int done = 0; done == 0;) {
    require(MPI_Testall(count, requests.data(), &done, MPI_STATUSES_IGNORE));
    if (done == 0) {
      yield_();
    }
  }
}

void Messenger::send(Payload& payload, int tag) const {
  if (yield_) {
    finish(std::array{start_send(payload, partner_, tag)});
  } else {
    require(MPI_Send(payload.data(), count_of(payload), MPI_BYTE, partner_, tag, MPI_COMM_WORLD));
  }
}

void Messenger::receive(Payload& payload, int tag) const {
  if (yield_) {
    finish(std::array{start_receive(payload, partner_, tag)});
  } else {
    require(MPI_Recv(payload.data(), count_of(payload), MPI_BYTE, partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
}

void Messenger::exchange(Payload& out, Payload& in, int tag) const {
  if (yield_) {
    const auto receiving = start_receive(in, partner_, tag);
    finish(std::array{receiving, start_send(out, partner_, tag)});
  } else {
    require(MPI_Sendrecv(out.data(), count_of(out), MPI_BYTE, partner_, tag, in.data(), count_of(in), MPI_BYTE,
                         partner_, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  }
}

namespace {

bool suspends(const std::string& threading) { return threading == "ult" && engine_suspends_user_level_threads(); }

}  // namespace

Tasks::Tasks(std::size_t count, const Json& point, const Parameters& parameters, int partner)
    : count_(count),
      workers_(workers_of(point, parameters)),
      threading_(choice_of(point, parameters, "threading")),
      suspending_(suspends(threading_)),
      messenger_(partner, threading_ == "ult" && !suspending_ ? yield_user_level_thread : std::function<void()>()) {}

double Tasks::run(const Body& body) const {
  return threading_ == "kernel" ? run_kernel_threads(count_, body) : run_on_workers(body);
}

double Tasks::run_on_workers(const Body& body) const { return run_user_level_threads(workers_, count_, body); }

std::string_view Tasks::waits() const {
  if (threading_ != "ult") {
    return "blocking";
  }
  return suspending_ ? "suspending" : "test-and-yield";
}

Exchanges::Exchanges(std::size_t count, std::size_t bytes) {
  tasks_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    tasks_.push_back({
        .out = Payload(bytes),
        .in = Payload(bytes),
        .work = make_fixed_work(WorkKind::register_bound),
        .problem = "",
    });
  }
}

std::uint64_t Exchanges::seed_of(std::size_t i, std::uint64_t batch, bool from_sender) const {
  return (2 * ((batch * tasks_.size()) + i)) + (from_sender ? 0 : 1);
}

void Exchanges::fill(std::size_t i, std::uint64_t batch, bool from_sender) {
  tasks_[i].out.fill(seed_of(i, batch, from_sender));
}

void Exchanges::exchange(std::size_t i, const Messenger& messenger) {
  messenger.exchange(tasks_[i].out, tasks_[i].in, first_task_tag + static_cast<int>(i));
}

void Exchanges::compute(std::size_t i, std::uint64_t units) { tasks_[i].work->run(units); }

void Exchanges::check(std::size_t i, std::uint64_t batch, bool from_sender) {
  if (tasks_[i].problem.empty()) {
    tasks_[i].problem = tasks_[i].in.check(seed_of(i, batch, from_sender));
  }
}

std::string Exchanges::problem() {
  std::string first;
  for (auto& task : tasks_) {
    first = first.empty() ? task.problem : first;
    task.problem.clear();
  }
  return first;
}

}  // namespace workloads
