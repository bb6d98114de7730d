// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/absent.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "mpi/lifecycle.hpp"
#include "mpi/mpi_handles.hpp"

namespace progress_engine {
namespace {

using Address = ElfW(Addr);
using Segments = std::span<const ElfW(Phdr)>;

// The wrappers that are not generated and that MPIs before 4.0 lack.
constexpr const char* sessions[] = {"MPI_Session_init", "PMPI_Session_init", "MPI_Session_finalize",
                                    "PMPI_Session_finalize"};

// An address in the engine.
const void* here() { return static_cast<const void*>(wrapped_functions); }

// The library that holds `address`, once more opened; null if there is none.
void* library_with(const void* address) {
  Dl_info info{};
  if (!address || dladdr(address, &info) == 0 || !info.dli_fname) return nullptr;
  return dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
}

// The engine's definition of each name that nothing below the engine defines.
class AbsentFunctions {
 public:
  AbsentFunctions() : engine_(library_with(here())), mpi_(library_with(find_symbol("PMPI_Init"))) {
    if (!engine_ || !mpi_ || !dlsym(mpi_, "MPI_Init")) return;  // an MPI in several libraries is not understood here
    for (const char* const* name = wrapped_functions; *name; ++name) look_for(*name);
    for (const char* name : sessions) look_for(name);
  }
  ~AbsentFunctions() {
    for (void* library : {engine_, mpi_})
      if (library) dlclose(library);
  }
  AbsentFunctions(const AbsentFunctions&) = delete;
  AbsentFunctions& operator=(const AbsentFunctions&) = delete;

  bool found_mpi() const { return mpi_ != nullptr; }
  bool empty() const { return wrappers_.empty(); }
  bool contains(Address address) const { return wrappers_.contains(address); }
  // Address and entry in the engine's own symbol table.
  const std::map<Address, ElfW(Sym) *>& wrappers() const { return wrappers_; }

 private:
  void look_for(const char* name) {
    if (dlsym(RTLD_NEXT, name) || dlsym(mpi_, name)) return;
    void* wrapper = dlsym(engine_, name);
    Dl_info info{};
    void* symbol = nullptr;
    if (!wrapper || dladdr1(wrapper, &info, &symbol, RTLD_DL_SYMENT) == 0 || info.dli_saddr != wrapper) return;
    wrappers_.emplace(reinterpret_cast<Address>(wrapper), static_cast<ElfW(Sym)*>(symbol));
  }

  void* engine_;
  void* mpi_;
  std::map<Address, ElfW(Sym)*> wrappers_;
};

Address page_size() { return static_cast<Address>(sysconf(_SC_PAGESIZE)); }

// 0 if the object has nothing there.
int protection_of(Segments segments, Address offset) {
  int protection = 0;
  for (const auto& segment : segments) {
    const Address end = segment.p_vaddr + segment.p_memsz;
    if (offset < segment.p_vaddr || offset >= end) continue;
    // The loader makes whole pages read-only.
    if (segment.p_type == PT_GNU_RELRO && offset < end / page_size() * page_size()) return PROT_READ;
    if (segment.p_type == PT_LOAD)
      protection = ((segment.p_flags & PF_R) != 0 ? PROT_READ : 0) | ((segment.p_flags & PF_W) != 0 ? PROT_WRITE : 0) |
                   ((segment.p_flags & PF_X) != 0 ? PROT_EXEC : 0);
  }
  return protection;
}

// Sets a word of a loaded object to 0, also where the loader has made it read-only. What cannot be written stays.
void clear(const dl_phdr_info& object, Address& word) {
  const auto at = reinterpret_cast<Address>(&word);
  const int before = protection_of({object.dlpi_phdr, object.dlpi_phnum}, at - object.dlpi_addr);
  auto* page = reinterpret_cast<void*>(at / page_size() * page_size());  // a word lies in one page
  const bool read_only = (before & PROT_WRITE) == 0;
  if ((before & PROT_EXEC) != 0) return;
  if (read_only && mprotect(page, page_size(), before | PROT_WRITE) != 0) return;
  __atomic_store_n(&word, Address{0}, __ATOMIC_RELAXED);
  if (read_only) mprotect(page, page_size(), before);
}

// An object's references by symbol, as its dynamic section describes them. Weak ones are asked for their address: that
// is no jump slot.
struct References {
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * first = nullptr;
  std::size_t bytes = 0;

