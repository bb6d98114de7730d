// SPDX-License-Identifier: BSD-3-Clause
// A small model checker: runs the real templates over a modelled memory, once for every interleaving of their atomic
// operations that can make a difference.
//
// The memory is x86's (total store order): a store stays in its thread's buffer until it is flushed, at any later
// moment; locked operations, fences and system calls wait until their thread's buffer is empty, membarrier until all
// are. Reorderings that only weaker machines do are not modelled. Sleeps have no time-out here: a lost wake-up shows as
// a deadlock. The search is depth first with sleep sets (Godefroid 1996), which leave out only interleavings that
// differ in the order of independent operations.
#pragma once

#include <ucontext.h>

#include <atomic>
#include <csetjmp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace progress_engine::model {

// What the modelled machine gets wrong, to show that the search finds it.
enum class Fault {
  none,
  no_membarrier,  // the sleeper's heavy fence orders only its own memory accesses
  torn_exchange,  // exchange reads and writes in two steps
  no_full_fence,  // a full fence orders only what the compiler does
};

enum class Kind { local, load, buffer, write, wait, fence, membarrier, relax, flush };

struct Action {
  int thread = 0;
  Kind kind = Kind::local;
  int cell = -1;
  bool operator==(const Action&) const = default;
};

// Threads and what must hold when all have ended. Made anew for each interleaving, always in the same way.
class Scenario {
 public:
  Scenario() = default;
  virtual ~Scenario() = default;
  Scenario(const Scenario&) = delete;
  Scenario& operator=(const Scenario&) = delete;
  virtual std::vector<std::function<void()>> threads() = 0;
  // "" if all is well.
  virtual std::string check() = 0;
};

struct Verdict {
  std::uint64_t interleavings = 0;
  std::string failure;             // "" if none was found
  std::vector<std::string> trace;  // the steps that led to it
};

class Machine {
 public:
  explicit Machine(Fault fault) : fault_(fault) {}

  // Runs every interleaving, or those up to the first failure.
  Verdict explore(const std::function<std::unique_ptr<Scenario>()>& make);

  static Machine& current() { return *current_; }

  // ---- for the modelled atomics, on a thread of the scenario or while one is made or checked
  int new_cell() { return cells_++; }
  Fault fault() const { return fault_; }
  std::uint64_t load(int cell, const std::uint64_t& memory);
  void store(int cell, std::uint64_t& memory, std::uint64_t value);
  // Waits for its turn as a locked operation; the caller then reads and writes the memory.
  void locked(int cell);
  void fence(bool everywhere);
  void relax();
  void wait(int cell, const std::uint64_t& memory, std::uint64_t expected);
  void wake(int cell);
  void fail(std::string what);
  int thread() const { return running_; }

 private:
  struct Store {
    int cell;
    std::uint64_t* memory;
    std::uint64_t value;
  };
  struct Fiber {
    ucontext_t start{};
    std::jmp_buf position{};
    std::unique_ptr<char[]> stack;
    std::function<void()> body;
    bool begun = false;
    bool finished = false;
    int asleep_on = -1;
    Action pending{};
    std::uint64_t writes = 0;  // its own
    // For each loop, by its call of relax(): the others' writes when it last went on from there. Loops may be nested.
    std::map<const void*, std::uint64_t> writes_seen{};
    const void* waits_at = nullptr;
    std::deque<Store> buffer;
  };
  struct Node {
    std::vector<Action> actions;
    std::vector<Action> asleep;  // tried, or not worth trying here
    Action chosen{};
  };
  enum class End { complete, pruned, failed };

  End run(Scenario& scenario);
  bool choose(Node& node);
  bool backtrack();
  std::vector<Action> actions() const;
  bool can_step(const Fiber& fiber) const;
  void perform(const Action& action);
  void resume(Fiber& fiber);
  void flush(Fiber& fiber);
  void count_write(Fiber& fiber);
  std::uint64_t writes_of_others(const Fiber& fiber) const { return writes_ - fiber.writes; }
  void yield(Kind kind, int cell);
  void prepare(std::vector<std::function<void()>> bodies);
  static void enter();
  std::string stuck() const;

