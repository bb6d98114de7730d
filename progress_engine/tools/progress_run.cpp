// SPDX-License-Identifier: BSD-3-Clause
// progress-run: starts a program with the engine preloaded. It stands on the ranks: mpiexec ... progress-run ... --
// CMD.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "builds.hpp"
#include "choices.hpp"
#include "mpi/abi.hpp"
#include "mpi/launcher.hpp"
#include "policy/sources.hpp"
#include "supervise.hpp"
#include "target_program.hpp"

using namespace progress_engine;

namespace {

constexpr int usage_error = 2;

struct Options {
  std::string variant;
  std::vector<std::string> set;
  std::string configuration;
  std::string report;
  std::string report_file;
  std::string profile;
  bool strict = false;
  std::vector<std::string> command;
};

struct Refusal : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// What the command line says, as the last source; the ranks find it in their environment.
Source command_line(const Options& options) {
  Source source{.origin = "the command line", .values = {}, .variant = options.variant};
  Values& overrides = source.values;
  for (const auto& entry : options.set) {
    const auto equals = entry.find('=');
    if (equals == std::string::npos) throw SettingError(fmt::format("--set {}: it must be KEY=VALUE.", entry));
    overrides[entry.substr(0, equals)] = entry.substr(equals + 1);
  }
  if (!options.report.empty()) overrides["report"] = options.report;
  if (options.strict) overrides["strict"] = "1";
  if (!options.report_file.empty()) overrides["report_file"] = options.report_file;
  if (!options.profile.empty()) overrides["profile"] = options.profile;
  // The program may go to another folder before these are opened.
  for (const char* key : {"report_file", "profile"})
    if (const auto named = overrides.find(key); named != overrides.end() && !named->second.empty())
      named->second = std::filesystem::absolute(named->second);
  return source;
}

constexpr const char* engine_variable = "PROGRESS_ENGINE_LIBRARY";

// The file that the user names in `variable`; "" for none.
std::string library_given(const char* variable) {
  const char* given = std::getenv(variable);
  if (!given || !*given) return "";
  if (!std::filesystem::exists(given)) throw Refusal(fmt::format("{}={}: no such file.", variable, given));
  return std::filesystem::absolute(given);  // the program may go to another folder before it starts others
}

std::string library_in(const std::filesystem::path& folder, const char* name, const char* variable) {
  if (auto given = library_given(variable); !given.empty()) return given;
  const auto library = folder / name;
  if (std::filesystem::exists(library)) return library;
  throw Refusal(fmt::format("{} is missing; build it, or set {}.", library.string(), variable));
}

// A program that loads its MPI by name when it runs names none beforehand. mpi4py's says here which it will be.
std::string mpi_of_python() {
  constexpr std::array<std::pair<std::string_view, const char*>, 4> names = {{{"mpich", "libmpi.so.12"},
                                                                              {"impi", "libmpi.so.12"},
                                                                              {"openmpi", "libmpi.so.40"},
                                                                              {"mpiabi", "libmpi_abi.so.1"}}};
  const char* said = std::getenv("MPI4PY_MPIABI");
  const auto* found = std::ranges::find(names, std::string_view(said ? said : ""), &decltype(names)::value_type::first);
  return found == names.end() ? "" : found->second;
}

// What names no MPI may start what is named behind it (env, numactl, gdb --args, valgrind): the MPI of the first word
// that is a program for which there is an engine.
std::string mpi_of_words(const std::vector<std::string>& command) {
  const auto builds = builds_here();
  for (const auto& word : command) {
    const auto program = find_program(word);
    const auto mpi = program.empty() ? "" : how_to_preload(program).mpi;
    const auto fits = [&](const Build& build) { return same_abi(build.built_for, mpi); };
    if (!mpi.empty() && std::ranges::any_of(builds, fits)) return mpi;
  }
  return "";
}

// The build for a program that uses `mpi`, or for this tool's own MPI where that is not known. If there is none
// `refusal` says why.
std::filesystem::path build_for(const std::string& mpi, std::string& refusal) {
  const auto builds = builds_here();
  const auto fits = [&](const Build& build) { return same_abi(build.built_for, mpi.empty() ? built_for() : mpi); };
  if (const auto found = std::ranges::find_if(builds, fits); found != builds.end()) return found->folder;
  std::set<std::string> others;
  for (const auto& build : builds) others.insert(build.built_for);
  refusal = fmt::format("uses {}, and the engine here was built for {}", mpi, fmt::join(others, " and "));
  return builds.back().folder;
}

// As LD_PRELOAD lists them. The profiler comes before the engine: what it sees are the program's calls.
std::string libraries_of(const std::filesystem::path& build, const Policy& policy) {
  std::string list;
  if (!policy.profile.empty())
    list = name_for_preload(library_in(build, "libprogress_profile.so", "PROGRESS_PROFILE_LIBRARY")) + ":";
  return list + name_for_preload(library_in(build, "libprogress_engine.so", engine_variable));
}

// For a program that names no MPI, where there are engines for several: in place of `libraries`, which stay the choice
// for want of a better one, what chooses when an MPI appears.
void leave_choice(std::string& libraries, const std::filesystem::path& build, const Policy& policy) {
  std::vector<Choice> choices = {{built_for(), libraries}};
  for (const auto& other : builds_here()) {
    const auto here = [&](const Choice& choice) { return same_abi(choice.mpi, other.built_for); };
    if (std::ranges::any_of(choices, here) || !std::filesystem::exists(other.folder / "libprogress_engine.so"))
      continue;
    choices.push_back({other.built_for, libraries_of(other.folder, policy)});
  }
  const auto chooser = build / "libprogress_chooser.so";
  if (choices.size() == 1 || !std::filesystem::exists(chooser)) return;
  setenv(choices_variable, to_text(choices).c_str(), 1);
  libraries = name_for_preload(chooser);
}

void export_settings(const std::string& variant, const Values& overrides) {
  setenv("PROGRESS_ENGINE", variant.c_str(), 1);
  for (const auto& [key, value] : overrides) setenv(environment_name(key).c_str(), value.c_str(), 1);
  setenv("PROGRESS_ENGINE_TARGET", std::to_string(getpid()).c_str(), 1);  // this process becomes the program
}

Resolved settings_of(const Options& options, const Source& last) {
  if (!options.configuration.empty())
    setenv("PROGRESS_ENGINE_CONFIG", std::filesystem::absolute(options.configuration).c_str(), 1);
  auto sources = sources_of_process(environ);
  sources.push_back(last);
  return resolve(sources);
}

// What some MPIs must be told before they give a thread level that the program did not ask for: MVAPICH2 2 not to bind
// the ranks itself, Cray MPICH that it may be asked. Others know neither; what the user has set stays.
void allow_threads(const Policy& policy) {
  if (!policy.points.threads() && !policy.offload) return;
  setenv("MV2_ENABLE_AFFINITY", "0", 0);
  setenv("MPICH_MAX_THREAD_SAFETY", "multiple", 0);
}

// AddressSanitizer's library ends a program where another one comes before it. What a script or env starts cannot be
// seen from here; the engine has none of the functions that the sanitizer replaces.
void let_sanitizer_come_second() {
  constexpr std::string_view check = "verify_asan_link_order";
  const char* given = std::getenv("ASAN_OPTIONS");
  std::string options = given ? given : "";
  if (options.find(check) != std::string::npos) return;  // the user has decided
  if (!options.empty()) options += ':';
  setenv("ASAN_OPTIONS", options.append(check).append("=0").c_str(), 1);
}

// Before what is there.
void preload(std::string libraries) {
  if (const char* others = std::getenv("LD_PRELOAD"); others && *others) libraries.append(":").append(others);
  setenv("LD_PRELOAD", libraries.c_str(), 1);
}

void prepare(const Options& options) {
  const auto last = command_line(options);
  const auto settings = settings_of(options, last);
  const auto policy = make_policy(settings.values);
  const auto program = find_program(options.command.front());
  if (program.empty())
    throw Refusal(fmt::format("{}: no such program, or it cannot be executed.", options.command.front()));
  auto preloading = how_to_preload(program);
  std::string lacking;
  auto mpi = preloading.mpi;
  if (mpi.empty()) mpi = mpi_of_python();
  if (mpi.empty()) mpi = mpi_of_words(options.command);
  const auto build = build_for(mpi, lacking);
  const bool is_given = !library_given(engine_variable).empty();
  if (preloading.refusal.empty() && !is_given) preloading.refusal = lacking;
  if (!preloading.refusal.empty()) {
    if (options.strict) throw Refusal(fmt::format("{} {}.", program, preloading.refusal));
    if (speaks_for_all())
      std::fprintf(stderr, "progress-run: %s %s; it runs without the engine.\n", program.c_str(),
                   preloading.refusal.c_str());
    return;
  }
  auto libraries = libraries_of(build, policy);
  if (mpi.empty() && !is_given) leave_choice(libraries, build, policy);
  if (!preloading.before.empty()) libraries = name_for_preload(preloading.before) + ":" + libraries;
  export_settings(settings.variant, last.values);
  for (const char* key : {"profile", "profile_depth", "profile_regions", "profile_clocks"})
    if (!policy.profile.empty()) setenv(environment_name(key).c_str(), settings.values.at(key).c_str(), 1);
  allow_threads(policy);
  if (preloading.before.empty()) let_sanitizer_come_second();
  preload(std::move(libraries));
  const Watch watch{.strict = options.strict && (policy.points.any() || policy.offload), .report = policy.report};
  if (watch.any()) supervise(program, watch);
}

[[noreturn]] void execute(const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  std::fprintf(stderr, "progress-run: %s cannot be started: %s.\n", arguments[0], std::strerror(errno));
  std::exit(usage_error);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  CLI::App app(
      "Starts a program with the progress engine preloaded.\n\nExample: mpiexec -n 2 progress-run --variant "
      "adaptive --report -- ./app\nSettings and variants: progress-info");
  app.add_option("--variant", options.variant, "preset: " + preset_names() + " (adaptive unless set elsewhere)");
  app.add_option("--set", options.set, "KEY=VALUE, a setting that differs from the preset (repeatable)")
      ->allow_extra_args(false);
  app.add_option("--config", options.configuration,
                 "file of settings, one KEY = VALUE a line (its format: docs/reference/variants.md)");
  app.add_flag("--report{1}", options.report,
               "when MPI has ended one sentence on stderr, of all ranks on this node; --report=full: and each rank's "
               "counters");
  app.add_option("--report-file", options.report_file, "JSON report; %r = rank, %p = process, %h = host");
  app.add_option("--profile", options.profile,
                 "a folder, for the profile of each process: which of its calls wait, for what (./bench where)");
  app.add_flag("--strict", options.strict, "refuse a program that the engine cannot help");
  app.add_option("command", options.command, "the program and its arguments, after --")->required();
  app.positionals_at_end();
  try {
    app.parse(argc, argv);
    prepare(options);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);
    std::fprintf(stderr, "progress-run: %s (see progress-run --help)\n", error.what());
    return usage_error;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "progress-run: %s\n", error.what());
    return usage_error;
  }
  execute(options.command);
}
