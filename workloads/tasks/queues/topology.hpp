// SPDX-License-Identifier: BSD-3-Clause
// The machine as a tree of places, by hwloc: machine, packages, caches, cores; levels without siblings are left out
// (Denis, PDP 2015, section IV-A).
#pragma once

#include <string>
#include <vector>

namespace progress_engine {

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

}  // namespace progress_engine