  static inline Machine* current_ = nullptr;
  const Fault fault_;
  std::vector<Fiber> fibers_;
  std::vector<Node> path_;
  std::vector<Action> done_;
  std::string failure_;
  std::jmp_buf scheduler_{};
  std::uint64_t writes_ = 0;
  int running_ = -1;  // -1: the scheduler
  int cells_ = 0;
};

// std::atomic as far as the queues and the parking use it.
template <typename T>
class ModelAtomic {
  static_assert(sizeof(T) <= sizeof(std::uint64_t));
  using Order = std::memory_order;  // none is weaker than the modelled memory, but for buffered stores

 public:
  explicit ModelAtomic(T value) : memory_(pack(value)) {}
  ModelAtomic() : ModelAtomic(T{}) {}
  ModelAtomic(const ModelAtomic&) = delete;
  ModelAtomic& operator=(const ModelAtomic&) = delete;

  T load(Order /*order*/ = Order::seq_cst) const { return unpack(machine().load(cell_, memory_)); }
  void store(T value, Order /*order*/ = Order::seq_cst) { machine().store(cell_, memory_, pack(value)); }
  T exchange(T value, Order /*order*/ = Order::seq_cst) {
    if (machine().fault() != Fault::torn_exchange) return update([&](T) { return value; });
    const T before = load();
    store(value);
    return before;
  }
  T fetch_add(T value, Order /*order*/ = Order::seq_cst) {
    return update([&](T before) { return static_cast<T>(before + value); });
  }
  T fetch_sub(T value, Order /*order*/ = Order::seq_cst) {
    return update([&](T before) { return static_cast<T>(before - value); });
  }
  T fetch_or(T value, Order /*order*/ = Order::seq_cst) {
    return update([&](T before) { return static_cast<T>(before | value); });
  }
  bool compare_exchange_strong(T& expected, T value, Order /*success*/ = Order::seq_cst,
                               Order /*failure*/ = Order::seq_cst) {
    const T wanted = expected;
    expected = update([&](T before) { return before == wanted ? value : before; });
    return expected == wanted;
  }
  bool compare_exchange_weak(T& expected, T value, Order success = Order::seq_cst, Order failure = Order::seq_cst) {
    return compare_exchange_strong(expected, value, success, failure);
  }

  int cell() const { return cell_; }
  const std::uint64_t& memory() const { return memory_; }

 private:
  static Machine& machine() { return Machine::current(); }
  static std::uint64_t pack(T value) { return (std::uint64_t)value; }
  static T unpack(std::uint64_t value) { return (T)value; }
  template <typename Change>
  T update(Change change) {
    machine().locked(cell_);
    const T before = unpack(memory_);
    memory_ = pack(change(before));
    return before;
  }

  std::uint64_t memory_;
  int cell_ = machine().new_cell();
};

// What stands in for RealAtomics.
struct ModelAtomics {
  template <typename T>
  using Atomic = ModelAtomic<T>;
  using Word = ModelAtomic<std::uint32_t>;

  static void relax(int /*rounds*/) { Machine::current().relax(); }
  static void light_fence() {}  // orders nothing but the compiler
  static void heavy_fence() { Machine::current().fence(Machine::current().fault() != Fault::no_membarrier); }
  static void full_fence() {
    if (Machine::current().fault() != Fault::no_full_fence) Machine::current().fence(false);
  }
  static void wait(Word& word, std::uint32_t expected, std::int64_t /*bound*/) {
    Machine::current().wait(word.cell(), word.memory(), expected);
  }
  // May end at any time for no reason. That it is over at once is enough: a later end is a thread that goes on later.
  static void wait_briefly(Word& /*word*/, std::uint32_t /*expected*/, std::int64_t /*bound*/) {}
  static void wake(Word& word) { Machine::current().wake(word.cell()); }
  static std::uintptr_t this_thread() { return static_cast<std::uintptr_t>(Machine::current().thread() + 2); }
};

}  // namespace progress_engine::model
