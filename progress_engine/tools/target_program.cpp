// SPDX-License-Identifier: BSD-3-Clause
#include "target_program.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>

#include "elf_file.hpp"
#include "mpi/abi.hpp"
#include "mpi_search.hpp"

namespace progress_engine {
namespace {

bool is_executable_file(const std::string& path) {
  return access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path);
}

// The kernel starts such a program in secure execution (AT_SECURE).
std::string_view privileges_of(const std::string& path) {
  if (getuid() != geteuid() || getgid() != getegid())
    return "is started by a process whose effective user or group is not its real one";
  struct stat file{};
  struct statvfs mount{};
  const bool known = stat(path.c_str(), &file) == 0 && statvfs(path.c_str(), &mount) == 0;
  if (!known || (mount.f_flag & ST_NOSUID) != 0 || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) return "";
  if ((file.st_mode & S_ISUID) != 0 && file.st_uid != geteuid()) return "is set-user-ID";
  if ((file.st_mode & S_ISGID) != 0 && (file.st_mode & S_IXGRP) != 0 && file.st_gid != getegid())
    return "is set-group-ID";
  const bool has_capabilities = getxattr(path.c_str(), "security.capability", nullptr, 0) > 0;
  return has_capabilities && getuid() != 0 ? "has file capabilities" : "";
}

}  // namespace

std::string find_program(const std::string& command) {
  if (command.find('/') != std::string::npos) return is_executable_file(command) ? command : "";
  const char* path = std::getenv("PATH");
  std::istringstream folders(path ? path : "/usr/bin:/bin");
  for (std::string folder; std::getline(folders, folder, ':');) {
    const auto candidate = (folder.empty() ? "." : folder) + "/" + command;
    if (is_executable_file(candidate)) return candidate;
  }
  return "";
}

Preloading how_to_preload(const std::string& path) {
  const auto file = read_elf_file(path);
  if (!file.is_elf) return {};  // a script: what it starts decides
  if (const auto privileged = privileges_of(path); !privileged.empty())
    return {fmt::format("{}, and the loader takes nothing from LD_PRELOAD for such a program", privileged), "", ""};
  if (!file.has_64_bits) return {"is a 32-bit program, the engine has 64 bits", "", ""};
  if (file.interpreter.empty()) return {"is statically linked, so that nothing can be preloaded into it", "", ""};
  Preloading result;
  for (const auto& name : file.needed) {
    if (is_mpi_library(name)) result.mpi = name;
    if (name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan")) result.before = name;
  }
  MpiSearch search({.has = [](const auto&) { return false; }, .soname_of = [](const auto& name) { return name; }});
  for (auto name = file.needed.begin(); result.mpi.empty() && name != file.needed.end(); ++name)
    result.mpi = search.with(*name, file.folders);
  return result;
}

namespace {

namespace fs = std::filesystem;

bool can_be_listed(const std::string& name) { return name.find_first_of(" :$") == std::string::npos; }

// Who else could write there would choose what the program loads.
bool is_ours_alone(const fs::path& folder) {
  struct stat found{};
  return lstat(folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode) && found.st_uid == geteuid() &&
         (found.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

// Ranks of a node come here at the same time. A link that is there, and another one, is replaced at once.
bool link_to(const fs::path& target, const fs::path& link) {
  std::error_code error;
  if (fs::read_symlink(link, error) == target) return true;
  const fs::path made = fmt::format("{}.{}", link.string(), getpid());
  fs::create_directory_symlink(target, made, error);
  if (!error) fs::rename(made, link, error);
  return !error;
}

}  // namespace

std::string name_for_preload(const std::string& library) {
  if (can_be_listed(library)) return library;
  const fs::path path(library);
  const auto folder = path.parent_path();
  const auto link = fmt::format("{:x}", std::hash<std::string>{}(folder.string()));
  const std::initializer_list<const char*> places = {std::getenv("XDG_RUNTIME_DIR"), std::getenv("TMPDIR"), "/tmp"};
  for (const char* place : places) {
    const fs::path ours = fmt::format("{}/progress-engine-{}", place ? place : "", geteuid());
    if (!place || *place != '/' || !can_be_listed(ours) || !can_be_listed(path.filename())) continue;
    if (mkdir(ours.c_str(), S_IRWXU) != 0 && errno != EEXIST) continue;
    if (is_ours_alone(ours) && link_to(folder, ours / link)) return ours / link / path.filename();
  }
  throw std::runtime_error(fmt::format(
      "LD_PRELOAD cannot hold {}, which has a blank, a colon or a $ in its name, and no link to it could be made in "
      "XDG_RUNTIME_DIR, TMPDIR or /tmp: name a folder for it in TMPDIR, or install the engine elsewhere.",
      library));
}

}  // namespace progress_engine
