// SPDX-License-Identifier: BSD-3-Clause
#include "model/machine.hpp"

#include <algorithm>
#include <array>

namespace progress_engine::model {
namespace {

constexpr std::size_t stack_bytes = 64 << 10;
constexpr std::size_t longest_run = 5000;  // steps: more is a livelock

bool is_read(Kind kind) { return kind == Kind::load; }
bool is_local(Kind kind) { return kind == Kind::local || kind == Kind::buffer || kind == Kind::fence; }
bool may_write(Kind kind) { return kind == Kind::write || kind == Kind::wait || kind == Kind::flush; }

// Whether the order of two actions can make a difference.
bool dependent(const Action& a, const Action& b) {
  if (a.thread == b.thread || a.kind == Kind::membarrier || b.kind == Kind::membarrier) return true;
  if (a.kind == Kind::relax) return may_write(b.kind);
  if (b.kind == Kind::relax) return may_write(a.kind);
  if (is_local(a.kind) || is_local(b.kind)) return false;
  return a.cell == b.cell && !(is_read(a.kind) && is_read(b.kind));
}

bool contains(const std::vector<Action>& actions, const Action& action) {
  return std::ranges::find(actions, action) != actions.end();
}

std::string describe(const Action& action) {
  constexpr std::array names = {"goes on", "loads",       "stores (buffered)",    "writes", "sleeps on",
                                "fences",  "membarriers", "waits for any change", "flushes"};
  std::string text = "thread " + std::to_string(action.thread) + " " + names[static_cast<std::size_t>(action.kind)];
  return action.cell < 0 ? text : text + " cell " + std::to_string(action.cell);
}

}  // namespace

Verdict Machine::explore(const std::function<std::unique_ptr<Scenario>()>& make) {
  Verdict verdict;
  current_ = this;
  path_.clear();
  do {
    cells_ = 0;
    writes_ = 0;
    failure_.clear();
    const auto scenario = make();
    const End end = run(*scenario);
    if (end != End::pruned) ++verdict.interleavings;
    if (end == End::complete) failure_ = scenario->check();
  } while (failure_.empty() && backtrack());
  verdict.failure = failure_;
  if (!failure_.empty())
    for (const Action& action : done_) verdict.trace.push_back(describe(action));
  current_ = nullptr;
  return verdict;
}

Machine::End Machine::run(Scenario& scenario) {
  prepare(scenario.threads());
  done_.clear();
  std::vector<Action> asleep;
  for (std::size_t depth = 0;; ++depth) {
    if (depth == path_.size()) {
      Node node{.actions = actions(), .asleep = asleep};
      if (node.actions.empty()) {
        if (std::ranges::all_of(fibers_, &Fiber::finished)) return End::complete;
        failure_ = stuck();
        return End::failed;
      }
      if (depth > longest_run) failure_ = "a run does not end";
      if (!choose(node)) return End::pruned;
      path_.push_back(std::move(node));
    }
    const Node& node = path_[depth];
    asleep.clear();
    for (const Action& action : node.asleep)
      if (!dependent(action, node.chosen)) asleep.push_back(action);
    done_.push_back(node.chosen);
    perform(node.chosen);
    if (!failure_.empty()) return End::failed;
  }
}

bool Machine::choose(Node& node) {
  for (const Action& action : node.actions)
    if (!contains(node.asleep, action)) {
      node.chosen = action;
      return true;
    }
  return false;
}

bool Machine::backtrack() {
  for (; !path_.empty(); path_.pop_back()) {
    Node& node = path_.back();
    node.asleep.push_back(node.chosen);
    if (choose(node)) return true;
  }
  return false;
}

std::vector<Action> Machine::actions() const {
  std::vector<Action> found;
  for (int thread = 0; const Fiber& fiber : fibers_) {
    if (can_step(fiber)) found.push_back(fiber.pending);
    if (!fiber.buffer.empty()) found.push_back({thread, Kind::flush, fiber.buffer.front().cell});
    ++thread;
  }
  return found;
}

bool Machine::can_step(const Fiber& fiber) const {
  if (fiber.finished || fiber.asleep_on >= 0) return false;
  switch (fiber.pending.kind) {
    case Kind::write:
    case Kind::wait:
    case Kind::fence:
      return fiber.buffer.empty();
    case Kind::membarrier:
      return std::ranges::all_of(fibers_, [](const Fiber& other) { return other.buffer.empty(); });
    case Kind::relax: {
      const auto seen = fiber.writes_seen.find(fiber.waits_at);
      return seen == fiber.writes_seen.end() || seen->second != writes_of_others(fiber);
    }
    default:
      return true;
  }
}

void Machine::perform(const Action& action) {
  Fiber& fiber = fibers_[static_cast<std::size_t>(action.thread)];
  if (action.kind == Kind::flush)
    flush(fiber);
  else
    resume(fiber);
}

void Machine::flush(Fiber& fiber) {
  const Store store = fiber.buffer.front();
  fiber.buffer.pop_front();
  *store.memory = store.value;
  count_write(fiber);
}

void Machine::count_write(Fiber& fiber) {
  ++fiber.writes;
  ++writes_;
}

void Machine::prepare(std::vector<std::function<void()>> bodies) {
  fibers_.resize(bodies.size());
  for (std::size_t i = 0; i < bodies.size(); ++i) {
    Fiber& fiber = fibers_[i];
    if (!fiber.stack) fiber.stack = std::make_unique<char[]>(stack_bytes);
    fiber.body = std::move(bodies[i]);
    fiber.begun = false;
    fiber.finished = false;
    fiber.asleep_on = -1;
    fiber.buffer.clear();
    fiber.writes = 0;
    fiber.writes_seen.clear();
    fiber.pending = {.thread = static_cast<int>(i)};
  }
}

// The first switch to a fiber takes a context, the others jump: no system call.
void Machine::resume(Fiber& fiber) {
  running_ = static_cast<int>(&fiber - fibers_.data());
  if (_setjmp(scheduler_) == 0) {
    if (fiber.begun) _longjmp(fiber.position, 1);
    fiber.begun = true;
    getcontext(&fiber.start);
    fiber.start.uc_stack.ss_sp = fiber.stack.get();
    fiber.start.uc_stack.ss_size = stack_bytes;
    fiber.start.uc_link = nullptr;
    makecontext(&fiber.start, enter, 0);
    setcontext(&fiber.start);
  }
  running_ = -1;
}

void Machine::enter() {
  Fiber& self = current_->fibers_[static_cast<std::size_t>(current_->running_)];
  self.body();
  self.finished = true;
  _longjmp(current_->scheduler_, 1);
}

// Ends this thread's step; it goes on when its next action is chosen.
void Machine::yield(Kind kind, int cell) {
  Fiber& self = fibers_[static_cast<std::size_t>(running_)];
  self.pending = {running_, kind, cell};
  if (_setjmp(self.position) == 0) _longjmp(scheduler_, 1);
}

std::uint64_t Machine::load(int cell, const std::uint64_t& memory) {
  if (running_ < 0) return memory;
  yield(Kind::load, cell);
  const auto& buffer = fibers_[static_cast<std::size_t>(running_)].buffer;
  const auto own = std::find_if(buffer.rbegin(), buffer.rend(), [&](const Store& store) { return store.cell == cell; });
  return own == buffer.rend() ? memory : own->value;
}

void Machine::store(int cell, std::uint64_t& memory, std::uint64_t value) {
  if (running_ < 0) {
    memory = value;
    return;
  }
  yield(Kind::buffer, cell);
  fibers_[static_cast<std::size_t>(running_)].buffer.push_back({cell, &memory, value});
}

void Machine::locked(int cell) {
  if (running_ < 0) return;
  yield(Kind::write, cell);
  count_write(fibers_[static_cast<std::size_t>(running_)]);
}

void Machine::fence(bool everywhere) {
  if (running_ >= 0) yield(everywhere ? Kind::membarrier : Kind::fence, -1);
}

// Goes on once another thread has written since this loop went on the last time: looking again sooner could find
// nothing new. A loop inside another one does not use up what the outer one has not seen.
void Machine::relax() {
  if (running_ < 0) return;
  Fiber& self = fibers_[static_cast<std::size_t>(running_)];
  self.waits_at = __builtin_return_address(0);
  yield(Kind::relax, -1);
  self.writes_seen[self.waits_at] = writes_of_others(self);
}

void Machine::wait(int cell, const std::uint64_t& memory, std::uint64_t expected) {
  yield(Kind::wait, cell);
  if (memory != expected) return;
  fibers_[static_cast<std::size_t>(running_)].asleep_on = cell;
  yield(Kind::local, -1);
}

void Machine::wake(int cell) {
  yield(Kind::write, cell);
  for (Fiber& fiber : fibers_)
    if (fiber.asleep_on == cell) fiber.asleep_on = -1;
}

void Machine::fail(std::string what) {
  if (failure_.empty()) failure_ = std::move(what);
}

std::string Machine::stuck() const {
  std::string text = "nobody can go on:";
  for (int thread = 0; const Fiber& fiber : fibers_) {
    if (!fiber.finished) text += " thread " + std::to_string(thread) + (fiber.asleep_on < 0 ? " waits" : " sleeps");
    ++thread;
  }
  return text;
}

}  // namespace progress_engine::model
