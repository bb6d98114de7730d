// SPDX-License-Identifier: BSD-3-Clause
// libprogress_chooser.so: preloaded in place of an engine into a program that names no MPI, where there are engines for
// several. When an MPI appears, the engine that was built for it comes before it:
// - A program that is linked with its MPI, as what a shell starts: it is started anew, with that engine preloaded. The
//   loader puts nothing else before a library that is there.
// - A program that loads its MPI by name, as an interpreter does: before dlopen brings the MPI, or what is linked with
//   it, the engine is opened for all to see.
// What comes in another way (dlmopen, a search path of the caller's alone) is not seen.
#include <dlfcn.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "choices.hpp"
#include "mpi/abi.hpp"
#include "mpi/launcher.hpp"
#include "mpi_search.hpp"
#include "split.hpp"

using namespace progress_engine;

namespace {

using Open = void* (*)(const char*, int) noexcept;  // else no call of it ends in a jump

Open next_open() {
  static const auto found = reinterpret_cast<Open>(dlsym(RTLD_NEXT, "dlopen"));
  return found;
}

const std::vector<Choice>& choices() {
  static const auto* const found = [] {
    const char* text = std::getenv(choices_variable);
    return new std::vector<Choice>(choices_from(text ? text : ""));
  }();
  return *found;
}

// Null if no engine fits, which is said once of a job.
const Choice* choice_for(const std::string& mpi) {
  const auto fits = [&](const Choice& choice) { return same_abi(choice.mpi, mpi); };
  if (const auto found = std::ranges::find_if(choices(), fits); found != choices().end()) return &*found;
  std::string others;
  for (const auto& choice : choices()) others.append(others.empty() ? "" : " and ").append(choice.mpi);
  if (!choices().empty() && speaks_for_all())
    std::fprintf(stderr,
                 "progress engine: the program uses %s, and the engine here was built for %s; it runs without the "
                 "engine.\n",
                 mpi.c_str(), others.c_str());
  return nullptr;
}

// ---- a program that is linked with its MPI

// Each word with its zero at the end.
std::string own_command() {
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  std::string words;
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(file, part.data(), part.size())) > 0;)
    words.append(part.data(), static_cast<std::size_t>(got));
  if (file >= 0) close(file);
  return words;
}

// The list with `libraries` in place of this one.
std::string preload_with(const std::string& libraries) {
  Dl_info ours{};
  const char* given = std::getenv("LD_PRELOAD");
  std::string list = given ? given : "";
  const std::string own = dladdr(reinterpret_cast<void*>(&own_command), &ours) != 0 ? ours.dli_fname : "";
  const auto at = list.find(own);
  if (own.empty() || at == std::string::npos) return "";
  return list.replace(at, own.size(), libraries);
}

// A library's constructor may have begun MPI before this one.
bool has_begun() {
  const auto initialized = reinterpret_cast<int (*)(int*)>(dlsym(RTLD_DEFAULT, "PMPI_Initialized"));
  int begun = 0;
  if (initialized) initialized(&begun);
  return begun != 0;
}

void start_anew(const Choice& choice) {
  const auto list = preload_with(choice.libraries);
  auto words = own_command();
  if (list.empty() || words.empty()) return;
  const char* obstacle = nullptr;
  if (has_begun()) obstacle = "a library of the program began MPI before";
  if (list.find("/vgpreload_") != std::string::npos) obstacle = "Valgrind would lose the program before";
  if (obstacle) {
    std::fprintf(stderr,
                 "progress engine: %s the engine for %s could be chosen; the program runs without the engine. Give "
                 "progress-run the program itself, or name the engine in PROGRESS_ENGINE_LIBRARY.\n",
                 obstacle, choice.mpi.c_str());
    return;
  }
  std::vector<char*> arguments;
  for (std::size_t at = 0; at < words.size(); at = words.find('\0', at) + 1) arguments.push_back(&words[at]);
  arguments.push_back(nullptr);
  std::array<char, PATH_MAX + 1> program{};
  if (readlink("/proc/self/exe", program.data(), PATH_MAX) <= 0) return;
  setenv("LD_PRELOAD", list.c_str(), 1);
  unsetenv(choices_variable);
  execv(program.data(), arguments.data());
  std::perror("progress engine: the program runs without the engine, since it could not be started anew with it");
}

// ---- a program that loads its MPI by name

bool is_loaded(const std::string& name) {
  void* library = next_open()(name.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  if (library) dlclose(library);
  return library != nullptr;
}

// Who looks for an MPI may try several names, of which some are not there: the loader is asked. It alone reads its
// cache.
std::string soname_by_loader(const std::string& name) {
  void* library = next_open()(name.c_str(), RTLD_LAZY | RTLD_LOCAL);
  if (!library) return "";
  auto soname = library_of(dlsym(library, "PMPI_Init"));
  dlclose(library);
  return soname;
}

std::atomic<bool> decided{false};

// In the order of the list, so that what is first there is found first.
void open_for_all(const Choice& choice) {
  for (const auto& library : split(choice.libraries, ':'))
    if (!next_open()(library.c_str(), RTLD_NOW | RTLD_GLOBAL))
      std::fprintf(stderr, "progress engine: the program runs without the engine: %s.\n", dlerror());
}

void look_before_opening(const char* name, int flags) {
  if (!name || (flags & RTLD_NOLOAD) != 0 || decided.load(std::memory_order_acquire) || choices().empty()) return;
  const auto mpi = MpiSearch({is_loaded, soname_by_loader}).with(name, {});
  if (mpi.empty()) return;
  static auto* const mutex = new std::recursive_mutex;  // what an engine's constructors open comes here, too
  static bool opening = false;
  const std::scoped_lock lock(*mutex);  // who comes second must not go on before the engine is there
  if (decided.load(std::memory_order_relaxed) || std::exchange(opening, true)) return;
  if (const auto* choice = choice_for(mpi)) open_for_all(*choice);
  decided.store(true, std::memory_order_release);
}

// ---- a program without MPI

long page_faults_at_first = 0;

// Why there was nothing to do says any engine, as it does where it is preloaded.
void at_end(int /*code*/, void* /*unused*/) {
  const bool has_started_others = page_faults_of_children() != page_faults_at_first;
  if (!decided.exchange(true) && !has_started_others && !choices().empty()) open_for_all(choices().front());
}

[[gnu::constructor]] void look_at_the_start() {
  if (void* init = dlsym(RTLD_DEFAULT, "PMPI_Init")) {
    decided = true;
    if (const auto* choice = choice_for(library_of(init))) start_anew(*choice);
    return;
  }
  page_faults_at_first = page_faults_of_children();
  if (is_target()) on_exit(at_end, nullptr);
}

}  // namespace

// dlopen goes by its caller's search path and name space: so this ends in a jump.
extern "C" [[gnu::visibility("default")]] void* open_after_a_look(const char* name, int flags) noexcept
    __asm__("dlopen");

[[gnu::no_sanitize("address", "thread", "undefined")]] void* open_after_a_look(const char* name, int flags) noexcept {
  look_before_opening(name, flags);
  return next_open()(name, flags);
}
