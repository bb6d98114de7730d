// SPDX-License-Identifier: BSD-3-Clause
// What a point asks for: which fields, cut for how many ranks in which grid, and how their transposes travel. No MPI
// here.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "common/parameters.h"
#include "pencil_fft/pencils.h"

namespace workloads::pencil_fft {

// What a field passes through on its way from pencils along x to pencils along z and back: five stages, with a
// transpose between each two of them. Who carries the steps out is somebody else. No MPI here.

enum class Direction : unsigned char { forward, backward };

/// Ranks among which something is turned: those that share x and y, or those that share y and z.
enum class Group : unsigned char { row, column };

/// The ranks of the row or the column that `rank` belongs to, in their order there.
std::vector<int> members_of(const ProcessGrid& grid, Group group, int rank);

/// How a field is cut for its messages.
struct Cut {
  int chunks = 1;
  bool nonblocking = false;  ///< a chunk's messages are on their way beside what follows, until the next stage
};

/// A chunk's message on both sides of a transpose: what is before it, and what is after. The rank's own block is no
/// part of it: `own` values are copied from place `own_before` to `own_after`, or back.
struct Exchange {
  Part before;
  Part after;
  std::size_t own_before = 0;
  std::size_t own_after = 0;
  std::size_t own = 0;
};

/// Carries out what a stage consists of, in the order of the calls. Chunks are numbers below Cut::chunks.
class Steps {
 public:
  Steps() = default;
  Steps(const Steps&) = default;
  Steps(Steps&&) = default;
  Steps& operator=(const Steps&) = default;
  Steps& operator=(Steps&&) = default;
  virtual ~Steps() = default;

  virtual void along_x(Direction direction, Span planes) = 0;
  virtual void along_y(Direction direction, Span planes, Span columns) = 0;
  virtual void along_z(Direction direction, Span columns) = 0;
  /// Of all planes.
  virtual void along_x_and_y(Direction direction) = 0;
  /// Between the pencils of this side and the messages made of them.
  virtual void pack(Side side, Span chunk) = 0;
  virtual void unpack(Side side, Span chunk) = 0;
  /// A chunk's message, and the copy of what stays on this rank; `back`: from pencils along z to those along x.
  virtual void start(Group group, int chunk, bool back) = 0;
  /// Until that message has arrived. Nothing where it travelled in start().
  virtual void finish(Group group, int chunk) = 0;
};

/// The stages of a rank's pencils.
class Route {
 public:
  static constexpr int stages = 5;
  static constexpr int forward_stages = 3;

  Route(const Pencils& pencils, const Cut& cut) : pencils_(pencils), cut_(cut), early_(cut.chunks / 2) {}

  /// Waits for what the stage before has sent, transforms, and sends it on: along x; along y; along z and, unless
  /// `forward_only`, back; along y; along x. Where rows are not turned and there are no chunks, along x and y at once
  /// in the first stage and the last.
  void stage(int number, bool forward_only, Steps& steps) const;

  /// The message of a chunk within this rank's row or column, of which `rank` is a member.
  [[nodiscard]] Exchange exchange(Group group, int chunk, int rank) const;

  [[nodiscard]] bool turns_rows() const noexcept { return pencils_.grid.row_ranks > 1; }
  [[nodiscard]] bool turns_columns() const noexcept { return pencils_.grid.column_ranks > 1; }
  [[nodiscard]] const Pencils& pencils() const noexcept { return pencils_; }
  [[nodiscard]] const Cut& cut() const noexcept { return cut_; }

 private:
  /// Where nothing is sent between x and y, and no chunk of columns is sent before the others are transformed.
  [[nodiscard]] bool by_planes() const noexcept { return !turns_rows() && cut_.chunks == 1; }
  [[nodiscard]] Span planes(int chunk) const noexcept;
  [[nodiscard]] Span columns(int chunk) const noexcept;

  void along_x(Steps& steps) const;
  void along_y(Steps& steps) const;
  void along_z(bool forward_only, Steps& steps) const;
  void back_along_y(Steps& steps) const;
  void back_along_x(Steps& steps) const;

  Pencils pencils_;
  Cut cut_;
  int early_;  ///< chunks of planes that are transformed along y when they arrive, the others before they leave
};

/// Which field goes through which stage, one after the other: all stages of a field before the next field or,
/// `pipelined`, each field a stage behind the one before it.
std::vector<std::pair<int, int>> order_of_stages(int fields, int stages, bool pipelined);

// What a point asks for.

inline constexpr const char* whole_fields = "fftw";  ///< the mode of one rank

const Parameters& parameters();

// All of a point that obeys the parameters.
int number(const Json& point, std::string_view name);
Field field_of(const Json& point);
Cut cut_of(const Json& point);
/// UsageError where the ranks cannot be the grid that the point asks for.
ProcessGrid grid_of(const Json& point, int ranks);
/// grid_of(), and UsageError where the point cannot be run by so many ranks.
ProcessGrid require_grid(const Json& point, int ranks);
bool of_whole_fields(const Json& point);
/// Each field a stage behind the one before it; else one after another.
bool is_pipelined(const Json& point);
/// Forward and backward, of all fields and ranks: 5 N log2 N for a complex transform of N points, half of it for a real
/// one.
double operations_of(const Json& point);

}  // namespace workloads::pencil_fft
