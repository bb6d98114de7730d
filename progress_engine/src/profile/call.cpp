// SPDX-License-Identifier: BSD-3-Clause
#include "profile/call.hpp"

#include <dlfcn.h>
#include <link.h>
#include <unwind.h>

#include <algorithm>
#include <iterator>
#include <mutex>
#include <set>
#include <span>
#include <string_view>
#include <utility>

#include "platform/loaded_object.hpp"

namespace progress_engine::profile {

std::atomic<bool> counting{false};
constinit thread_local ThreadClock clock_of_thread;

Profile& profile() {
  static auto* the_profile = new Profile;  // never destroyed: MPI_Finalize may be called at exit
  return *the_profile;
}

// ---- who called

namespace {

struct Range {
  std::uintptr_t begin;
  std::uintptr_t end;
};

struct Libraries {
  std::vector<Range> mpi;  // and this one
  std::vector<Range> python;
};

// Written before anything is counted.
Libraries& libraries() {
  static auto* the_libraries = new Libraries;
  return *the_libraries;
}

bool is_in(const std::vector<Range>& ranges, const void* address) {
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return std::ranges::any_of(ranges, [at](const Range& range) { return at >= range.begin && at < range.end; });
}

bool is_the_programs(const void* address) { return !is_in(libraries().mpi, address); }

constexpr int most_frames = 12;  // that are not the program's: three of our own, those of the bindings, some of tools
constexpr std::size_t most_stacks = 4 * SiteTable::most;

int depth = 1;

struct Search {
  std::size_t wanted;
  Frames found;
  int others = 0;
};

_Unwind_Reason_Code look_for_program(_Unwind_Context* frame, void* argument) {
  auto& search = *static_cast<Search*>(argument);
  const auto* address = reinterpret_cast<const void*>(_Unwind_GetIP(frame));
  if (address && is_the_programs(address))
    search.found.push_back(address);
  else
    ++search.others;
  return search.found.size() == search.wanted || search.others == most_frames ? _URC_END_OF_STACK : _URC_NO_REASON;
}

// The same frames have the same address; null where there are too many.
const Frames* kept(Frames frames) {
  static auto* mutex = new std::mutex;
  static auto* stacks = new std::set<Frames>;
  const std::scoped_lock lock(*mutex);
  if (stacks->size() >= most_stacks) {
    const auto known = stacks->find(frames);
    return known == stacks->end() ? nullptr : &*known;
  }
  return &*stacks->insert(std::move(frames)).first;
}

}  // namespace

void look_at_libraries() {
  libraries() = {};
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* own) {
        std::vector<Range> code;
        for (const auto& segment : std::span<const ElfW(Phdr)>(info->dlpi_phdr, info->dlpi_phnum)) {
          const auto begin = info->dlpi_addr + segment.p_vaddr;
          if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            code.push_back({begin, begin + segment.p_memsz});
        }
        const std::string_view path = info->dlpi_name ? info->dlpi_name : "";
        if (is_in(code, own) || name_of_file(path).starts_with("libmpi"))
          std::ranges::copy(code, std::back_inserter(libraries().mpi));
        if (is_python_binding(path)) std::ranges::copy(code, std::back_inserter(libraries().python));
        return 0;
      },
      reinterpret_cast<void*>(&look_for_program));
}

CallSite site_of(const void* caller, std::uint16_t function) {
  Search search{.wanted = static_cast<std::size_t>(depth), .found = {}};
  if (depth > 1 || !is_the_programs(caller)) _Unwind_Backtrace(look_for_program, &search);
  const void* address = search.found.empty() ? caller : search.found.front();
  CallSite site{.address = address, .function = function, .region = current_region()};
  if (const char* const line = is_in(libraries().python, address) ? python_line(depth) : nullptr) {
    site.address = line;
    site.kind = CallSite::Kind::text;
  } else if (search.found.size() > 1) {
    if (const Frames* const frames = kept(std::move(search.found))) {
      site.address = frames;
      site.kind = CallSite::Kind::frames;
    }
  }
  return site;
}

void set_depth(int frames) { depth = std::max(frames, 1); }

// ---- the call

void Call::enter() {
  entered_ = now();
  if (!clock_.blocked.address) return;
  const auto gap = entered_ - clock_.left;
  profile().sites.add({clock_.blocked, {}}, {.then_computed = std::min(gap, clock_.blocked_for)});
  clock_.blocked = {};
}

// What the profiler itself takes is nothing that the program computes.
void Call::leave() {
  clock_.left = now();
  const auto inside = clock_.left - entered_;
  clock_.inside += inside;
  profile().inside.fetch_add(inside, std::memory_order_relaxed);
}

Nanoseconds Call::returned() {
  if (returned_ == 0) returned_ = now();
  return returned_;
}

void Call::with(const Stream& stream) {
  if (counts_ && messages_.count < messages_.all.size())
    messages_.all[messages_.count++] = profile().messages.start(stream, entered_);
}

void Call::started(std::uint64_t request, std::uint64_t bytes) {
  if (!counts_) return;
  const auto at = returned();
  const auto inside = at - entered_;
  profile().messages.is_pending(messages_);
  profile().requests.add(request, {.start = site(),
                                   .bytes = bytes,
                                   .thread = &clock_,
                                   .since = at,
                                   .outside = at - clock_.inside - inside,
                                   .inside = inside,
                                   .messages = messages_});
}

