// SPDX-License-Identifier: BSD-3-Clause
// What a model file says of an MPI and a machine: numbers that ./bench calibrate-model found, each with its interval.
// results/schema/model.schema.json publishes the file.
#pragma once

#include <cstdint>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "common/json.h"
#include "network.h"

namespace simulated {

using workloads::Json;

/// How messages travel.
struct Protocol {
  Bytes eager_bytes = 0;           ///< up to here a message travels with its envelope
  bool handshake = true;           ///< above: request, answer, data; false: straight into the socket
  bool zero_copy = false;          ///< the network card moves it: no CPU time, no buffers of the kernel
  Bytes send_buffer_bytes = 0;     ///< what the sender's kernel takes in one visit
  Bytes receive_buffer_bytes = 0;  ///< what the receiver's kernel holds until a visit
};

/// CPU time, seconds.
struct Costs {
  Seconds call = 0;           ///< an MPI call, or a step of a collective
  Seconds wake = 0;           ///< of the engine's thread, beside what it moves
  Seconds managed = 0;        ///< a program that sleeps inside MPI learns so much later of what has arrived
  Seconds copy_per_byte = 0;  ///< a byte through the kernel, at each end
  Seconds reduce_per_byte = 0;
};

/// The MPI's own progress thread, which polls all the time and shares a core with a program, or with several.
struct AsyncThread {
  bool exists = false;
  Seconds slice = 0;        ///< for which the scheduler gives a core to each of those that want it, by turns
  bool hands_over = false;  ///< the thread alone moves messages; else the program does, too, where it has its core
  /// How many such threads are on the core of each rank. Another number of ranks: one each, its own.
  std::vector<int> beside;
};

/// What the program computes, seconds. An application's is not known where the file has none.
struct Computation {
  Seconds unit = 0;                      ///< a unit of the benchmarks' work
  std::optional<Seconds> fft_operation;  ///< of the 5 n log2 n of a transform of n complex points
  std::optional<Seconds> copied_byte;    ///< into a message, out of one, or to its own place
  std::optional<Seconds> streamed_byte;  ///< of a sparse matrix or a vector, read or written in the order of memory

  /// All of it by this factor.
  void slow_down(double factor);
};

/// UsageError, which says how to get it, where the model lacks this rate of its `computation` group, which is fitted to
/// records of `study`.
Seconds rate_of(const std::optional<Seconds>& rate, const char* name, const char* study);

struct Model {
  Seconds settle = 0;  ///< of the launch, not the MPI: a pause before each timed transfer
  std::string mpi;
  std::string schedules;  ///< whose collectives: mpich or openmpi
  Protocol protocol;
  Costs costs;
  AsyncThread async;
  Computation computation;
};

/// The model of a file's text. `draw` 0: every number as it is; else each number drawn from its interval, the same for
/// the same `draw`. UsageError, with `place` in its sentence, where the text is no model.
Model model_from_json(const std::string& text, const std::string& place, std::uint64_t draw);

// SHA-256 (FIPS 180-4), so that a record says which files predicted it.

/// In hexadecimal, as sha256sum prints it.
std::string sha256(std::string_view bytes);

}  // namespace simulated
