// SPDX-License-Identifier: BSD-3-Clause
#include "minife/matrix.h"

#include <cstddef>
#include <numbers>

namespace workloads::minife {
namespace {

constexpr std::size_t points = 8;  // two an axis, of weight 1 in an element whose axes go from -1 to 1

double sign_of(std::size_t number, std::size_t axis) { return (number >> (axes - 1 - axis) & 1U) == 0 ? -1 : 1; }

/// The gradient of a corner's shape function, product of (1 + sign * place) / 2 over the axes, in the element's
/// lengths.
std::array<double, axes> gradient(std::size_t corner, const std::array<double, axes>& place,
                                  const std::array<double, axes>& edges) {
  std::array<double, axes> result{};
  for (std::size_t along = 0; along < axes; ++along) {
    double value = sign_of(corner, along) / edges[along];  // d place / d length = 2 / edge
    for (std::size_t axis = 0; axis < axes; ++axis) {
      value *= axis == along ? 1 : (1 + (sign_of(corner, axis) * place[axis])) / 2;
    }
    result[along] = value;
  }
  return result;
}

}  // namespace

ElementMatrix diffusion_matrix(const std::array<double, 3>& edges) {
  const double abscissa = std::numbers::inv_sqrt3;
  const double jacobian = edges[0] * edges[1] * edges[2] / points;
  ElementMatrix matrix{};
  for (std::size_t point = 0; point < points; ++point) {
    std::array<double, axes> place{};
    for (std::size_t axis = 0; axis < axes; ++axis) {
      place[axis] = sign_of(point, axis) * abscissa;
    }
    std::array<std::array<double, axes>, corners> gradients{};
    for (std::size_t corner = 0; corner < corners; ++corner) {
      gradients[corner] = gradient(corner, place, edges);
    }
    for (std::size_t row = 0; row < corners; ++row) {
      for (std::size_t column = 0; column < corners; ++column) {
        for (std::size_t axis = 0; axis < axes; ++axis) {
          matrix[row][column] += jacobian * gradients[row][axis] * gradients[column][axis];
        }
      }
    }
  }
  return matrix;
}

namespace {

constexpr std::size_t diagonal = Matrix::width / 2;

Triple sum(const Triple& a, const Triple& b) { return {a[0] + b[0], a[1] + b[1], a[2] + b[2]}; }

Triple corner(int number) { return {number / 4, number / 2 % 2, number % 2}; }

/// Where a row has its element for the node at `offset` (-1, 0, 1 an axis).
std::size_t slot(const Triple& offset) {
  constexpr int centre = Matrix::width / 2;
  const int number = centre + (offset[0] * 9) + (offset[1] * 3) + offset[2];
  return static_cast<std::size_t>(number);
}

bool on_surface(const Triple& node, const Triple& nodes) {
  bool touches = false;
  for (std::size_t axis = 0; axis < axes; ++axis) {
    touches = touches || node[axis] == 0 || node[axis] == nodes[axis] - 1;
  }
  return touches;
}

double surface_value(const Triple& node, const Triple& nodes) { return node[2] == nodes[2] - 1 ? 1 : 0; }

/// A node inside: the sum of its rows in the eight elements around it, all of which are alike.
std::array<double, Matrix::width> row_inside(const Triple& nodes) {
  std::array<double, axes> edges{};
  for (std::size_t axis = 0; axis < axes; ++axis) {
    edges[axis] = 1.0 / (nodes[axis] - 1);
  }
  const auto element = diffusion_matrix(edges);
  std::array<double, Matrix::width> row{};
  for (int own = 0; own < corners; ++own) {  // which corner of the element the node is
    for (int other = 0; other < corners; ++other) {
      const auto [z, y, x] = corner(own);
      row[slot(sum(corner(other), {-z, -y, -x}))] +=
          element[static_cast<std::size_t>(own)][static_cast<std::size_t>(other)];
    }
  }
  return row;
}

}  // namespace

Matrix::Matrix(const Triple& nodes, const Box& mine)
    : layout_{.interior = {mine.size(0), mine.size(1), mine.size(2)}},
      right_(layout_.points()),
      surface_(layout_.points()) {
  const std::size_t rows = layout_.inside(0).points();
  values_.reserve(rows * width);
  columns_.reserve(rows * width);
  const Row inside = row_inside(nodes);
  for (int z = mine.begin[0]; z < mine.end[0]; ++z) {
    for (int y = mine.begin[1]; y < mine.end[1]; ++y) {
      for (int x = mine.begin[2]; x < mine.end[2]; ++x) {
        add_row(nodes, {z, y, x}, layout_.index(z - mine.begin[0] + 1, y - mine.begin[1] + 1, x - mine.begin[2] + 1),
                inside);
      }
    }
  }
}

void Matrix::add_row(const Triple& nodes, const Triple& node, std::size_t place, const Row& inside) {
  const bool known = on_surface(node, nodes);
  right_[place] = surface_[place] = known ? surface_value(node, nodes) : 0;
  for (int z = -1; z <= 1; ++z) {
    for (int y = -1; y <= 1; ++y) {
      for (int x = -1; x <= 1; ++x) {
        const std::size_t element = slot({z, y, x});
        const Triple other = sum(node, {z, y, x});
        double value = known ? static_cast<double>(element == diagonal) : inside[element];
        auto column = static_cast<std::ptrdiff_t>(place);
        if (!known) {
          column += (z * signed_stride(0)) + (y * signed_stride(1)) + x;
          if (on_surface(other, nodes)) {
            right_[place] -= value * surface_value(other, nodes);
            value = 0;
          }
        }
        values_.push_back(value);
        columns_.push_back(static_cast<std::int32_t>(column));
      }
    }
  }
}

void Matrix::multiply(const Box& rows, const double* in, double* out) const noexcept {
  const auto& [nz, ny, nx] = layout_.interior;
  for (int z = rows.begin[0]; z < rows.end[0]; ++z) {
    for (int y = rows.begin[1]; y < rows.end[1]; ++y) {
      const auto before = static_cast<std::size_t>((((z - 1) * ny) + y - 1)) * static_cast<std::size_t>(nx);
      const std::size_t first = width * (before + static_cast<std::size_t>(rows.begin[2] - 1));
      const double* value = values_.data() + first;
      const std::int32_t* column = columns_.data() + first;
      double* result = out + layout_.index(z, y, rows.begin[2]);
      for (int x = rows.begin[2]; x < rows.end[2]; ++x, value += width, column += width) {
        double sum = 0;
        for (std::size_t element = 0; element < width; ++element) {
          sum += value[element] * in[column[element]];
        }
        *result++ = sum;
      }
    }
  }
}

}  // namespace workloads::minife
