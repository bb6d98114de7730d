// SPDX-License-Identifier: BSD-3-Clause
#include "grid/halo.h"

#include <algorithm>
#include <type_traits>

#include "common/mpi_process.h"

namespace workloads {
namespace {

Triple opposite(const Triple& direction) { return {-direction[0], -direction[1], -direction[2]}; }

/// 0 to 26.
int code(const Triple& direction) { return ((direction[0] + 1) * 9) + ((direction[1] + 1) * 3) + direction[2] + 1; }

/// Axes before `with_ghosts_before` are sent with their ghosts.
HaloPart make_part(const Decomposition& ranks, const Triple& interior, const Triple& direction,
                   int with_ghosts_before) {
  HaloPart part{.direction = direction, .neighbour = ranks.neighbour(direction), .send = {}, .receive = {}};
  for (int a = 0; a < 3; ++a) {
    const auto axis = static_cast<std::size_t>(a);
    const int n = interior[axis];
    if (direction[axis] == 0) {
      const int ghost = a < with_ghosts_before ? 1 : 0;
      part.send.begin[axis] = part.receive.begin[axis] = 1 - ghost;
      part.send.end[axis] = part.receive.end[axis] = n + 1 + ghost;
    } else {
      part.send.begin[axis] = direction[axis] > 0 ? n : 1;
      part.send.end[axis] = part.send.begin[axis] + 1;
      part.receive.begin[axis] = direction[axis] > 0 ? n + 1 : 0;
      part.receive.end[axis] = part.receive.begin[axis] + 1;
    }
  }
  return part;
}

template <class T>
MPI_Datatype type_of() {
  return std::is_same_v<T, float> ? MPI_FLOAT : MPI_DOUBLE;
}

}  // namespace

std::vector<HaloPart> all_parts(const Decomposition& ranks, const Triple& interior, bool corners) {
  constexpr int last = 26;
  constexpr int centre = last / 2;
  std::vector<HaloPart> parts;
  for (int c = 0; c < centre; ++c) {
    const Triple direction{(c / 9) - 1, (c / 3 % 3) - 1, (c % 3) - 1};
    const auto axes = std::ranges::count_if(direction, [](int step) { return step != 0; });
    if (corners || axes == 1) {
      parts.push_back(make_part(ranks, interior, direction, 0));
      parts.push_back(make_part(ranks, interior, opposite(direction), 0));
    }
  }
  return parts;
}

std::vector<HaloPart> axis_parts(const Decomposition& ranks, const Triple& interior, int axis) {
  Triple direction{};
  direction[static_cast<std::size_t>(axis)] = -1;
  return {make_part(ranks, interior, direction, axis), make_part(ranks, interior, opposite(direction), axis)};
}

template <class T>
HaloExchange<T>::HaloExchange(int rank, const std::vector<HaloPart>& parts, const Layout& layout, std::size_t variables,
                              int tag)
    : rank_(rank), layout_(layout), tag_(tag) {
  for (const auto& part : parts) {
    const std::size_t values = part.neighbour < 0 ? 0 : part.send.points() * variables;
    const std::size_t arriving = part.neighbour < 0 ? 0 : part.receive.points() * variables;
    messages_.push_back({.part = part, .out = std::vector<T>(values), .in = std::vector<T>(arriving)});
  }
  requests_.reserve(2 * messages_.size());
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
                        tag_ + code(opposite(message.part.direction)), MPI_COMM_WORLD, &requests_.emplace_back()),
              "MPI_Irecv");
    }
  }
}

template <class T>
void HaloExchange<T>::post_sends(Fields fields) {
  for (auto& message : messages_) {
    pack(message, fields);
    if (travels(message)) {
      require(MPI_Isend(message.out.data(), static_cast<int>(message.out.size()), type_of<T>(), message.part.neighbour,
                        tag_ + code(message.part.direction), MPI_COMM_WORLD, &requests_.emplace_back()),
              "MPI_Isend");
    }
  }
}

template <class T>
void HaloExchange<T>::wait() {
  require(MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE), "MPI_Waitall");
  requests_.clear();
}

template <class T>
void HaloExchange<T>::unpack(Fields fields) {
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    if (messages_[i].part.neighbour == rank_) {
      messages_[i].in = messages_[i ^ 1U].out;  // opposite directions stand side by side
    }
    unpack(messages_[i], fields);
  }
}

template <class T>
void HaloExchange<T>::exchange_blocking(Fields fields) {
  for (auto& message : messages_) {
    pack(message, fields);
  }
  const auto peer = [&](const Message& message) { return travels(message) ? message.part.neighbour : MPI_PROC_NULL; };
  for (std::size_t i = 0; i < messages_.size(); ++i) {
    auto& to = messages_[i];
    auto& from = messages_[i ^ 1U];
    const int tag = tag_ + code(to.part.direction);
    require(MPI_Sendrecv(to.out.data(), static_cast<int>(to.out.size()), type_of<T>(), peer(to), tag, from.in.data(),
                         static_cast<int>(from.in.size()), type_of<T>(), peer(from), tag, MPI_COMM_WORLD,
                         MPI_STATUS_IGNORE),
            "MPI_Sendrecv");
  }
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
void HaloExchange<T>::unpack(const Message& message, Fields fields) {
  auto place = message.in.begin();
  for (T* field : message.in.empty() ? Fields{} : fields) {
    for_each_row(layout_, message.part.receive, [&](std::size_t first, std::size_t length) {
      std::copy_n(place, length, field + first);
      place += static_cast<std::ptrdiff_t>(length);
    });
  }
}

template class HaloExchange<float>;
template class HaloExchange<double>;

}  // namespace workloads
