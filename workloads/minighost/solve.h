// SPDX-License-Identifier: BSD-3-Clause
// miniGhost (R. F. Barrett, C. T. Vaughan, M. A. Heroux, "miniGhost: a miniapp for exploring boundary exchange
// strategies using stencil computations", SAND2012-10431): its patterns, written anew.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/experiment.h"
#include "common/grid.h"
#include "common/noncopyable.h"
#include "common/parameters.h"
#include "minighost/stencil.h"

namespace workloads {

const Benchmark& minighost_exchange_benchmark();

}  // namespace workloads

namespace workloads::minighost {

// Halos that travel by a nonblocking neighbourhood collective (MPI-3.1, section 7.7), on a Cartesian or graph topology.

/// "exchange": messages, or one of the collectives.
Parameter exchange_parameter();
inline constexpr std::string_view by_messages = "messages";
/// "topology": graph or cartesian.
Parameter topology_parameter();

struct NeighbourCollective;

/// What a rank sends and receives stands in two arrays of blocks of `bytes`. Made and destroyed by all ranks together.
class Neighbourhood : NonCopyable {
 public:
  /// `exchange` and `topology`: values of the parameters; with messages there is neither a communicator nor start().
  Neighbourhood(std::string_view exchange, std::string_view topology, const std::vector<Face>& faces, int ranks,
                std::size_t bytes);
  ~Neighbourhood();

  /// Whether one block goes to all neighbours.
  [[nodiscard]] bool sends_the_same() const noexcept;
  /// Blocks of each array; a Cartesian topology has them for the neighbours beyond the boundary, too.
  [[nodiscard]] std::size_t blocks() const noexcept { return counts_.size(); }
  /// That of the face with this place in `faces`.
  [[nodiscard]] std::size_t block(std::size_t face) const noexcept { return places_[face]; }

  [[nodiscard]] bool is_collective() const noexcept { return kind_ != nullptr; }
  /// The caller completes the request.
  MPI_Request start(const void* out, void* in) const;

 private:
  friend struct NeighbourCollective;
  const NeighbourCollective* kind_;  ///< null: messages
  MPI_Comm topology_ = MPI_COMM_NULL;
  std::vector<std::size_t> places_;
  std::vector<int> counts_;  ///< of each block
  std::vector<int> begins_;
  std::vector<MPI_Aint> addresses_;  ///< the same, as MPI_Ineighbor_alltoallw has them
  std::vector<MPI_Datatype> types_;
};

// What a point of the time steps says, and what it may not.

const Parameters& solve_parameters();

struct SolvePoint {
  /// `point` has been checked against solve_parameters().
  explicit SolvePoint(const Json& point);

  Triple grid;
  int variables;
  Stencil stencil;
  bool corners;  ///< blocks get the points across edges and corners, too: 26 neighbours, and not 6
  int steps;
  std::string mode;
  std::string reduction;
  std::string placement;
};

/// What a block of `interior` points exchanges, one after the other: all of it at once or, in phases, axis after axis.
std::vector<std::vector<HaloPart>> exchanges_of(const SolvePoint& point, const Decomposition& ranks,
                                                const Triple& interior);

/// UsageError where so many ranks cannot run it. Collective.
void check_solve(const Json& point, int ranks);

// The sums over the whole grid after each step, one a variable: when they are reduced over the ranks.

/// "reduction": none; blocking (MPI_Allreduce in the step); late (MPI_Iallreduce, complete one step later).
Parameter reduction_parameter();

/// Collective in all but its readers. What is started is completed before the end.
class GlobalSum {
 public:
  /// `reduction`: a value of reduction_parameter(). `expected`: what each variable's sum is after any step.
  GlobalSum(std::string reduction, std::vector<double> expected);

  [[nodiscard]] bool is_wanted() const { return reduction_ != "none"; }
  void restart();
  /// This rank's part after a step. Late: the step before is completed first.
  void add(std::span<const double> mine);
  /// Completes the last step.
  void finish();

  /// In MPI calls since restart().
  [[nodiscard]] double elapsed_s() const noexcept { return elapsed_s_; }
  /// Steps whose sums are known, and the first that was wrong in a sentence; empty if none was.
  [[nodiscard]] int steps() const noexcept { return steps_; }
  [[nodiscard]] const std::string& problem() const noexcept { return problem_; }

 private:
  void check();

  std::string reduction_;
  std::vector<double> expected_;
  std::vector<double> mine_;  ///< not touched while the request is under way
  std::vector<double> sums_;
  MPI_Request request_ = MPI_REQUEST_NULL;
  double elapsed_s_ = 0;
  int steps_ = 0;
  std::string problem_;
};

}  // namespace workloads::minighost
