// SPDX-License-Identifier: BSD-3-Clause
#include "common/halo.h"

#include <algorithm>
#include <array>
#include <type_traits>

#include "common/clock.h"
#include "common/mpi_process.h"

namespace workloads {
namespace {

/// 0 to 26.
int code(const Triple& direction) { return ((direction[0] + 1) * 9) + ((direction[1] + 1) * 3) + direction[2] + 1; }

template <class T>
MPI_Datatype type_of() {
  return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}

}  // namespace

template <class T>
HaloExchange<T>::HaloExchange(int rank, const std::vector<HaloPart>& parts, const Layout& layout, std::size_t variables,
                              int tag)
    : rank_(rank), layout_(layout), tag_(tag) {
  for (const auto& part : parts) {
    const std::size_t values = part.neighbour < 0 ? 0 : part.send.points() * variables;
    const std::size_t arriving = part.neighbour < 0 || part.neighbour == rank ? 0 : part.receive.points() * variables;
    messages_.push_back({.part = part, .out = std::vector<T>(values), .in = std::vector<T>(arriving)});
  }
  requests_.reserve(2 * messages_.size());
  arriving_.reserve(2 * messages_.size());
}

template <class T>
bool HaloExchange<T>::travels(const Message& message) const noexcept {
  return message.part.neighbour >= 0 && message.part.neighbour != rank_;
}

template <class T>
void HaloExchange<T>::post_receives() {
  for (auto& message : messages_) {
    if (travels(message)) {
      // The neighbour sends it in the opposite direction.
      require(MPI_Irecv(message.in.data(), static_cast<int>(message.in.size()), type_of<T>(), message.part.neighbour,
                        tag_ + code(opposite_of(message.part.direction)), MPI_COMM_WORLD, &requests_.emplace_back()));
      arriving_.push_back(&message);
    }
  }
}

template <class T>
void HaloExchange<T>::start_send(Message& message) {
  if (travels(message)) {
    require(MPI_Isend(message.out.data(), static_cast<int>(message.out.size()), type_of<T>(), message.part.neighbour,
                      tag_ + code(message.part.direction), MPI_COMM_WORLD, &requests_.emplace_back()));
    arriving_.push_back(nullptr);
    ++sent_;
  }
}

template <class T>
void HaloExchange<T>::post_sends(Fields fields) {
  for (auto& message : messages_) {
    pack(message, fields);
    start_send(message);
  }
  copy_own(fields);
}

template <class T>
void HaloExchange<T>::pack(Fields fields) {
  for (auto& message : messages_) {
    pack(message, fields);
  }
}

template <class T>
void HaloExchange<T>::start_sends() {
  for (auto& message : messages_) {
    start_send(message);
  }
}

template <class T>
void HaloExchange<T>::send() {
  for (auto& message : messages_) {
    if (travels(message)) {
      require(MPI_Send(message.out.data(), static_cast<int>(message.out.size()), type_of<T>(), message.part.neighbour,
                       tag_ + code(message.part.direction), MPI_COMM_WORLD));
      ++sent_;
    }
  }
}

template <class T>
void HaloExchange<T>::wait() {
  require(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE));
  requests_.clear();
  arriving_.clear();
}

template <class T>
void HaloExchange<T>::copy_own(Fields fields) {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i].part.neighbour == rank_) {
      write(messages_[i].part.receive, messages_[i ^ 1U].out, fields);  // opposite directions stand side by side
    }
  }
}

template <class T>
void HaloExchange<T>::unpack(Fields fields) {
  for (const auto& message : messages_) {
    write(message.part.receive, message.in, fields);
  }
}

template <class T>
double HaloExchange<T>::unpack_as_they_come(Fields fields) {
  double in_mpi_s = 0;
  for (int index = 0;;) {
    const auto begin = Clock::now();
    require(MPI_Waitany(static_cast<int>(requests_.size()), requests_.data(), &index, MPI_STATUS_IGNORE));
    in_mpi_s += seconds_since(begin);
    if (index == MPI_UNDEFINED) {
      break;
    }
    if (const auto* message = arriving_[static_cast<std::size_t>(index)]) {
      write(message->part.receive, message->in, fields);
    }
  }
  requests_.clear();
  arriving_.clear();
  return in_mpi_s;
}

template <class T>
void HaloExchange<T>::exchange(std::size_t message, const std::function<void()>& yield) {
  if (!travels(messages_[message])) {
    return;
  }
  auto& [part, out, in] = messages_[message];
  const int peer = part.neighbour;
  const int there = tag_ + code(part.direction);
  const int back = tag_ + code(opposite_of(part.direction));
  const auto sent = static_cast<int>(out.size());
  const auto received = static_cast<int>(in.size());
  const auto type = type_of<T>();
  if (!yield) {
    require(MPI_Sendrecv(out.data(), sent, type, peer, there, in.data(), received, type, peer, back, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE));
    return;
  }
  std::array<MPI_Request, 2> requests{};
  require(MPI_Irecv(in.data(), received, type, peer, back, MPI_COMM_WORLD, requests.data()));
  require(MPI_Isend(out.data(), sent, type, peer, there, MPI_COMM_WORLD, &requests[1]));
  for (int done = 0; done == 0;) {
    require(MPI_Testall(2, requests.data(), &done, MPI_STATUSES_IGNORE));
    if (done == 0) {
      yield();
    }
  }
}

template <class T>
void HaloExchange<T>::exchange_blocking(Fields fields) {
  pack(fields);
  const auto peer = [&](const Message& message) { return travels(message) ? message.part.neighbour : MPI_PROC_NULL; };
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    auto& to = messages_[i];
    auto& from = messages_[i ^ 1U];
    const int tag = tag_ + code(to.part.direction);
    require(MPI_Sendrecv(to.out.data(), static_cast<int>(to.out.size()), type_of<T>(), peer(to), tag, from.in.data(),
                         static_cast<int>(from.in.size()), type_of<T>(), peer(from), tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE));
    sent_ += travels(to) ? 1 : 0;
  }
  copy_own(fields);
  unpack(fields);
}

template <class T>
void HaloExchange<T>::pack(Message& message, Fields fields) const {
  auto place = message.out.begin();
  for (const T* field : message.out.empty() ? Fields{} : fields) {
    for_each_row(layout_, message.part.send,
                 [&](std::size_t first, std::size_t length) { place = std::copy_n(field + first, length, place); });
  }
}

template <class T>
void HaloExchange<T>::write(const Box& box, const std::vector<T>& values, Fields fields) const {
  auto place = values.begin();
  for (T* field : values.empty() ? Fields{} : fields) {
    for_each_row(layout_, box, [&](std::size_t first, std::size_t length) {
      std::copy_n(place, length, field + first);
      place += static_cast<std::ptrdiff_t>(length);
    });
  }
}

template class HaloExchange<float>;
template class HaloExchange<double>;

}  // namespace workloads
