// SPDX-License-Identifier: BSD-3-Clause
#include "mpi_search.hpp"

#include <dlfcn.h>
#include <unistd.h>

#include "elf_file.hpp"
#include "mpi/abi.hpp"

namespace progress_engine {
namespace {

// Those of LD_LIBRARY_PATH and the system's.
const std::vector<std::string>& common_folders() {
  static const auto* const found = [] {
    auto* folders = new std::vector<std::string>;
    void* program = dlopen(nullptr, RTLD_LAZY);
    Dl_serinfo size{};
    if (program && dlinfo(program, RTLD_DI_SERINFOSIZE, &size) == 0) {
      std::vector<char> memory(size.dls_size);
      auto* info = reinterpret_cast<Dl_serinfo*>(memory.data());
      *info = size;
      if (dlinfo(program, RTLD_DI_SERINFO, info) == 0)
        for (unsigned i = 0; i < info->dls_cnt; ++i) folders->emplace_back(info->dls_serpath[i].dls_name);
    }
    if (program) dlclose(program);
    return folders;
  }();
  return *found;
}

// "" if it is in none of them.
std::string file_of(const std::string& name, const std::vector<std::string>& folders) {
  if (name.find('/') != std::string::npos) return name;
  for (const auto* list : {&folders, &common_folders()})
    for (auto path : *list)
      if (access(path.append("/").append(name).c_str(), R_OK) == 0) return path;
  return "";
}

}  // namespace

std::string MpiSearch::with(const std::string& name, const std::vector<std::string>& folders) {
  if (!seen_.insert(name).second || loader_.has(name)) return "";
  const auto path = file_of(name, folders);
  const auto file = read_elf_file(path);
  const auto name_of_file = name.substr(name.rfind('/') + 1);
  if (is_mpi_library(name_of_file)) {
    if (path.empty()) return loader_.soname_of(name);
    return file.is_elf && file.soname.empty() ? name_of_file : file.soname;
  }
  for (const auto& needed : file.needed)
    if (auto mpi = with(needed, file.folders); !mpi.empty()) return mpi;
  return "";
}

}  // namespace progress_engine
