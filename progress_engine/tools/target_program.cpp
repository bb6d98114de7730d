// SPDX-License-Identifier: BSD-3-Clause
#include "target_program.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>
#include <string_view>

#include "mpi/abi.hpp"

namespace progress_engine {
namespace {

struct ClosePipe {
  void operator()(std::FILE* pipe) const { pclose(pipe); }
};

bool is_executable_file(const std::string& path) {
  return access(path.c_str(), X_OK) == 0 && std::filesystem::is_regular_file(path);
}

// The dynamic loader that an ELF file names; "" for a static one.
std::string interpreter_of(std::ifstream& file, const Elf64_Ehdr& header) {
  for (int i = 0; i < int{header.e_phnum}; ++i) {
    Elf64_Phdr segment{};
    file.seekg(static_cast<std::streamoff>(header.e_phoff) + static_cast<std::streamoff>(i) * header.e_phentsize);
    file.read(reinterpret_cast<char*>(&segment), sizeof segment);
    if (!file || segment.p_type != PT_INTERP || segment.p_filesz > 4096) continue;
    std::string name(segment.p_filesz, '\0');
    file.seekg(static_cast<std::streamoff>(segment.p_offset));
    file.read(name.data(), static_cast<std::streamsize>(name.size()));
    return name.substr(0, name.find('\0'));
  }
  return "";
}

std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

struct Library {
  std::string name;
  std::string file;  // "" if the loader does not find it
};

// What the loader would bring into the program: it is asked, the program does not run.
std::vector<Library> libraries_of(const std::string& path, const std::string& interpreter) {
  const auto command = fmt::format("{} --list {} 2>/dev/null", quoted(interpreter), quoted(path));
  // Both words are quoted.
  const std::unique_ptr<std::FILE, ClosePipe> pipe(popen(command.c_str(), "r"));  // NOLINT(bugprone-command-processor)
  std::vector<Library> libraries;
  std::array<char, 4096> line{};
  while (pipe && std::fgets(line.data(), line.size(), pipe.get())) {
    Library library;
    std::string arrow;  // NAME => FILE (ADDRESS)
    std::istringstream(line.data()) >> library.name >> arrow >> library.file;
    if (arrow != "=>" || !library.file.starts_with('/')) library.file.clear();
    libraries.push_back(library);
  }
  return libraries;
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

Preloading how_to_preload(const std::string& path, const std::string& mpi_library) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header{};
  file.read(reinterpret_cast<char*>(&header), sizeof header);
  if (!file || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return {};  // a script: what it starts decides
  if (const auto privileged = privileges_of(path); !privileged.empty())
    return {fmt::format("{}, and the loader takes nothing from LD_PRELOAD for such a program", privileged), ""};
  if (header.e_ident[EI_CLASS] != ELFCLASS64) return {"is a 32-bit program, the engine has 64 bits", ""};
  const auto interpreter = interpreter_of(file, header);
  if (interpreter.empty()) return {"is statically linked, so that nothing can be preloaded into it", ""};
  Preloading result;
  for (const auto& [name, file] : libraries_of(path, interpreter)) {
    if (is_mpi_library(name) && !mpi_library.empty() && !same_abi(name, mpi_library))
      return {fmt::format("uses {}, and this engine was built for {}", name, mpi_library), ""};
    if (name.starts_with("libasan.so") || name.starts_with("libclang_rt.asan")) result.before = file;
  }
  return result;
}

}  // namespace progress_engine
