// SPDX-License-Identifier: BSD-3-Clause
// A task queue for every place of the machine (Denis, PDP 2015, section IV-A).
//
// A round polls the queues from a leaf up to the root; since each of a place's children contributes to its polling, a
// round goes on to the parent only once in `siblings` times.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tasks/queues/task_queue.hpp"

namespace progress_engine {

// The machine as a tree of places, by hwloc: machine, packages, caches, cores; levels without siblings are left out
// (Denis, PDP 2015, section IV-A).

struct Place {
  int parent = -1;        // index; -1: the root
  int siblings = 1;       // children of its parent, itself included
  std::string kind;       // hwloc's name of the outermost object that it stands for: "Machine", "Package", "L3", "Core"
  std::vector<int> cpus;  // the system's numbers
  std::vector<int> leaves;  // indices of the places without children below it, or its own
};

// Immutable: any number of threads may read it.
class Topology {
 public:
  // This machine, with the CPUs that the process may use by its control group. Throws std::runtime_error.
  static Topology of_this_machine();
  // hwloc's synthetic description, such as "package:2 core:4 pu:1". Throws std::runtime_error.
  static Topology synthetic(const std::string& description);

  // Place 0 is the root; parents come before their children.
  const std::vector<Place>& places() const { return places_; }
  // The leaf to which a CPU belongs; the root for a CPU that is not in the tree.
  int leaf_of_cpu(int cpu) const;
  // The places that stand for `kind` ("package", "l3", "core"): the lowest ones that hold a whole object of the kind.
  // Where hwloc knows no such object, the root.
  std::vector<int> places_of(const std::string& kind) const;
  // All CPUs in one place.
  Topology without_levels() const;

 private:
  friend class TopologyReader;
  std::vector<Place> places_;
  std::vector<int> leaf_of_cpu_;
  std::vector<std::pair<std::string, std::vector<int>>> objects_;  // kind and CPUs of every package, L3 and core
};

class TaskTree {
 public:
  struct Options {
    QueueDesign design = QueueDesign::submission;
    std::size_t capacity = 1024;                // of a lock-free queue
    Nanoseconds location_age = seconds(1) / 4;  // for how long a thread takes its place for granted
    int (*cpu)() = nullptr;                     // where the calling thread runs; null: asks the system
  };

  TaskTree(Topology topology, const Options& options);

  // False if there is no room. `place` is an index of the topology's. Any thread, from within an ltask too.
  bool submit(Ltask& task, int place);
  // Leaf to root. From within an ltask: does nothing. Returns how many tasks it polled. Any thread.
  int round(int leaf);
  // Every queue once.
  int full_round();
  // The leaf where the calling thread is, as it was a short while ago.
  int here() const;
  // True while the calling thread runs an ltask of this tree.
  bool inside() const;
  // False while a task is not done.
  bool empty() const;

  const Topology& topology() const { return topology_; }

 private:
  struct alignas(128) Node {
    std::unique_ptr<TaskQueue> queue;
    // Rounds that passed here, by plain loads and stores: a lost one only shifts a parent's turn.
    std::atomic<unsigned> rounds{0};
  };
  Node& node(int place) const { return nodes_[static_cast<std::size_t>(place)]; }

  const Topology topology_;
  const Options options_;
  const std::uint64_t serial_;  // tells trees apart, also one that was made where another one was
  std::unique_ptr<Node[]> nodes_;
};

}  // namespace progress_engine
