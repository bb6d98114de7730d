// SPDX-License-Identifier: BSD-3-Clause
#include "pencil_fft/stages.h"

#include <algorithm>

namespace workloads::pencil_fft {

std::vector<int> members_of(const ProcessGrid& grid, Group group, int rank) {
  const bool row = group == Group::row;
  const int count = row ? grid.row_ranks : grid.column_ranks;
  const int first = row ? rank / grid.row_ranks * grid.row_ranks : rank % grid.row_ranks;
  std::vector<int> members;
  members.reserve(static_cast<std::size_t>(count));
  for (int place = 0; place < count; ++place) {
    members.push_back(first + (place * (row ? 1 : grid.row_ranks)));
  }
  return members;
}

Exchange Route::exchange(Group group, int chunk, int rank) const {
  const bool row = group == Group::row;
  Exchange exchange{.before = row ? x_part(pencils_, planes(chunk)) : y_part_in_column(pencils_, columns(chunk)),
                    .after = row ? y_part_in_row(pencils_, planes(chunk)) : z_part(pencils_, columns(chunk))};
  auto& [before, after, own_before, own_after, own] = exchange;
  const auto members = members_of(pencils_.grid, group, rank);
  const auto self = static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
  own = static_cast<std::size_t>(before.counts[self]);
  own_before = before.first + static_cast<std::size_t>(before.begins[self]);
  own_after = after.first + static_cast<std::size_t>(after.begins[self]);
  before.counts[self] = 0;
  after.counts[self] = 0;
  return exchange;
}

Span Route::planes(int chunk) const noexcept { return block_of(pencils_.z.size(), cut_.chunks, chunk); }

Span Route::columns(int chunk) const noexcept { return block_of(pencils_.x.size(), cut_.chunks, chunk); }

void Route::stage(int number, bool forward_only, Steps& steps) const {
  switch (number) {
    case 0:
      along_x(steps);
      break;
    case 1:
      along_y(steps);
      break;
    case 2:
      along_z(forward_only, steps);
      break;
    case 3:
      back_along_y(steps);
      break;
    default:
      back_along_x(steps);
  }
}

void Route::along_x(Steps& steps) const {
  if (by_planes()) {
    steps.along_x_and_y(Direction::forward);
    return;
  }
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    steps.along_x(Direction::forward, planes(chunk));
    if (turns_rows()) {
      steps.pack(Side::x, planes(chunk));
      steps.start(Group::row, chunk, false);
    }
  }
}

// What arrives first is transformed beside what is still on its way. To transform all of it then would leave the next
// transpose, which needs a little of every chunk, without computation beside it.
void Route::along_y(Steps& steps) const {
  const Span all{.begin = 0, .end = pencils_.x.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (turns_rows()) {
      steps.finish(Group::row, chunk);
      steps.unpack(Side::y_in_row, planes(chunk));
    }
    if (chunk < early_) {
      steps.along_y(Direction::forward, planes(chunk), all);
    }
  }
  const Span late{.begin = planes(early_).begin, .end = pencils_.z.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (!by_planes()) {
      steps.along_y(Direction::forward, late, columns(chunk));
    }
    if (turns_columns()) {
      steps.pack(Side::y_in_column, columns(chunk));
      steps.start(Group::column, chunk, false);
    }
  }
}

void Route::along_z(bool forward_only, Steps& steps) const {
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (turns_columns()) {
      steps.finish(Group::column, chunk);
    }
    steps.along_z(Direction::forward, columns(chunk));
    if (forward_only) {
      continue;
    }
    steps.along_z(Direction::backward, columns(chunk));
    if (turns_columns()) {
      steps.start(Group::column, chunk, true);
    }
  }
}

void Route::back_along_y(Steps& steps) const {
  const Span all{.begin = 0, .end = pencils_.x.size()};
  const Span late{.begin = planes(early_).begin, .end = pencils_.z.size()};
  for (int chunk = 0; chunk < cut_.chunks; ++chunk) {
    if (turns_columns()) {
      steps.finish(Group::column, chunk);
      steps.unpack(Side::y_in_column, columns(chunk));
    }
    if (!by_planes()) {
      steps.along_y(Direction::backward, late, columns(chunk));
    }
  }
  for (int turn = 0; turn < cut_.chunks; ++turn) {
    const int chunk = (early_ + turn) % cut_.chunks;  // those that are transformed already leave first
    if (chunk < early_) {
      steps.along_y(Direction::backward, planes(chunk), all);
    }
    if (turns_rows()) {
      steps.pack(Side::y_in_row, planes(chunk));
      steps.start(Group::row, chunk, true);
    }
  }
}

void Route::back_along_x(Steps& steps) const {
  if (by_planes()) {
    steps.along_x_and_y(Direction::backward);
    return;
  }
  for (int turn = 0; turn < cut_.chunks; ++turn) {
    const int chunk = (early_ + turn) % cut_.chunks;
    if (turns_rows()) {
      steps.finish(Group::row, chunk);
      steps.unpack(Side::x, planes(chunk));
    }
    steps.along_x(Direction::backward, planes(chunk));
  }
}

std::vector<std::pair<int, int>> order_of_stages(int fields, int stages, bool pipelined) {
  std::vector<std::pair<int, int>> order;
  if (!pipelined) {
    for (int field = 0; field < fields; ++field) {
      for (int stage = 0; stage < stages; ++stage) {
        order.emplace_back(field, stage);
      }
    }
    return order;
  }
  // The last field first: its transpose is on its way before the first field waits for its own and computes.
  for (int step = 0; step < fields + stages - 1; ++step) {
    for (int field = std::min(step, fields - 1); field >= std::max(0, step - stages + 1); --field) {
      order.emplace_back(field, step - field);
    }
  }
  return order;
}

}  // namespace workloads::pencil_fft
