// SPDX-License-Identifier: BSD-3-Clause
#include <array>
#include <cerrno>
#include <cstring>
#include <exception>
#include <new>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>

#include "progress_engine/core.h"
#include "tasks/queues/task_engine.hpp"

#define PE_API extern "C" __attribute__((visibility("default")))

using namespace progress_engine;

struct pe_core {
  pe_core(Topology topology, const TaskEngineOptions& options) : engine(std::move(topology), options) {}
  TaskEngine engine;
};

namespace {

static_assert(sizeof(Ltask) <= sizeof(pe_ltask) && alignof(Ltask) <= alignof(pe_ltask));

thread_local std::string last_error;

int fail(int code, std::string sentence) {
  last_error = std::move(sentence);
  return code;
}

Ltask& ltask(pe_ltask* task) { return *std::launder(reinterpret_cast<Ltask*>(task)); }

struct NamedDesign {
  std::string_view name;
  QueueDesign design;
};
constexpr std::array<NamedDesign, 3> designs = {
    {{"submission", QueueDesign::submission}, {"lock", QueueDesign::lock}, {"lock-free", QueueDesign::lock_free}}};
constexpr std::array<std::string_view, 5> idle_places = {"none", "machine", "package", "l3", "core"};

QueueDesign design_of(const char* name) {
  for (const auto& [known, design] : designs)
    if (name && known == name) return design;
  throw std::invalid_argument("queue must be 'submission', 'lock' or 'lock-free', not '" +
                              std::string(name ? name : "") + "'.");
}

std::string idle_of(const char* name) {
  for (const auto known : idle_places)
    if (name && known == name) return name;
  throw std::invalid_argument("idle must be 'none', 'machine', 'package', 'l3' or 'core', not '" +
                              std::string(name ? name : "") + "'.");
}

Nanoseconds time_of(const char* name, long value) {
  constexpr long longest = 3'600'000'000;  // an hour
  if (value >= 0 && value <= longest) return microseconds(value);
  throw std::invalid_argument(std::string(name) + " must be from 0 to " + std::to_string(longest) +
                              " microseconds, not " + std::to_string(value) + ".");
}

long number_of(const char* name, long value, long least, long most) {
  if (value >= least && value <= most) return value;
  throw std::invalid_argument(std::string(name) + " must be from " + std::to_string(least) + " to " +
                              std::to_string(most) + ", not " + std::to_string(value) + ".");
}

TaskEngineOptions options_of(const pe_core_attributes& attributes) {
  constexpr long most_tasks = 1L << 24;
  TaskEngineOptions options;
  options.tree.design = design_of(attributes.queue);
  options.tree.capacity =
      static_cast<std::size_t>(number_of("capacity", static_cast<long>(attributes.capacity), 1, most_tasks));
  options.idle = idle_of(attributes.idle);
  options.idle_period = time_of("idle_us", attributes.idle_us);
  options.timer_period = time_of("timer_us", attributes.timer_us);
  options.dedicated = static_cast<int>(number_of("dedicated", attributes.dedicated, 0, 1024));
  options.spin = time_of("spin_us", attributes.spin_us);
  return options;
}

pe_core* make(const pe_core_attributes& attributes) {
  if (attributes.size != sizeof(pe_core_attributes))
    throw std::invalid_argument("the attributes must come from pe_core_attributes_init of this version.");
  const auto options = options_of(attributes);
  number_of("locality", attributes.locality, 0, 1);
  Topology topology = attributes.topology ? Topology::synthetic(attributes.topology) : Topology::of_this_machine();
  if (attributes.locality == 0) topology = topology.without_levels();
  return new pe_core(std::move(topology), options);
}

const Place* place_of(const pe_core* core, int place) {
  const auto& places = core->engine.tree().topology().places();
  const bool exists = place >= 0 && static_cast<std::size_t>(place) < places.size();
  return exists ? &places[static_cast<std::size_t>(place)] : nullptr;
}

}  // namespace

PE_API void pe_core_attributes_init(pe_core_attributes* attributes) {
  *attributes = {.size = sizeof(pe_core_attributes),
                 .topology = nullptr,
                 .queue = "submission",
                 .locality = 1,
                 .capacity = 1024,
                 .idle = "package",
                 .idle_us = 10,
                 .timer_us = 2000,
                 .dedicated = 0,
                 .spin_us = 20};
}

PE_API int pe_core_create(const pe_core_attributes* attributes, pe_core** core) {
  pe_core_attributes defaults;
  pe_core_attributes_init(&defaults);
  try {
    *core = make(attributes ? *attributes : defaults);
    return 0;
  } catch (const std::system_error& error) {
    return fail(EAGAIN, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ENOMEM, "There is not enough memory for the core.");
  } catch (const std::exception& error) {
    return fail(EINVAL, error.what());
  }
}

PE_API void pe_core_destroy(pe_core* core) { delete core; }

PE_API const char* pe_core_error() { return last_error.c_str(); }

PE_API void pe_ltask_init(pe_ltask* task, pe_ltask_poll poll, void* argument) {
  auto* made = new (task) Ltask;
  made->poll = poll;
  made->argument = argument;
}

PE_API int pe_ltask_done(const pe_ltask* task) {
  return std::launder(reinterpret_cast<const Ltask*>(task))->completion.done() ? 1 : 0;
}

PE_API int pe_core_submit(pe_core* core, pe_ltask* task, int place) {
  if (!place_of(core, place))
    return fail(EINVAL, "There is no place " + std::to_string(place) + ": they are numbered from 0 to " +
                            std::to_string(pe_core_places(core) - 1) + ".");
  if (core->engine.submit(ltask(task), place)) return 0;
  return fail(ENOSPC, "The queue is full: poll and try again, or create the core with a greater capacity.");
}

PE_API int pe_core_poll(pe_core* core) { return core->engine.poll(); }

PE_API int pe_core_wait(pe_core* core, pe_ltask* task) {
  if (core->engine.tree().inside()) return fail(EDEADLK, "An ltask must not wait for another one.");
  core->engine.wait(ltask(task));
  return 0;
}

PE_API int pe_core_places(const pe_core* core) {
  return static_cast<int>(core->engine.tree().topology().places().size());
}

PE_API int pe_core_parent(const pe_core* core, int place) {
  const Place* found = place_of(core, place);
  return found ? found->parent : -1;
}

PE_API const char* pe_core_place_kind(const pe_core* core, int place) {
  const Place* found = place_of(core, place);
  return found ? found->kind.c_str() : "";
}

PE_API int pe_core_place_of_cpu(const pe_core* core, int cpu) {
  return core->engine.tree().topology().leaf_of_cpu(cpu);
}

PE_API int pe_core_here(const pe_core* core) { return core->engine.tree().here(); }