void Call::prepared(std::uint64_t request, std::uint64_t bytes, std::optional<Stream> stream) {
  if (counts_) profile().persistent.add(request, {.start = site(), .bytes = bytes, .stream = stream});
}

void Call::restarted(std::uint64_t request) {
  if (!counts_) return;
  const auto known = profile().persistent.find(request);
  messages_ = {};  // of several requests each has its own
  if (known && known->stream) with(*known->stream);
  started(request, known ? known->bytes : 0);
}

void Call::freed(std::uint64_t request) {
  if (!counts_) return;
  profile().requests.remove(request);
  profile().persistent.remove(request);
}

void Call::cancelled(std::uint64_t request) {
  if (!counts_) return;
  if (const auto pending = profile().requests.find(request)) profile().messages.cancelled(pending->messages);
}

void Call::accessed(std::uint64_t window, std::uint64_t bytes) {
  if (!counts_) return;
  auto epoch = profile().windows.find(window);
  if (!epoch) {
    const auto at = returned();
    const auto inside = at - entered_;
    epoch = Pending{.start = site(), .thread = &clock_, .since = at, .outside = at - clock_.inside - inside};
  }
  epoch->bytes += bytes;
  epoch->inside += returned() - entered_;
  profile().windows.add(window, *epoch);
}

// Where another thread started it, all that has passed since; the same where a thread has ended and another one has its
// memory.
Nanoseconds Call::computed(const Pending& pending) const {
  const auto passed = entered_ - pending.since;
  if (pending.thread != &clock_) return passed;
  const auto outside = entered_ - clock_.inside - pending.outside;
  return outside >= 0 && outside <= passed ? outside : passed;
}

// The target's progress could win all that is waited, whatever was computed here; also where no access of this process
// is pending: of another target, after a local flush, or for the accesses of others.
void Call::synchronised(std::uint64_t window) {
  if (!counts_) return;
  const auto epoch = profile().windows.find(window);
  if (!epoch) {
    const auto inside = returned() - entered_;
    profile().sites.add({site(), {}}, {.count = 1, .inside = inside, .winnable = inside});
    return;
  }
  profile().windows.remove(window);
  const auto hidden = computed(*epoch);
  const auto waited = returned() - entered_;
  profile().sites.add({epoch->start, site()}, {.count = 1,
                                               .bytes = epoch->bytes,
                                               .inside = epoch->inside,
                                               .computed = hidden,
                                               .waited = waited,
                                               .winnable = waited});
}

void Call::blocked(std::uint64_t bytes) {
  if (!counts_) return;
  clock_.blocked = site();
  clock_.blocked_for = returned() - entered_;
  const Operation operation{clock_.blocked, {}};
  profile().sites.add(operation, {.count = 1, .bytes = bytes, .inside = clock_.blocked_for});
  if (messages_.count == 0) return;
  profile().messages.wait({.operation = operation,
                           .call = profile().messages.next_call(),
                           .begin = entered_,
                           .time = clock_.blocked_for,
                           .share = clock_.blocked_for},
                          messages_);
}

// ---- what it completes

void Completing::expect(int index, std::uint64_t handle) {
  if (const auto pending = profile().requests.find(handle)) expected_.push_back({index, handle, *pending, false});
}

// A call waits once for all that it completes: each has its share of that, by bytes where all are known. What progress
// could win of it is bounded by the longest computation beside one of them, and shared as the wait is.
Completing::~Completing() {
  if (expected_.empty()) return;
  const auto time = call_.returned() - call_.entered_;
  const auto completed = static_cast<Nanoseconds>(std::ranges::count(expected_, true, &Expected::done));
  if (completed == 0) {
    for (const auto& one : expected_)
      profile().requests.add_test(one.handle, one.pending.serial, time / static_cast<Nanoseconds>(expected_.size()));
    return;
  }
  Nanoseconds longest = 0;
  Nanoseconds tested = 0;
  double all_bytes = 0;
  bool known = true;
  for (const auto& one : expected_) known = known && (!one.done || one.pending.bytes > 0);
  const auto weight = [known](const Expected& one) { return known ? static_cast<double>(one.pending.bytes) : 1.0; };
  for (const auto& one : expected_) {
    if (!one.done) continue;
    longest = std::max(longest, call_.computed(one.pending));
    tested += one.pending.tested;
    all_bytes += weight(one);
  }
  const auto winnable = static_cast<double>(std::min(longest, time + tested));
  const CallSite here = call_.site();
  const auto number = profile().messages.next_call();
  for (const auto& one : expected_) {
    if (!one.done) continue;
    const auto hidden = call_.computed(one.pending);
    const auto part = weight(one) / all_bytes;
    const auto share = static_cast<Nanoseconds>(static_cast<double>(time) * part);
    const Operation operation{one.pending.start, here};
    profile().requests.remove(one.handle, one.pending.serial);
    profile().messages.completing(one.pending.messages, call_.entered_);
    profile().sites.add(operation, {.count = 1,
                                    .bytes = one.pending.bytes,
                                    .inside = one.pending.inside,
                                    .computed = hidden,
                                    .waited = share + one.pending.tested,
                                    .winnable = static_cast<Nanoseconds>(winnable * part)});
    profile().messages.wait({.operation = operation,
                             .call = number,
                             .begin = call_.entered_,
                             .time = time,
                             .share = share,
                             .computed = hidden,
                             .thread = &call_.clock_,
                             .outside = call_.entered_ - call_.clock_.inside},
                            one.pending.messages);
  }
}

}  // namespace progress_engine::profile
