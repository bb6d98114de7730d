// SPDX-License-Identifier: BSD-3-Clause
#include "preload_list.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <stdexcept>
#include <system_error>

namespace progress_engine {
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
