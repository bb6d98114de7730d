// SPDX-License-Identifier: BSD-3-Clause
#include "minife/element.h"

#include <cstddef>
#include <numbers>

namespace workloads::minife {
namespace {

constexpr std::size_t axes = 3;
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

}  // namespace workloads::minife
