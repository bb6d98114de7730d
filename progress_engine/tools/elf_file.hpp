// SPDX-License-Identifier: BSD-3-Clause
// What a program or a library says in its file of how it is loaded. Nothing is asked of the loader, which would read
// all libraries for it, on every rank.
#pragma once

#include <string>
#include <vector>

namespace progress_engine {

struct ElfFile {
  bool is_elf = false;  // if not, a script: all else is empty
  bool has_64_bits = false;
  std::string interpreter;  // the dynamic loader; "" for a static program, and for a library
  std::string soname;
  std::vector<std::string> needed;   // the libraries that it names itself (DT_NEEDED)
  std::vector<std::string> folders;  // where it has the loader look for them (DT_RPATH, DT_RUNPATH)
};

ElfFile read_elf_file(const std::string& path);

}  // namespace progress_engine
