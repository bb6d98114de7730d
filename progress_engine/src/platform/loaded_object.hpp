// SPDX-License-Identifier: BSD-3-Clause
// What the loader has brought into this process: the names of the libraries, and of one of them its references to
// functions, which may be changed.
#pragma once

#include <link.h>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace progress_engine {

// The paths of all libraries; the program itself has none.
std::vector<std::string> loaded_libraries();
// The name of the file alone.
inline std::string_view name_of_file(std::string_view path) { return path.substr(path.rfind('/') + 1); }
// Whether it is one of Open MPI's components or its layer below. (The Fortran bindings are the program's side.)
inline bool is_component(std::string_view path) {
  const auto name = name_of_file(path);
  return name.starts_with("mca_") || name.starts_with("libopen-") || name.starts_with("libmca_");
}

// The program or a library; valid while it is loaded.
class LoadedObject {
 public:
  using Address = ElfW(Addr);

  explicit LoadedObject(const dl_phdr_info& info);

  bool is_library() const { return is_library_; }  // and not the program itself
  // Whether the address lies in it.
  bool holds(const void* address) const;

  // `use(symbol, name, type of the relocation, word)` for each word that the loader fills in with the address of a
  // symbol: with the functions that are called by a jump (`jumps`), or without.
  template <typename Use>
  void for_each_reference(bool jumps, Use&& use) const {
    if (!symbols_ || !names_) return;
    for (const auto& table : {relocations_, jumps ? jumps_ : Relocations{}})
      for (const auto& one : table) {
        const auto& symbol = symbols_[ELF64_R_SYM(one.r_info)];
        use(symbol, names_ + symbol.st_name, ELF64_R_TYPE(one.r_info),
            *reinterpret_cast<Address*>(base_ + one.r_offset));
      }
  }

  // Also where the loader has made the word read-only. What cannot be written stays.
  void store(Address& word, Address value) const;

 private:
  using Relocations = std::span<const ElfW(Rela)>;
  void read(Address offset_of_dynamic_section);
  int protection_of(Address offset) const;

  Address base_;
  bool is_library_;
  std::span<const ElfW(Phdr)> segments_;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* names_ = nullptr;
  Relocations relocations_;
  Relocations jumps_;
};

// `use` gets each LoadedObject, under the loader's lock.
template <typename Use>
void for_each_loaded_object(Use&& use) {
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* argument) {
        (*static_cast<Use*>(argument))(LoadedObject(*info));
        return 0;
      },
      static_cast<void*>(&use));
}

}  // namespace progress_engine
