// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <iterator>
#include <string>

#include "common/mpi_process.h"
#include "minighost/solve.h"

namespace workloads::minighost {

struct NeighbourCollective {
  const char* name;
  bool sends_the_same;
  int (*start)(const Neighbourhood& n, const void* out, void* in, MPI_Request* request);

  static int alltoall(const Neighbourhood& n, const void* out, void* in, MPI_Request* request) {
    const int bytes = n.counts_.front();
    return MPI_Ineighbor_alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, n.topology_, request);
  }
  static int alltoallv(const Neighbourhood& n, const void* out, void* in, MPI_Request* request) {
    return MPI_Ineighbor_alltoallv(out, n.counts_.data(), n.begins_.data(), MPI_BYTE, in, n.counts_.data(),
                                   n.begins_.data(), MPI_BYTE, n.topology_, request);
  }
  static int alltoallw(const Neighbourhood& n, const void* out, void* in, MPI_Request* request) {
    return MPI_Ineighbor_alltoallw(out, n.counts_.data(), n.addresses_.data(), n.types_.data(), in, n.counts_.data(),
                                   n.addresses_.data(), n.types_.data(), n.topology_, request);
  }
  static int allgather(const Neighbourhood& n, const void* out, void* in, MPI_Request* request) {
    const int bytes = n.counts_.front();
    return MPI_Ineighbor_allgather(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, n.topology_, request);
  }
  static int allgatherv(const Neighbourhood& n, const void* out, void* in, MPI_Request* request) {
    return MPI_Ineighbor_allgatherv(out, n.counts_.front(), MPI_BYTE, in, n.counts_.data(), n.begins_.data(), MPI_BYTE,
                                    n.topology_, request);
  }
};

namespace {

constexpr std::size_t directions = 2 * axes;

constexpr std::array kinds{
    NeighbourCollective{"alltoall", false, NeighbourCollective::alltoall},
    NeighbourCollective{"alltoallv", false, NeighbourCollective::alltoallv},
    NeighbourCollective{"alltoallw", false, NeighbourCollective::alltoallw},
    NeighbourCollective{"allgather", true, NeighbourCollective::allgather},
    NeighbourCollective{"allgatherv", true, NeighbourCollective::allgatherv},
};

const NeighbourCollective* kind_of(std::string_view name) {
  const auto* found = std::ranges::find_if(kinds, [&](const NeighbourCollective& kind) { return name == kind.name; });
  return found == kinds.end() ? nullptr : found;
}

/// Its neighbours are those of each axis, the lower one first: as the directions of faces.
MPI_Comm make_cartesian(int ranks) {
  const Triple grid = grid_of_faces(ranks);
  const Triple not_periodic{};
  MPI_Comm made = MPI_COMM_NULL;
  require(MPI_Cart_create(MPI_COMM_WORLD, static_cast<int>(axes), grid.data(), not_periodic.data(), 0, &made));
  return made;
}

MPI_Comm make_graph(const std::vector<Face>& faces) {
  std::vector<int> neighbours(faces.size());
  std::ranges::transform(faces, neighbours.begin(), &Face::neighbour);
  const auto count = static_cast<int>(neighbours.size());
  MPI_Comm made = MPI_COMM_NULL;
  require(MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, count, neighbours.data(), MPI_UNWEIGHTED, count,
                                         neighbours.data(), MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &made));
  return made;
}

}  // namespace

Parameter exchange_parameter() {
  Choices names{std::string(by_messages)};
  std::ranges::transform(kinds, std::back_inserter(names), &NeighbourCollective::name);
  return choice_parameter(
      "exchange", names,
      "MPI_Isend and MPI_Irecv, or MPI_Ineighbor_<that>; the allgathers send all neighbours the same",
      std::string(by_messages));
}

Parameter topology_parameter() {
  return choice_parameter("topology", {"graph", "cartesian"}, "of the communicator of a neighbourhood collective",
                          "graph");
}

Neighbourhood::Neighbourhood(std::string_view exchange, std::string_view topology, const std::vector<Face>& faces,
                             int ranks, std::size_t bytes)
    : kind_(kind_of(exchange)) {
  const bool cartesian = kind_ != nullptr && topology == "cartesian";
  const auto count = cartesian ? directions : faces.size();
  counts_.assign(count, static_cast<int>(bytes));
  types_.assign(count, MPI_BYTE);
  for (std::size_t block = 0; block < count; ++block) {
    begins_.push_back(static_cast<int>(block * bytes));
    addresses_.push_back(static_cast<MPI_Aint>(block * bytes));
  }
  for (std::size_t face = 0; face < faces.size(); ++face) {
    places_.push_back(cartesian ? static_cast<std::size_t>(faces[face].direction) : face);
  }
  if (kind_ != nullptr) {
    topology_ = cartesian ? make_cartesian(ranks) : make_graph(faces);
  }
}

Neighbourhood::~Neighbourhood() {
  if (topology_ != MPI_COMM_NULL) {
    MPI_Comm_free(&topology_);
  }
}

bool Neighbourhood::sends_the_same() const noexcept { return kind_ != nullptr && kind_->sends_the_same; }

MPI_Request Neighbourhood::start(const void* out, void* in) const {
  MPI_Request request = MPI_REQUEST_NULL;
  require(kind_->start(*this, out, in, &request));
  return request;
}

}  // namespace workloads::minighost
