// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/queues/topology.hpp"

#include <hwloc.h>

#include <algorithm>
#include <array>
#include <memory>
#include <stdexcept>
#include <utility>

namespace progress_engine {
namespace {

struct Destroy {
  void operator()(hwloc_topology_t topology) const { hwloc_topology_destroy(topology); }
};
using Handle = std::unique_ptr<hwloc_topology, Destroy>;

void check(int result, const std::string& what) {
  if (result < 0) throw std::runtime_error(what);
}

Handle make_handle() {
  hwloc_topology_t topology = nullptr;
  check(hwloc_topology_init(&topology), "hwloc could not be initialised");
  return Handle(topology);
}

std::vector<int> cpus_of(hwloc_obj_t object) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(object->cpuset); cpu >= 0; cpu = hwloc_bitmap_next(object->cpuset, cpu))
    cpus.push_back(cpu);
  return cpus;
}

constexpr std::array<std::pair<hwloc_obj_type_t, const char*>, 3> kinds = {
    {{HWLOC_OBJ_PACKAGE, "package"}, {HWLOC_OBJ_L3CACHE, "l3"}, {HWLOC_OBJ_CORE, "core"}}};

// A core's hardware threads share everything that a queue could: a core is a leaf.
bool is_leaf(hwloc_obj_t object) {
  return object->arity == 0 || object->type == HWLOC_OBJ_CORE || object->type == HWLOC_OBJ_PU;
}

std::string name_of(hwloc_obj_t object) {
  std::array<char, 32> name{};
  hwloc_obj_type_snprintf(name.data(), name.size(), object, 0);
  return name.data();
}

}  // namespace

class TopologyReader {
 public:
  static Topology read(const Handle& handle) {
    Topology topology;
    add(topology, hwloc_get_root_obj(handle.get()), -1, 1);
    for (int leaf = 0; const Place& place : topology.places_) {
      if (place.leaves == std::vector{leaf}) map_cpus(topology, leaf);
      ++leaf;
    }
    for (const auto& [type, name] : kinds)
      for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(handle.get(), type, object));)
        topology.objects_.emplace_back(name, cpus_of(object));
    return topology;
  }

  static Topology flatten(const Topology& from) {
    Topology flat = from;
    flat.places_.resize(1);
    flat.places_[0].leaves = {0};
    std::ranges::fill(flat.leaf_of_cpu_, 0);
    return flat;
  }

 private:
  // Adds `object`, or what is below it where it has one child only.
  static void add(Topology& topology, hwloc_obj_t object, int parent, int siblings) {
    const std::string kind = name_of(object);
    while (!is_leaf(object) && object->arity == 1) object = object->first_child;
    const int index = static_cast<int>(topology.places_.size());
    topology.places_.push_back({parent, siblings, kind, cpus_of(object), {}});
    if (is_leaf(object)) {
      for (int place = index; place >= 0; place = topology.places_[static_cast<std::size_t>(place)].parent)
        topology.places_[static_cast<std::size_t>(place)].leaves.push_back(index);
      return;
    }
    for (hwloc_obj_t child = object->first_child; child; child = child->next_sibling)
      add(topology, child, index, static_cast<int>(object->arity));
  }

  static void map_cpus(Topology& topology, int leaf) {
    auto& map = topology.leaf_of_cpu_;
    for (const int cpu : topology.places_[static_cast<std::size_t>(leaf)].cpus) {
      map.resize(std::max(map.size(), static_cast<std::size_t>(cpu) + 1), 0);
      map[static_cast<std::size_t>(cpu)] = leaf;
    }
  }
};

Topology Topology::of_this_machine() {
  const Handle handle = make_handle();
  check(hwloc_topology_load(handle.get()), "hwloc could not read this machine's topology");
  return TopologyReader::read(handle);
}

Topology Topology::synthetic(const std::string& description) {
  const Handle handle = make_handle();
  const std::string problem =
      "'" + description + "' is no synthetic topology of hwloc's, such as 'package:2 core:4 pu:1'";
  check(hwloc_topology_set_synthetic(handle.get(), description.c_str()), problem);
  check(hwloc_topology_load(handle.get()), problem);
  return TopologyReader::read(handle);
}

Topology Topology::without_levels() const { return TopologyReader::flatten(*this); }

int Topology::leaf_of_cpu(int cpu) const {
  const auto index = static_cast<std::size_t>(cpu);
  return cpu >= 0 && index < leaf_of_cpu_.size() ? leaf_of_cpu_[index] : 0;
}

std::vector<int> Topology::places_of(const std::string& kind) const {
  std::vector<int> found;
  for (const auto& [name, cpus] : objects_) {
    if (name != kind) continue;
    // From the last place upwards: a place's children come after it.
    int place = static_cast<int>(places_.size()) - 1;
    while (place > 0 && !std::ranges::includes(places_[static_cast<std::size_t>(place)].cpus, cpus)) --place;
    if (std::ranges::count(found, place) == 0) found.push_back(place);
  }
  return found.empty() ? std::vector{0} : found;
}

}  // namespace progress_engine
