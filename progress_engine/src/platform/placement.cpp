// SPDX-License-Identifier: BSD-3-Clause
#include "platform/placement.hpp"

#include <fmt/format.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

namespace progress_engine {
namespace {

std::optional<int> parse_number(std::string_view text) {
  int number = 0;
  const char* begin = std::to_address(text.begin());
  const char* end = std::to_address(text.end());
  const auto [stop, error] = std::from_chars(begin, end, number);
  if (error != std::errc() || stop != end || number < 0) return {};
  return number;
}

// More than any kernel is built for.
constexpr std::size_t most_cpus = 1U << 20U;

// By their numbers.
using TakenCpus = std::vector<bool>;

bool is_taken(const TakenCpus& taken, int cpu) { return taken[static_cast<std::size_t>(cpu)]; }

// One CPU for one thread: the first of its own that nobody has taken.
void take_one(const Cpus& from, TakenCpus& taken) {
  const auto free = std::ranges::find_if(from, [&](int cpu) { return !is_taken(taken, cpu); });
  if (free != from.end()) taken[static_cast<std::size_t>(*free)] = true;
}

// How many numbers there are up to the highest one.
std::size_t numbers_of(const Cpus& cpus) { return cpus.empty() ? 0 : static_cast<std::size_t>(cpus.back()) + 1; }

// The engine's threads have names that begin so.
constexpr std::string_view names_of_ours = "pe-";

bool is_ours(int tid) {
  std::ifstream file("/proc/self/task/" + std::to_string(tid) + "/comm");
  std::string name;
  std::getline(file, name);
  return name.starts_with(names_of_ours);
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "{0:4},{4:4}" has 2 places, "{0:4}:8:4" has 8, "cores(6)" 6; 0 where no number is named.
std::size_t number_of_places(std::string_view text) {
  text = without_blanks(text);
  if (!text.starts_with('{')) {
    const auto open = text.find('(');
    const auto close = text.find(')');
    if (open == std::string_view::npos || close == std::string_view::npos || close < open) return 0;
    return static_cast<std::size_t>(parse_number(without_blanks(text.substr(open + 1, close - open - 1))).value_or(0));
  }
  std::size_t places = 0;
  for (auto at = text.find('}'); at != std::string_view::npos; at = text.find('}', at + 1)) {
    const auto next = text.find('{', at);
    auto after = without_blanks(text.substr(at + 1, next == std::string_view::npos ? next : next - at - 1));
    if (after.starts_with(':')) {
      after.remove_prefix(1);
      places += static_cast<std::size_t>(
          parse_number(without_blanks(after.substr(0, after.find_first_of(":,")))).value_or(1));
    } else {
      ++places;
    }
  }
  return places;
}

bool is_same_file(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

}  // namespace

Cpus parse_cpu_list(std::string_view text) {
  Cpus cpus;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const std::string_view part = text.substr(0, comma);
    text = comma == std::string_view::npos ? "" : text.substr(comma + 1);
    const auto dash = part.find('-');
    const auto first = parse_number(part.substr(0, dash));
    const auto last = dash == std::string_view::npos ? first : parse_number(part.substr(dash + 1));
    if (!first || !last || *first > *last || std::cmp_greater_equal(*last, most_cpus)) return {};
    for (int cpu = *first; cpu <= *last; ++cpu) cpus.push_back(cpu);
  }
  std::ranges::sort(cpus);
  const auto again = std::ranges::unique(cpus);
  cpus.erase(again.begin(), again.end());
  return cpus;
}

std::string format_cpu_list(const Cpus& cpus) { return fmt::format("{}", fmt::join(cpus, ",")); }

Cpus spare_cpus(const Cpus& own, const std::vector<Cpus>& neighbours, const std::vector<Cpus>& threads,
                std::size_t wanted) {
  const std::size_t each = std::max(threads.size(), wanted);
  std::vector<Cpus> takers;
  for (const auto& cpus : neighbours) takers.insert(takers.end(), std::min(each, cpus.size()), cpus);
  takers.insert(takers.end(), threads.begin(), threads.end());
  takers.insert(takers.end(), std::min(each - threads.size(), own.size()), own);
  std::ranges::stable_sort(takers, {}, &Cpus::size);
  std::size_t numbers = numbers_of(own);
  for (const auto& cpus : takers) numbers = std::max(numbers, numbers_of(cpus));
  TakenCpus taken(numbers);
  for (const auto& cpus : takers) take_one(cpus, taken);
  Cpus spare;
  std::ranges::copy_if(own, std::back_inserter(spare), [&](int cpu) { return !is_taken(taken, cpu); });
  return spare;
}

std::size_t openmp_threads(const char* num_threads, const char* places) {
  const std::string_view numbers = num_threads ? num_threads : "";
  const auto first = parse_number(without_blanks(numbers.substr(0, numbers.find(','))));
  const std::size_t number = first ? static_cast<std::size_t>(*first) : number_of_places(places ? places : "");
  return std::max<std::size_t>(number, 1);
}

std::vector<Cpus> ComputingThreads::look() {
  constexpr Nanoseconds share = 8;
  std::map<int, Nanoseconds> used;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc/self/task", error), end; !error && entry != end;
       entry.increment(error))
    if (const auto tid = parse_number(entry->path().filename().native()); tid && !is_ours(*tid))
      used[*tid] = cpu_time_of_thread(*tid);
  const auto since = [&](const auto& thread) {
    const auto before = used_.find(thread.first);
    return thread.second - (before == used_.end() ? 0 : std::min(before->second, thread.second));
  };
  Nanoseconds most = 0;
  for (const auto& thread : used) most = std::max(most, since(thread));
  std::vector<Cpus> found;
  for (const auto& thread : used)
    if (most > 0 && since(thread) >= most / share) found.push_back(allowed_cpus(thread.first));
  used_ = std::move(used);
  return found;
}

const Cpus& SpareCpus::look(Nanoseconds time) {
  constexpr Nanoseconds longest_pause = seconds(60);
  if (!std::exchange(looked_, true)) neighbours_ = cpus_of_neighbours();
  spare_ = spare_cpus(own_, neighbours_, threads_.look(), wanted_);
  next_look_ = time + pause_;
  pause_ = std::min(2 * pause_, longest_pause);
  return spare_;
}

// The kernel refuses a mask that is shorter than its own.
Cpus allowed_cpus(int tid) {
  Cpus cpus;
  for (std::size_t masks = 1; masks * CPU_SETSIZE <= most_cpus; masks *= 2) {
    std::vector<cpu_set_t> set(masks);
    if (sched_getaffinity(tid, masks * sizeof(cpu_set_t), set.data()) == 0) {
      for (std::size_t cpu = 0; cpu < masks * CPU_SETSIZE; ++cpu)
        if (CPU_ISSET_S(cpu, masks * sizeof(cpu_set_t), set.data())) cpus.push_back(static_cast<int>(cpu));
      break;
    }
    if (errno != EINVAL) break;
  }
  return cpus;
}

namespace {

// More than Linux is built for anywhere (8192): where it is not enough, the mask is asked for later.
constexpr std::size_t words_at_start = 512;
constinit std::array<unsigned long, words_at_start> mask_at_start{};
constinit long bytes_at_start = 0;
constinit std::atomic<const Cpus*> known_cpus{nullptr};

Cpus cpus_at_start() {
  Cpus cpus;
  constexpr std::size_t bits = 8 * sizeof(unsigned long);
  for (std::size_t cpu = 0; std::cmp_less(cpu / 8, bytes_at_start); ++cpu)
    if ((mask_at_start[cpu / bits] >> cpu % bits & 1U) != 0) cpus.push_back(static_cast<int>(cpu));
  return cpus.empty() ? allowed_cpus(getpid()) : cpus;
}

}  // namespace

// The loader calls the resolver of an indirect function (IFUNC) when it relocates the library that has it, which is
// before any constructor of any library that comes with the program, whatever their order: libgomp's binds the thread.
// Nothing may be called here, not even an inline function: without optimisation that is a call by a table that may not
// be relocated yet.
#if defined(__x86_64__) || defined(__aarch64__)
extern "C" {
[[gnu::used, gnu::no_sanitize("address", "thread", "undefined")]] static void (*pe_resolve_at_start())() {
  long result = 0;
  // NOLINTBEGIN(hicpp-no-assembler): syscall(2) is a function of the C library
#ifdef __x86_64__
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(SYS_sched_getaffinity), "D"(0), "S"(sizeof mask_at_start), "d"(&mask_at_start)
                   : "rcx", "r11", "memory");
#else
  register long number __asm__("x8") = SYS_sched_getaffinity;
  register long first __asm__("x0") = 0;
  register long second __asm__("x1") = sizeof mask_at_start;
  register long third __asm__("x2") = reinterpret_cast<long>(&mask_at_start);
  __asm__ volatile("svc 0" : "+r"(first) : "r"(number), "r"(second), "r"(third) : "memory");
  result = first;
#endif
  // NOLINTEND(hicpp-no-assembler)
  bytes_at_start = result > 0 ? result : 0;
  return +[] {};
}
static void pe_at_start() __attribute__((ifunc("pe_resolve_at_start")));
[[gnu::used]] static void (*const pe_relocated)() = pe_at_start;
}
#endif

