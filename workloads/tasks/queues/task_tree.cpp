// SPDX-License-Identifier: BSD-3-Clause
#include "tasks/queues/task_tree.hpp"

#include <hwloc.h>
#include <sched.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <utility>

namespace progress_engine {
namespace {

std::atomic<std::uint64_t> last_serial{0};

// Where this thread was seen last, and in which tree's ltask it is.
struct ThisThread {
  std::uint64_t tree = 0;
  int leaf = 0;
  Nanoseconds until = 0;
  const TaskTree* inside = nullptr;
};
thread_local ThisThread this_thread;

// A few nanoseconds, and good to some milliseconds.
Nanoseconds coarse_now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC_COARSE, &time);
  return seconds(time.tv_sec) + time.tv_nsec;
}

// Queues are not entered from within their own ltasks.
class Entry {
 public:
  explicit Entry(const TaskTree* tree) : outer_(std::exchange(this_thread.inside, tree)) {}
  ~Entry() { this_thread.inside = outer_; }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;

 private:
  const TaskTree* outer_;
};

}  // namespace

TaskTree::TaskTree(Topology topology, const Options& options)
    : topology_(std::move(topology)),
      options_(options),
      serial_(++last_serial),
      nodes_(std::make_unique<Node[]>(topology_.places().size())) {
  for (std::size_t i = 0; i < topology_.places().size(); ++i)
    nodes_[i].queue = make_task_queue(options_.design, options_.capacity);
}

bool TaskTree::submit(Ltask& task, int place) {
  task.completion.reset();
  return node(place).queue->submit(task);
}

int TaskTree::round(int leaf) {
  if (inside()) return 0;
  const Entry entry(this);
  int polled = 0;
  for (int place = leaf;;) {
    Node& at = node(place);
    const Place& about = topology_.places()[static_cast<std::size_t>(place)];
    polled += at.queue->run();
    if (about.parent < 0) return polled;
    const unsigned rounds = at.rounds.load(std::memory_order_relaxed) + 1;
    at.rounds.store(rounds, std::memory_order_relaxed);
    if (rounds % static_cast<unsigned>(about.siblings) != 0) return polled;
    place = about.parent;
  }
}

int TaskTree::full_round() {
  if (inside()) return 0;
  const Entry entry(this);
  int polled = 0;
  for (std::size_t i = 0; i < topology_.places().size(); ++i) polled += nodes_[i].queue->run();
  return polled;
}

int TaskTree::here() const {
  const Nanoseconds time = coarse_now();
  if (this_thread.tree != serial_ || time >= this_thread.until) {
    this_thread.tree = serial_;
    this_thread.leaf = topology_.leaf_of_cpu(options_.cpu ? options_.cpu() : sched_getcpu());
    this_thread.until = time + options_.location_age;
  }
  return this_thread.leaf;
}

bool TaskTree::inside() const { return this_thread.inside == this; }

bool TaskTree::empty() const {
  for (std::size_t i = 0; i < topology_.places().size(); ++i)
    if (!nodes_[i].queue->empty()) return false;
  return true;
}

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
