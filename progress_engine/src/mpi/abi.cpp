// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/abi.hpp"

#include <dlfcn.h>
#include <link.h>

#include <algorithm>
#include <array>

namespace progress_engine {
namespace {

// What stands before ".so" in libraries with MPICH's or Open MPI's own ABI; the number behind it tells those apart.
constexpr std::array<std::string_view, 2> plain_names = {"libmpi", "libmpich"};
// What vendors put behind it, perhaps with the compiler's version: libmpi_gnu_91.so.12 is cray-mpich, of MPICH's ABI.
constexpr std::array<std::string_view, 8> compilers = {"_cray", "_gnu",  "_intel", "_nvidia",
                                                       "_amd",  "_aocc", "_pgi",   "_allinea"};
// Those with an ABI of their own.
constexpr std::array<std::string_view, 2> own_abis = {"libmpi_abi", "libmpi_ibm"};

struct Name {
  std::string_view stem;
  std::string_view version;  // ".so.12", without what follows: a release of the same
};

Name split(std::string_view name) {
  name = name.substr(name.rfind('/') + 1);
  const auto suffix = name.find(".so");
  if (suffix == std::string_view::npos) return {name, ""};
  const auto minor = name.find('.', std::min(name.size(), suffix + std::string_view(".so.").size()));
  return {name.substr(0, suffix), name.substr(suffix, minor == std::string_view::npos ? minor : minor - suffix)};
}

bool names_compiler(std::string_view suffix) {
  return std::ranges::any_of(compilers, [&](auto name) {
    return suffix.starts_with(name) && suffix.find_first_not_of("_0123456789", name.size()) == std::string_view::npos;
  });
}

bool is_plain(std::string_view stem) {
  return std::ranges::any_of(plain_names, [&](auto plain) {
    return stem == plain || (stem.starts_with(plain) && names_compiler(stem.substr(plain.size())));
  });
}

}  // namespace

bool is_mpi_library(std::string_view name) {
  const auto [stem, version] = split(name);
  return !version.empty() && (is_plain(stem) || std::ranges::find(own_abis, stem) != own_abis.end());
}

bool same_abi(std::string_view one, std::string_view other) {
  const auto a = split(one);
  const auto b = split(other);
  return a.version == b.version && (a.stem == b.stem || (is_plain(a.stem) && is_plain(b.stem)));
}

std::string library_of(const void* address) {
  Dl_info info{};
  link_map* library = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void**>(&library), RTLD_DL_LINKMAP) == 0 || !library) return "";
  const char* strings = nullptr;
  ElfW(Xword) soname = 0;
  for (const ElfW(Dyn)* entry = library->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SONAME) soname = entry->d_un.d_val;
  }
  if (strings && soname) return strings + soname;
  const std::string_view path = info.dli_fname ? info.dli_fname : "";
  return std::string(path.substr(path.rfind('/') + 1));
}

}  // namespace progress_engine