  explicit References(const dl_phdr_info& object) {
    for (const auto& segment : Segments{object.dlpi_phdr, object.dlpi_phnum})
      if (segment.p_type == PT_DYNAMIC) read(object.dlpi_addr, segment.p_vaddr);
  }
  std::span<const ElfW(Rela)> all() const { return {first, first ? bytes / sizeof *first : 0}; }

 private:
  void read(Address base, Address offset) {
    for (const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(base + offset); entry->d_tag != DT_NULL; ++entry) {
      const Address value = entry->d_un.d_ptr;
      const Address address = value < base ? base + value : value;  // the vDSO's are not made absolute
      if (entry->d_tag == DT_SYMTAB) symbols = reinterpret_cast<const ElfW(Sym)*>(address);
      if (entry->d_tag == DT_RELA) first = reinterpret_cast<const ElfW(Rela)*>(address);
      if (entry->d_tag == DT_RELASZ) bytes = value;
    }
  }
};

void clear_weak_references(const dl_phdr_info& object, const AbsentFunctions& absent) {
  const References references(object);
  if (!references.symbols) return;
  for (const auto& relocation : references.all()) {
    const auto& symbol = references.symbols[ELF64_R_SYM(relocation.r_info)];
    if (symbol.st_shndx != SHN_UNDEF || ELF64_ST_BIND(symbol.st_info) != STB_WEAK) continue;
    auto& word = *reinterpret_cast<Address*>(object.dlpi_addr + relocation.r_offset);
    if (absent.contains(word)) clear(object, word);
  }
}

// A symbol with the value 0 is passed over.
void clear_definitions(const dl_phdr_info& engine, const AbsentFunctions& absent) {
  for (const auto& [wrapper, symbol] : absent.wrappers()) clear(engine, symbol->st_value);
}

bool holds(const dl_phdr_info& object, const void* address) {
  return protection_of({object.dlpi_phdr, object.dlpi_phnum}, reinterpret_cast<Address>(address) - object.dlpi_addr) !=
         0;
}

int hide_in(dl_phdr_info* object, std::size_t /*size*/, void* absent) {
  const auto& functions = *static_cast<const AbsentFunctions*>(absent);
  if (holds(*object, here()))
    clear_definitions(*object, functions);
  else
    clear_weak_references(*object, functions);
  return 0;
}

// Of a program that is linked with its MPI, everything is there by now. Its libraries' constructors have run before,
// and may have begun MPI: so nothing in the engine waits for this, or for another constructor.
[[gnu::constructor]] void look_at_the_start() {
  answer_for_missing(stand_in_for_absent);
  hide_absent_functions();
}

// One number that is an error of all: MPI_ERR_OTHER in Open MPI, MPI_ERR_INTERN in MPICH.
constexpr Word error_of_another_abi = 16;

// Called in place of any function: with whatever arguments, none of which is looked at.
Word fail() {
  if (!foreign_library().empty()) return error_of_another_abi;
  int begun = 0;
  int ended = 0;
  PE_PMPI(MPI_Initialized)(&begun);
  PE_PMPI(MPI_Finalized)(&ended);
  if (begun != 0 && ended == 0) PE_PMPI(MPI_Comm_call_errhandler)(MpiHandles{}.comm_world, MPI_ERR_OTHER);
  return MPI_ERR_OTHER;
}

bool is_said_first(const char* name) {
  static std::mutex mutex;
  static auto* said = new std::set<std::string>;
  const std::scoped_lock lock(mutex);
  return said->insert(name).second;
}

}  // namespace

// No lock is held meanwhile: the loader may run constructors in here, the engine's own among them, and may wait for a
// thread that comes here, too. Who comes second goes on.
void hide_absent_functions() {
  static constinit std::atomic<bool> begun{false};
  if (begun.exchange(true)) return;
  AbsentFunctions absent;
  if (!absent.empty()) dl_iterate_phdr(hide_in, &absent);
  if (!absent.found_mpi()) begun = false;
}

void* stand_in_for_absent(const char* name) {
  const std::string_view what = name;
  if ((!what.starts_with("MPI") && !what.starts_with("PMPI")) || !find_symbol("PMPI_Init")) return nullptr;
  hide_absent_functions();
  if (is_said_first(name))
    std::fprintf(stderr, "progress engine: the program calls %s, which its MPI does not have: the call fails.\n", name);
  return reinterpret_cast<void*>(&fail);
}

}  // namespace progress_engine
