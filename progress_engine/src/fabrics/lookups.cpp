// SPDX-License-Identifier: BSD-3-Clause
// Who asks dlsym goes past what is interposed by name. dlsym itself cannot be interposed for all: RTLD_NEXT means
// another library to each who asks. So one library's entries for dlsym and dlvsym are changed in its table of functions
// (its GOT), as UCX does for its memory hooks (ucm/util/reloc.c) and GOTCHA for tools.
#include <dlfcn.h>

#include <array>
#include <string_view>

#include "fabrics/watched.hpp"
#include "platform/loaded_object.hpp"

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
  if (!code) return;
  for_each_loaded_object([&](const LoadedObject& object) {
    if (!object.is_library() || !object.holds(code)) return;
    object.for_each_reference(true, [&](const auto&, const std::string_view name, auto type, auto& word) {
      if (type != R_X86_64_JUMP_SLOT && type != R_X86_64_GLOB_DAT) return;
      if (name == "dlsym") object.store(word, reinterpret_cast<LoadedObject::Address>(&pe_dlsym_of_mpi));
      if (name == "dlvsym") object.store(word, reinterpret_cast<LoadedObject::Address>(&pe_dlvsym_of_mpi));
    });
  });
}

}  // namespace progress_engine

#else

namespace progress_engine {

void answer_lookups_of(const void* /*code*/) {}

}  // namespace progress_engine

#endif
