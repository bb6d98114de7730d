// SPDX-License-Identifier: BSD-3-Clause
#include "platform/loaded_object.hpp"

#include <sys/mman.h>
#include <unistd.h>

namespace progress_engine {
namespace {

LoadedObject::Address bytes_of_a_page() { return static_cast<LoadedObject::Address>(sysconf(_SC_PAGESIZE)); }

}  // namespace

std::vector<std::string> loaded_libraries() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* result) {
        if (info->dlpi_name && *info->dlpi_name)
          static_cast<std::vector<std::string>*>(result)->emplace_back(info->dlpi_name);
        return 0;
      },
      &paths);
  return paths;
}

LoadedObject::LoadedObject(const dl_phdr_info& info)
    : base_(info.dlpi_addr),
      is_library_(info.dlpi_name && *info.dlpi_name),
      segments_(info.dlpi_phdr, info.dlpi_phnum) {
  for (const auto& segment : segments_)
    if (segment.p_type == PT_DYNAMIC) read(segment.p_vaddr);
}

void LoadedObject::read(Address offset_of_dynamic_section) {
  std::size_t bytes = 0;
  std::size_t bytes_of_jumps = 0;
  const ElfW(Rela)* first = nullptr;
  const ElfW(Rela)* first_jump = nullptr;
  const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base_ + offset_of_dynamic_section);
  for (; entry->d_tag != DT_NULL; ++entry) {
    const Address value = entry->d_un.d_ptr;
    const Address address = value < base_ ? base_ + value : value;  // the vDSO's are not made absolute
    if (entry->d_tag == DT_SYMTAB) symbols_ = reinterpret_cast<const ElfW(Sym)*>(address);
    if (entry->d_tag == DT_STRTAB) names_ = reinterpret_cast<const char*>(address);
    if (entry->d_tag == DT_RELA) first = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_RELASZ) bytes = value;
    if (entry->d_tag == DT_JMPREL) first_jump = reinterpret_cast<const ElfW(Rela)*>(address);
    if (entry->d_tag == DT_PLTRELSZ) bytes_of_jumps = value;
  }
  if (first) relocations_ = {first, bytes / sizeof *first};
  if (first_jump) jumps_ = {first_jump, bytes_of_jumps / sizeof *first_jump};
}

// 0 if the object has nothing there.
int LoadedObject::protection_of(Address offset) const {
  int protection = 0;
  for (const auto& segment : segments_) {
    const Address end = segment.p_vaddr + segment.p_memsz;
    if (offset < segment.p_vaddr || offset >= end) continue;
    // The loader makes whole pages read-only.
    if (segment.p_type == PT_GNU_RELRO && offset < end / bytes_of_a_page() * bytes_of_a_page()) return PROT_READ;
    if (segment.p_type == PT_LOAD)
      protection = ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                   ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  }
  return protection;
}

bool LoadedObject::holds(const void* address) const {
  return protection_of(reinterpret_cast<Address>(address) - base_) != 0;
}

void LoadedObject::store(Address& word, Address value) const {
  const auto at = reinterpret_cast<Address>(&word);
  const int before = protection_of(at - base_);
  auto* page = reinterpret_cast<void*>(at / bytes_of_a_page() * bytes_of_a_page());  // a word lies in one page
  const bool read_only = (before & PROT_WRITE) == 0;
  if ((before & PROT_EXEC) != 0) return;
  if (read_only && mprotect(page, bytes_of_a_page(), before | PROT_WRITE) != 0) return;
  __atomic_store_n(&word, value, __ATOMIC_RELEASE);
  if (read_only) mprotect(page, bytes_of_a_page(), before);
}

}  // namespace progress_engine
