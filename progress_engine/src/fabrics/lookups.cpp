// SPDX-License-Identifier: BSD-3-Clause
// Who asks dlsym goes past what is interposed by name. dlsym itself cannot be interposed for all: RTLD_NEXT means
// another library to each who asks. So one library's entries for dlsym and dlvsym are changed in its table of functions
// (its GOT), as UCX does for its memory hooks (ucm/util/reloc.c) and GOTCHA for tools.
#include "fabrics/lookups.hpp"

#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string_view>

#include "fabrics/libfabric.hpp"

#ifdef __x86_64__

extern "C" {
void* ibv_create_cq(void* context, int entries, void* cq_context, void* channel, int vector);
int ibv_destroy_cq(void* cq);

// What takes the place of dlsym and dlvsym. The two handles that mean another library to each who asks, RTLD_DEFAULT
// (0) and RTLD_NEXT (-1), go on by a jump, so that these functions see the library's own call.
__attribute__((visibility("hidden"))) void* pe_dlsym_of_mpi(void* handle, const char* name);
__attribute__((visibility("hidden"))) void* pe_dlvsym_of_mpi(void* handle, const char* name, const char* version);
__attribute__((visibility("hidden"), used)) void* pe_answer_dlsym(void* handle, const char* name);
__attribute__((visibility("hidden"), used)) void* pe_answer_dlvsym(void* handle, const char* name, const char* version);
}

asm(R"(
    .macro pe_lookup name
    .globl pe_\name\()_of_mpi
    .hidden pe_\name\()_of_mpi
    .type pe_\name\()_of_mpi, @function
pe_\name\()_of_mpi:
    .cfi_startproc
    endbr64
    leaq 1(%rdi), %rax
    cmpq $1, %rax
    ja 1f
    jmp *\name@GOTPCREL(%rip)
1:  jmp pe_answer_\name
    .cfi_endproc
    .size pe_\name\()_of_mpi, . - pe_\name\()_of_mpi
    .endm
    .pushsection .text
    pe_lookup dlsym
    pe_lookup dlvsym
    .popsection
)");

namespace {

using progress_engine::stand_before_libfabric;

struct Lookup {
  std::string_view name;
  void* (*ours)(void* theirs);
};
constexpr std::array lookups = {
    Lookup{.name = "fi_fabric", .ours = stand_before_libfabric},
    Lookup{.name = "ibv_create_cq", .ours = [](void*) { return reinterpret_cast<void*>(&ibv_create_cq); }},
    Lookup{.name = "ibv_destroy_cq", .ours = [](void*) { return reinterpret_cast<void*>(&ibv_destroy_cq); }},
};

// Where a library is, and what its dynamic section says.
struct Library {
  std::uintptr_t base = 0;
  std::uintptr_t read_only = 0;  // from here on, after relocation
  std::uintptr_t read_only_end = 0;
  const ElfW(Dyn) * dynamic = nullptr;

  // Addresses in it are the loader's business: glibc has relocated them.
  std::uintptr_t entry(ElfW(Sxword) tag) const {
    for (const auto* one = dynamic; one->d_tag != DT_NULL; ++one)
      if (one->d_tag == tag) return one->d_un.d_ptr;
    return 0;
  }
};

// Without a dynamic section if no library holds `code`: the program itself has no name.
Library library_of(const void* code) {
  Dl_info info{};
  link_map* map = nullptr;
  if (!code || dladdr1(code, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) == 0 || !map || !*map->l_name)
    return {};
  Library library{.base = map->l_addr, .dynamic = map->l_ld};
  const auto& header = *static_cast<const ElfW(Ehdr)*>(info.dli_fbase);
  const auto begin = reinterpret_cast<std::uintptr_t>(info.dli_fbase) + header.e_phoff;
  for (const auto& segment : std::span(reinterpret_cast<const ElfW(Phdr)*>(begin), header.e_phnum)) {
    if (segment.p_type != PT_GNU_RELRO) continue;
    library.read_only = library.base + segment.p_vaddr;
    library.read_only_end = library.read_only + segment.p_memsz;
  }
  return library;
}

void change(const Library& library, std::uintptr_t place, void* function) {
  const auto page_bytes = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* page = reinterpret_cast<void*>(place & ~(page_bytes - 1));
  const bool read_only = place >= library.read_only && place < library.read_only_end;
  if (read_only && mprotect(page, page_bytes, PROT_READ | PROT_WRITE) != 0) return;
  std::atomic_ref(*reinterpret_cast<void**>(place)).store(function, std::memory_order_release);
  if (read_only) mprotect(page, page_bytes, PROT_READ);
}

void change_lookups(const Library& library, ElfW(Sxword) table, ElfW(Sxword) size) {
  const auto* symbols = reinterpret_cast<const ElfW(Sym)*>(library.entry(DT_SYMTAB));
  const auto* names = reinterpret_cast<const char*>(library.entry(DT_STRTAB));
  const auto* entries = reinterpret_cast<const ElfW(Rela)*>(library.entry(table));
  if (!symbols || !names || !entries) return;
  const auto number = library.entry(size) / sizeof(ElfW(Rela));
  for (std::size_t i = 0; i < number; ++i) {
    const auto type = ELF64_R_TYPE(entries[i].r_info);
    if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) continue;
    const std::string_view name = names + symbols[ELF64_R_SYM(entries[i].r_info)].st_name;
    const auto place = library.base + entries[i].r_offset;
    if (name == "dlsym") change(library, place, reinterpret_cast<void*>(&pe_dlsym_of_mpi));
    if (name == "dlvsym") change(library, place, reinterpret_cast<void*>(&pe_dlvsym_of_mpi));
  }
}

void* answered(void* theirs, const char* name) {
  if (!theirs || !name) return theirs;
  for (const auto& lookup : lookups)
    if (lookup.name == name) return lookup.ours(theirs);
  return theirs;
}

}  // namespace

void* pe_answer_dlsym(void* handle, const char* name) { return answered(dlsym(handle, name), name); }
void* pe_answer_dlvsym(void* handle, const char* name, const char* version) {
  return answered(dlvsym(handle, name, version), name);
}

namespace progress_engine {

void answer_lookups_of(const void* code) {
  const Library library = library_of(code);
  if (!library.dynamic) return;
  change_lookups(library, DT_JMPREL, DT_PLTRELSZ);
  change_lookups(library, DT_RELA, DT_RELASZ);
}

}  // namespace progress_engine

#else

namespace progress_engine {

void answer_lookups_of(const void* /*code*/) {}

}  // namespace progress_engine

#endif
