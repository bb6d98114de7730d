// SPDX-License-Identifier: BSD-3-Clause
// The exchange of a block's surface with its neighbours' ghosts.
#pragma once

#include <mpi.h>

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "common/grid.h"

namespace workloads {

/// The messages of one list of parts, all variables of a neighbour in one message. T is float or double. A neighbour
/// that is this rank itself is copied, without MPI. Used from one thread; a rank's error ends the whole job.
template <class T>
class HaloExchange {
 public:
  using Fields = std::span<T* const>;  ///< the variables' blocks, each laid out as `layout`

  /// `tag`: exchanges that run at the same time need tags that are `tags` apart.
  HaloExchange(int rank, const std::vector<HaloPart>& parts, const Layout& layout, std::size_t variables, int tag = 0);
  HaloExchange(const HaloExchange&) = delete;
  HaloExchange& operator=(const HaloExchange&) = delete;
  HaloExchange(HaloExchange&&) noexcept = default;
  HaloExchange& operator=(HaloExchange&&) noexcept = default;
  ~HaloExchange() = default;

  static constexpr int tags = 27;

  void post_receives();
  /// Ghosts that are this rank's own points are there after it.
  void post_sends(Fields fields);
  void wait();  ///< for all that was posted
  void unpack(Fields fields);

  /// post_sends() in two steps, for who times the calls without the copying.
  void pack(Fields fields);
  void start_sends();
  /// MPI_Send to one neighbour after the other, of what was packed; the receives must be posted.
  void send();

  /// In place of wait() and unpack(): each message is unpacked when it has come, whichever is first. The seconds of it
  /// that were spent in MPI.
  double unpack_as_they_come(Fields fields);

  [[nodiscard]] std::size_t messages() const noexcept { return messages_.size(); }
  /// One message of those packed, both ways: by MPI_Sendrecv or, with `yield`, by MPI_Testall and yield() in turn. For
  /// a thread a neighbour: different messages may go at the same time, and are not counted in sent().
  void exchange(std::size_t message, const std::function<void()>& yield);

  /// All of it by MPI_Sendrecv, one direction after the other.
  void exchange_blocking(Fields fields);

  /// Messages that this rank has sent to others so far.
  [[nodiscard]] std::int64_t sent() const noexcept { return sent_; }

 private:
  struct Message {
    HaloPart part;
    std::vector<T> out;
    std::vector<T> in;
  };
  [[nodiscard]] bool travels(const Message& message) const noexcept;
  void pack(Message& message, Fields fields) const;
  void start_send(Message& message);
  void write(const Box& box, const std::vector<T>& values, Fields fields) const;
  void copy_own(Fields fields);

  int rank_;
  Layout layout_;
  int tag_;
  std::vector<Message> messages_;
  std::vector<MPI_Request> requests_;
  std::vector<const Message*> arriving_;  ///< what each request brings; null for what is sent
  std::int64_t sent_ = 0;
};

extern template class HaloExchange<float>;
extern template class HaloExchange<double>;

}  // namespace workloads
