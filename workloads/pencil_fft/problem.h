// SPDX-License-Identifier: BSD-3-Clause
// What a point asks for: which fields, cut for how many ranks in which grid, and how their transposes travel. No MPI
// here.
#pragma once

#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "common/fft_plan.h"
#include "common/grid.h"
#include "common/parameters.h"

namespace workloads::pencil_fft {

// What a rank has of a three-dimensional field cut into pencils, and what it sends to turn them. No MPI here.
//
// The ranks are a grid of rows and columns. A field begins in pencils along x, is turned within the rows to pencils
// along y, and within the columns to pencils along z:
//
// x pencils: [z of this rank][y of this rank][x], all x, that are `width` complex values;
// y pencils: [z of this rank][y][x of this rank], all y;
// z pencils: [chunk of this rank's x][z][y of this rank][x of the chunk], all z.
//
// With one rank in a row, pencils along x are pencils along y; with one in a column, pencils along y, without chunks,
// are pencils along z: nothing is turned.

using fft::Complex;

/// Points along x, y, z; of a real field's spectrum half of the x, which are enough, are kept.
struct Field {
  Triple points{};
  bool real = false;

  [[nodiscard]] int width() const noexcept { return real ? (points[0] / 2) + 1 : points[0]; }
  [[nodiscard]] double total() const noexcept { return 1.0 * points[0] * points[1] * points[2]; }
};

struct ProcessGrid {
  int row_ranks = 1;     ///< that share x and y
  int column_ranks = 1;  ///< that share y and z
};

/// Whether each rank has a pencil of every kind.
bool fits(const ProcessGrid& grid, const Field& field) noexcept;

/// The grid of `ranks` that fits and is the nearest to a square, with the fewer in a row.
std::optional<ProcessGrid> nearest_to_square(int ranks, const Field& field);

struct Pencils {
  Pencils(const Field& field, const ProcessGrid& grid, int rank);

  Field field;
  ProcessGrid grid;
  Span x;          ///< in pencils along y and z
  Span y_along_x;  ///< in pencils along x
  Span y_along_z;  ///< in pencils along z
  Span z;          ///< in pencils along x and y

  /// Complex values of the largest of the three.
  [[nodiscard]] std::size_t points() const noexcept;
};

/// What `points()` is at most on any rank.
double most_points(const Field& field, const ProcessGrid& grid);

/// One side's part of a chunk's message: its begin in the buffer, and from there what belongs to each rank.
struct Part {
  std::size_t first = 0;
  std::vector<int> counts;
  std::vector<int> begins;
};

/// The chunks of a transpose: of a rank's planes within a row, of its x within a column.
Part x_part(const Pencils& pencils, Span planes);
Part y_part_in_row(const Pencils& pencils, Span planes);
Part y_part_in_column(const Pencils& pencils, Span columns);
Part z_part(const Pencils& pencils, Span columns);  ///< these pencils are their own message

/// Which pencils a message is made of, and which parts above its layout.
enum class Side : unsigned char { x, y_in_row, y_in_column };

/// A chunk of pencils to its place in a buffer of messages, and back.
void pack(const Pencils& pencils, Side side, Span chunk, const Complex* values, Complex* messages);
void unpack(const Pencils& pencils, Side side, Span chunk, const Complex* messages, Complex* values);

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

// The one-dimensional transforms of a rank's pencils, and what their result must be.

/// Transforms of a chunk at a time, in place. Not scaled: forward and backward multiply a field by its points.
class Transforms {
 public:
  /// For `chunks` chunks of this rank's planes and x. Plans on `values`, Pencils::points() of them, and overwrites
  /// them.
  Transforms(const Pencils& pencils, int chunks, Complex* values);

  void along_x(Direction direction, Span planes, Complex* x_pencils) const;
  void along_y(Direction direction, Span planes, Span columns, Complex* y_pencils) const;
  void along_z(Direction direction, Span columns, Complex* z_pencils) const;
  /// Along x and y, plane by plane: a plane is read from memory once. For rows of one rank.
  void along_x_and_y(Direction direction, Complex* pencils) const;

 private:
  using Both = std::array<fft::Plan, 2>;
  [[nodiscard]] bool turns_columns() const noexcept { return pencils_.grid.column_ranks > 1; }

  Pencils pencils_;
  Both x_;
  std::map<int, Both> y_;  ///< by how many x
  std::map<int, Both> z_;
};

/// All three axes of a field at once by FFTW's own plan, in place, not scaled. For one rank, which has a whole field.
class WholeTransform {
 public:
  /// Plans on `values`, a field's, and overwrites them.
  WholeTransform(const Field& field, Complex* values);

  void operator()(Direction direction, Complex* values) const;

 private:
  std::array<fft::Plan, 2> plans_;
};

/// Random numbers around 0, the same for a point however the field is cut.
class RandomField {
 public:
  explicit RandomField(const Field& field) : field_(field) {}

  /// The row of all x at y and z: complex values, or as many reals.
  void row(int y, int z, Complex* values) const;
  /// Of its values, and of its spectrum, the root of the mean square.
  [[nodiscard]] double size() const;
  [[nodiscard]] double size_of_spectrum() const;

 private:
  Field field_;
};

/// A rank's x and y of the spectrum of a RandomField, transformed by this rank alone, [z][y][x] without chunks. Plane
/// after plane: no rank needs the memory of a whole field.
std::vector<Complex> serial_spectrum(const Pencils& pencils);

/// Where value (x, y, z), counted from this rank's first ones, is in pencils along z cut into `chunks`.
std::size_t place_along_z(const Pencils& pencils, int chunks, int x, int y, int z);

}  // namespace workloads::pencil_fft
