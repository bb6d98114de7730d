// SPDX-License-Identifier: BSD-3-Clause
#include "npb/cg_kernel.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "common/vectorised.h"
#include "npb/generator.h"

namespace workloads::npb {

CgGrid::CgGrid(int n, int rank, int ranks)
    : n_(n),
      down_(1 << (std::countr_zero(static_cast<unsigned>(ranks)) / 2)),
      across_(ranks / down_),
      row_(rank / across_),
      column_(rank % across_),
      kept_{.begin = 0, .end = rows().size()} {
  if (halves()) {
    const Span half = part((2 * row_) + (column_ % 2));
    kept_ = {.begin = half.begin - rows().begin, .end = half.end - rows().begin};
  }
  for (int bit = 1; bit < across_; bit *= 2) {
    partners_.push_back((row_ * across_) + (column_ ^ bit));
  }
}

Span CgGrid::rows() const noexcept {
  return halves() ? Span{.begin = part(2 * row_).begin, .end = part((2 * row_) + 1).end} : part(row_);
}

Span CgGrid::columns() const noexcept { return part(column_); }

Span CgGrid::given() const noexcept {
  if (!halves()) {
    return {};
  }
  return kept_.begin > 0 ? Span{.begin = 0, .end = kept_.begin} : Span{.begin = kept_.end, .end = rows().size()};
}

int CgGrid::transposed() const noexcept {
  return halves() ? (column_ / 2 * across_) + (2 * row_) + (column_ % 2) : (column_ * across_) + row_;
}

namespace {

constexpr double condition = 0.1;  // reciprocal, of the matrix without its shift

/// An element of a sparse vector or row.
struct Element {
  int place;
  double value;
};

/// Calls action(number of the vector, its elements) for each of the class's random sparse vectors.
template <class Action>
void for_each_vector(const CgClass& problem, Action action) {
  constexpr double own = 0.5;
  Generator numbers(1);  // the specification leaves one out
  const auto places = static_cast<double>(std::bit_ceil(static_cast<unsigned>(problem.n)));
  std::vector<Element> vector;
  for (int outer = 0; outer < problem.n; ++outer) {
    vector.clear();
    while (vector.size() < static_cast<std::size_t>(problem.nonzeros)) {
      const double value = numbers.next();
      const auto place = static_cast<int>(places * numbers.next());
      if (place < problem.n && std::ranges::find(vector, place, &Element::place) == vector.end()) {
        vector.push_back({place, value});
      }
    }
    if (const auto found = std::ranges::find(vector, outer, &Element::place); found != vector.end()) {
      found->value = own;
    } else {
      vector.push_back({outer, own});
    }
    action(outer, std::span<const Element>(vector));
  }
}

bool contains(Span span, int place) { return place >= span.begin && place < span.end; }

/// Where each row begins, if every element that is added to it were kept.
std::vector<std::size_t> begins(const CgClass& problem, Span rows, Span columns) {
  std::vector<std::size_t> begin(static_cast<std::size_t>(rows.size()) + 1);
  for_each_vector(problem, [&](int /*outer*/, std::span<const Element> vector) {
    const auto across = std::ranges::count_if(vector, [&](const Element& e) { return contains(columns, e.place); });
    for (const Element& e : vector) {
      if (contains(rows, e.place)) {
        begin[static_cast<std::size_t>(e.place - rows.begin) + 1] += static_cast<std::size_t>(across);
      }
    }
  });
  for (std::size_t row = 1; row < begin.size(); ++row) {
    begin[row] += begin[row - 1];
  }
  return begin;
}

void fill(SparseBlock& block, const CgClass& problem, Span rows, Span columns) {
  const double ratio = std::pow(condition, 1.0 / problem.n);
  double scale = 1;
  auto next = block.begin;
  for_each_vector(problem, [&](int outer, std::span<const Element> vector) {
    for (const Element& a : vector) {
      if (!contains(rows, a.place)) {
        continue;
      }
      std::size_t& place = next[static_cast<std::size_t>(a.place - rows.begin)];
      for (const Element& b : vector) {
        if (contains(columns, b.place)) {
          const bool diagonal = a.place == outer && b.place == outer;
          block.column[place] = b.place - columns.begin;
          block.value[place] = (b.value * scale * a.value) + (diagonal ? condition - problem.shift : 0);
          ++place;
        }
      }
    }
    scale *= ratio;
  });
}

/// Sorts each row by columns and adds up what is of one column.
void merge(SparseBlock& block) {
  std::vector<Element> row;
  std::size_t end = 0;
  for (std::size_t r = 0; r + 1 < block.begin.size(); ++r) {
    row.clear();
    for (std::size_t i = block.begin[r]; i < block.begin[r + 1]; ++i) {
      row.push_back({block.column[i], block.value[i]});
    }
    std::ranges::stable_sort(row, {}, &Element::place);
    block.begin[r] = end;
    for (std::size_t i = 0; i < row.size(); ++i) {
      if (i > 0 && row[i].place == row[i - 1].place) {
        block.value[end - 1] += row[i].value;
      } else {
        block.column[end] = row[i].place;
        block.value[end] = row[i].value;
        ++end;
      }
    }
  }
  block.begin.back() = end;
  block.column.resize(end);
  block.value.resize(end);
}

}  // namespace

const std::array<CgClass, 6>& cg_classes() noexcept {
  static constexpr std::array<CgClass, 6> table{{
      {"S", 1'400, 7, 15, 10, 8.5971775078648},
      {"W", 7'000, 8, 15, 12, 10.362595087124},
      {"A", 14'000, 11, 15, 20, 17.130235054029},
      {"B", 75'000, 13, 75, 60, 22.712745482631},
      {"C", 150'000, 15, 75, 110, 28.973605592845},
      {"D", 1'500'000, 21, 100, 500, 52.514532105794},
  }};
  return table;
}

bool is_right(const CgClass& problem, double zeta) noexcept {
  constexpr double tolerance = 1e-10;
  return std::abs(zeta - problem.zeta) <= tolerance * problem.zeta;
}

SparseBlock cg_matrix(const CgClass& problem, Span rows, Span columns) {
  SparseBlock block{.begin = begins(problem, rows, columns), .column = {}, .value = {}};
  block.column.resize(block.begin.back());
  block.value.resize(block.begin.back());
  fill(block, problem, rows, columns);
  merge(block);
  return block;
}

WORKLOADS_VECTORISED void multiply(const SparseBlock& matrix, Span rows, const double* x, double* y) {
  const std::size_t* const begin = matrix.begin.data();
  const int* const column = matrix.column.data();
  const double* const value = matrix.value.data();
  for (int row = rows.begin; row < rows.end; ++row) {
    double sum = 0;
#pragma omp simd reduction(+ : sum)
    for (std::size_t i = begin[row]; i < begin[row + 1]; ++i) {
      sum += value[i] * x[column[i]];
    }
    y[row] = sum;
  }
}

WORKLOADS_VECTORISED double dot(std::span<const double> x, std::span<const double> y) {
  double sum = 0;
#pragma omp simd reduction(+ : sum)
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum += x[i] * y[i];
  }
  return sum;
}

WORKLOADS_VECTORISED void add(double factor, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] += factor * x[i];
  }
}

WORKLOADS_VECTORISED void scale_and_add(double factor, std::span<const double> x, std::span<double> y) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    y[i] = x[i] + factor * y[i];
  }
}

}  // namespace workloads::npb
