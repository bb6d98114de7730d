// SPDX-License-Identifier: BSD-3-Clause
// When somebody progresses a rank's messages while its program computes: who has a core when, and the rule of each
// variant.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "common/noncopyable.h"
#include "model.h"
#include "network.h"

namespace simulated {

// Programs and busy threads by turns on their cores: who has a core when.

/// Of a rank whose MPI hands every message over to a thread of its own. Each on a core has it for a slice, one behind
/// the other: first the program, then the threads.
class Turns {
 public:
  /// Of `rank` among `ranks`. The model's slice must be more than 0.
  Turns(const AsyncThread& async, int rank, int ranks);

  /// From `time` on, the first at which the program has its core.
  [[nodiscard]] Seconds program_at(Seconds time) const { return at(time, beside_, 0); }
  /// From `time` on, the first at which the thread has its core.
  [[nodiscard]] Seconds thread_at(Seconds time) const { return at(time, beside_thread_, place_); }
  /// When a computation of `work` is over that begins at `from`.
  [[nodiscard]] Seconds computed(Seconds from, Seconds work) const;

 private:
  [[nodiscard]] Seconds at(Seconds time, int others, int place) const;

  Seconds slice_;
  int beside_;             // threads on the program's core
  int beside_thread_ = 1;  // threads on the core where this rank's is, itself among them, beside a program
  int place_ = 1;          // of the thread among these, 1 the first
};

/// How many busy threads of the MPI's are on the core of `rank` among `ranks`.
int threads_beside(const AsyncThread& async, int rank, int ranks);

// When somebody progresses a rank's messages while its program computes: the rule of each variant.

/// What a poll beside the computation did.
struct Poll {
  Seconds at = 0;
  Seconds took = 0;    ///< all of its CPU time
  Seconds moving = 0;  ///< of it: moving data
  bool moved = false;
  bool late = false;  ///< traffic stood still for want of polling
  int steps = 0;      ///< that it took of messages whose data the card moves
};

/// Of one rank. Every time is of the simulation.
class Wakes : workloads::NonCopyable {
 public:
  virtual ~Wakes() = default;

  /// Messages no longer than this, in all at most eight times as long, are none of its business; 0: each one is.
  [[nodiscard]] virtual Bytes eager() const { return 0; }
  /// Something is pending that is its business and was not before, or nothing any more.
  virtual void pending(Seconds /*now*/, bool /*something*/) {}
  /// When the next poll is if `traffic` has arrived (or has not), at the earliest at `now`; nothing: never.
  [[nodiscard]] virtual std::optional<Seconds> next(Seconds now, bool traffic) = 0;
  virtual void polled(const Poll& /*poll*/) {}
  /// How long it goes on polling once it is awake, on the program's core.
  [[nodiscard]] virtual Seconds stays() const { return 0; }
  /// A computation begins, when the program has just had its core.
  virtual void computes(Seconds /*now*/) {}
  /// The program sleeps inside MPI, and learns so much later of what has arrived; 0: it polls there itself.
  [[nodiscard]] virtual Seconds sleeps() const { return 0; }
  /// A program that waits leaves its core to a thread that polls, and looks each time that so long has passed; 0: at
  /// once.
  [[nodiscard]] virtual Seconds looks() const { return 0; }
  /// Of a thread that alone moves the messages; null: the program does, too.
  [[nodiscard]] virtual const Turns* turns() const { return nullptr; }
};

struct Variant {
  std::string name;                             ///< as ./bench names it, settings and all
  std::string preset;                           ///< adaptive, say
  std::map<std::string, std::string> settings;  ///< of the engine
};

/// "adaptive:max_distance_us=2000" and a program's own thread are variants. UsageError where a setting is no number.
Variant variant_of(const std::string& preset, const std::map<std::string, std::string>& settings);

/// Why this variant cannot be simulated, a sentence; empty if it can.
std::string why_not(const Variant& variant, const Model& model);

/// Whether under this variant, one that can be simulated, somebody polls beside the computation.
bool polls(const Variant& variant);

/// The rule of this variant, which must be one that can be simulated, for `rank` among `ranks`.
std::unique_ptr<Wakes> make_wakes(const Variant& variant, const Model& model, int rank, int ranks);

}  // namespace simulated
