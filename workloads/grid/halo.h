// SPDX-License-Identifier: BSD-3-Clause
// The exchange of a block's surface with its neighbours' ghosts.
#pragma once

#include <mpi.h>

#include <span>
#include <vector>

#include "grid/box.h"

namespace workloads {

/// One neighbour: what it is sent (points of the interior's edge) and what it sends (points of the ghosts).
struct HaloPart {
  Triple direction{};
  int neighbour = -1;  ///< none beyond the domain
  Box send;
  Box receive;
};

/// Everything at once: the six faces, or with `corners` the 26 faces, edges and corners. Opposite directions are
/// neighbours in the list: 2m and 2m + 1.
std::vector<HaloPart> all_parts(const Decomposition& ranks, const Triple& interior, bool corners);

/// The two faces across one axis, with the ghosts of the axes before it: one axis after another, three exchanges of two
/// messages fill edges and corners too.
std::vector<HaloPart> axis_parts(const Decomposition& ranks, const Triple& interior, int axis);

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
  void post_sends(Fields fields);
  void wait();  ///< for all that was posted
  void unpack(Fields fields);

  /// All of it by MPI_Sendrecv, one direction after the other.
  void exchange_blocking(Fields fields);

 private:
  struct Message {
    HaloPart part;
    std::vector<T> out;
    std::vector<T> in;
  };
  [[nodiscard]] bool travels(const Message& message) const noexcept;
  void pack(Message& message, Fields fields) const;
  void unpack(const Message& message, Fields fields);

  int rank_;
  Layout layout_;
  int tag_;
  std::vector<Message> messages_;
  std::vector<MPI_Request> requests_;
};

extern template class HaloExchange<float>;
extern template class HaloExchange<double>;

}  // namespace workloads