const Cpus& cpus_of_process() {
  if (const Cpus* known = known_cpus.load(std::memory_order_acquire)) return *known;
  const Cpus* none = nullptr;
  auto found = std::make_unique<const Cpus>(cpus_at_start());
  if (known_cpus.compare_exchange_strong(none, found.get())) return *found.release();
  return *none;
}

// What was known is never freed: a thread may be reading it.
void set_cpus_of_process(Cpus cpus) {
  const Cpus* known = known_cpus.load(std::memory_order_acquire);
  if (!cpus.empty() && (!known || cpus != *known)) known_cpus = new Cpus(std::move(cpus));
}

int number_of_cpus() {
  const auto allowed = cpus_of_process().size();
  return static_cast<int>(allowed > 0 ? static_cast<long>(allowed) : std::max(1L, sysconf(_SC_NPROCESSORS_ONLN)));
}

std::vector<Cpus> cpus_of_neighbours() {
  std::vector<Cpus> found;
  struct stat own{};
  if (stat("/proc/self/exe", &own) != 0) return found;
  std::error_code error;
  for (std::filesystem::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const auto pid = parse_number(entry->path().filename().native());
    struct stat other{};
    if (!pid || *pid == getpid() || stat((entry->path() / "exe").c_str(), &other) != 0) continue;
    if (is_same_file(own, other)) found.push_back(allowed_cpus(*pid));
  }
  return found;
}

bool bind_this_thread_to(const Cpus& cpus) {
  const int highest = cpus.empty() ? 0 : *std::ranges::max_element(cpus);
  std::vector<cpu_set_t> set(static_cast<std::size_t>(highest) / CPU_SETSIZE + 1);
  const std::size_t size = set.size() * sizeof(cpu_set_t);
  for (const int cpu : cpus) CPU_SET_S(static_cast<std::size_t>(cpu), size, set.data());
  return sched_setaffinity(0, size, set.data()) == 0;
}

}  // namespace progress_engine
