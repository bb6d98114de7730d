// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cmath>

#include "npb/generator.h"
#include "pencil_fft/problem.h"

namespace workloads::pencil_fft {
namespace {

using fft::Batch;
using fft::Kind;
using fft::Plan;

std::array<Plan, 2> complex_plans(const Batch& batch, Complex* values) {
  return {Plan(Kind::forward, batch, values), Plan(Kind::backward, batch, values)};
}

std::array<Plan, 2> plans_along_x(const Field& field, int rows, Complex* values) {
  const Batch batch{.length = field.points[0], .count = rows, .stride = 1, .distance = field.width()};
  if (!field.real) {
    return complex_plans(batch, values);
  }
  return {Plan(Kind::from_real, batch, values), Plan(Kind::to_real, batch, values)};
}

const Plan& of(const std::array<Plan, 2>& both, Direction direction) {
  return both[direction == Direction::forward ? 0 : 1];
}

}  // namespace

Transforms::Transforms(const Pencils& pencils, int chunks, Complex* values)
    : pencils_(pencils), x_(plans_along_x(pencils.field, pencils.y_along_x.size(), values)) {
  const auto [nx, ny, nz] = pencils.field.points;
  const int all = pencils.x.size();
  const auto add = [&](std::map<int, Both>& plans, int count, int length, int stride) {
    if (!plans.contains(count)) {
      plans.emplace(count, complex_plans({.length = length, .count = count, .stride = stride, .distance = 1}, values));
    }
  };
  add(y_, all, ny, all);
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const int count = block_of(all, chunks, chunk).size();
    add(y_, count, ny, all);
    add(z_, count, nz, turns_columns() ? pencils.y_along_z.size() * count : ny * all);
  }
}

void Transforms::along_x(Direction direction, Span planes, Complex* x_pencils) const {
  const std::size_t plane = std::size_t{1} * pencils_.y_along_x.size() * pencils_.field.width();
  for (int z = planes.begin; z < planes.end; ++z) {
    of(x_, direction)(x_pencils + (z * plane));
  }
}

void Transforms::along_y(Direction direction, Span planes, Span columns, Complex* y_pencils) const {
  const std::size_t plane = std::size_t{1} * pencils_.field.points[1] * pencils_.x.size();
  for (int z = planes.begin; z < planes.end; ++z) {
    of(y_.at(columns.size()), direction)(y_pencils + (z * plane) + columns.begin);
  }
}

void Transforms::along_z(Direction direction, Span columns, Complex* z_pencils) const {
  const auto [nx, ny, nz] = pencils_.field.points;
  const int rows = pencils_.y_along_z.size();
  Complex* const first = z_pencils + (turns_columns() ? std::size_t{1} * columns.begin * rows * nz : columns.begin);
  const int row = turns_columns() ? columns.size() : pencils_.x.size();
  for (int y = 0; y < rows; ++y) {
    of(z_.at(columns.size()), direction)(first + (std::size_t{1} * y * row));
  }
}

void Transforms::along_x_and_y(Direction direction, Complex* pencils) const {
  const Span all{.begin = 0, .end = pencils_.x.size()};
  for (int z = 0; z < pencils_.z.size(); ++z) {
    const Span plane{.begin = z, .end = z + 1};
    if (direction == Direction::forward) {
      along_x(direction, plane, pencils);
      along_y(direction, plane, all, pencils);
    } else {
      along_y(direction, plane, all, pencils);
      along_x(direction, plane, pencils);
    }
  }
}

WholeTransform::WholeTransform(const Field& field, Complex* values)
    : plans_{Plan(field.real ? Kind::from_real : Kind::forward, field.points, values),
             Plan(field.real ? Kind::to_real : Kind::backward, field.points, values)} {}

void WholeTransform::operator()(Direction direction, Complex* values) const { of(plans_, direction)(values); }

void RandomField::row(int y, int z, Complex* values) const {
  const auto [nx, ny, nz] = field_.points;
  const std::size_t numbers = std::size_t{1} * nx * (field_.real ? 1 : 2);
  npb::Generator generator(numbers * ((std::size_t{1} * z * ny) + y));
  auto* const reals = reinterpret_cast<double*>(values);
  std::generate_n(reals, numbers, [&] { return generator.next() - 0.5; });
}

double RandomField::size() const {
  constexpr double variance = 1.0 / 12;  // of numbers that are uniform between -1/2 and 1/2
  return std::sqrt((field_.real ? 1 : 2) * variance);
}

double RandomField::size_of_spectrum() const { return size() * std::sqrt(field_.total()); }

std::vector<Complex> serial_spectrum(const Pencils& pencils) {
  const auto& field = pencils.field;
  const auto [nx, ny, nz] = field.points;
  const int width = field.width();
  const std::size_t block = std::size_t{1} * pencils.y_along_z.size() * pencils.x.size();
  std::vector<Complex> plane(std::size_t{1} * ny * width);
  std::vector<Complex> spectrum(block * nz);
  const auto along_x = plans_along_x(field, ny, plane.data());
  const Plan along_y(Kind::forward, {.length = ny, .count = width, .stride = width, .distance = 1}, plane.data());
  const auto stride = static_cast<int>(block);
  const Plan along_z(Kind::forward, {.length = nz, .count = stride, .stride = stride, .distance = 1}, spectrum.data());
  const RandomField numbers(field);
  auto next = spectrum.begin();
  for (int z = 0; z < nz; ++z) {
    for (int y = 0; y < ny; ++y) {
      numbers.row(y, z, plane.data() + (std::size_t{1} * y * width));
    }
    along_x.front()(plane.data());
    along_y(plane.data());
    for (int y = pencils.y_along_z.begin; y < pencils.y_along_z.end; ++y) {
      next = std::copy_n(plane.data() + (std::size_t{1} * y * width) + pencils.x.begin, pencils.x.size(), next);
    }
  }
  along_z(spectrum.data());
  return spectrum;
}

std::size_t place_along_z(const Pencils& pencils, int chunks, int x, int y, int z) {
  const auto [nx, ny, nz] = pencils.field.points;
  const int rows = pencils.y_along_z.size();
  Span chunk{.begin = 0, .end = pencils.x.size()};
  if (pencils.grid.column_ranks > 1) {
    for (int c = 0; c < chunks; ++c) {
      const Span candidate = block_of(pencils.x.size(), chunks, c);
      chunk = x >= candidate.begin && x < candidate.end ? candidate : chunk;
    }
  }
  return (std::size_t{1} * chunk.begin * rows * nz) + (((std::size_t{1} * z * rows) + y) * chunk.size()) + x -
         chunk.begin;
}

}  // namespace workloads::pencil_fft
