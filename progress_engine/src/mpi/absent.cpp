// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/absent.hpp"

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <string_view>

#include "mpi/lifecycle.hpp"
#include "mpi/mpi_handles.hpp"
#include "platform/loaded_object.hpp"

namespace progress_engine {
namespace {

using Address = LoadedObject::Address;

// The wrappers that are not generated and that MPIs lack: those before 4.0, those before 5.0.
constexpr const char* by_hand[] = {
    "MPI_Session_init",  "PMPI_Session_init",  "MPI_Session_finalize", "PMPI_Session_finalize",
    "MPI_Request_toint", "PMPI_Request_toint", "MPI_Request_fromint",  "PMPI_Request_fromint",
};

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
    for (const char* name : by_hand) look_for(name);
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

// Weak references are asked for their address: that is no jump slot.
void clear_weak_references(const LoadedObject& object, const AbsentFunctions& absent) {
  object.for_each_reference(false, [&](const ElfW(Sym) & symbol, const char*, auto, Address& word) {
    const bool weak = symbol.st_shndx == SHN_UNDEF && ELF64_ST_BIND(symbol.st_info) == STB_WEAK;
    if (weak && absent.contains(word)) object.store(word, 0);
  });
}

// A symbol with the value 0 is passed over.
void clear_definitions(const LoadedObject& engine, const AbsentFunctions& absent) {
  for (const auto& [wrapper, symbol] : absent.wrappers()) engine.store(symbol->st_value, 0);
}

void hide(const AbsentFunctions& absent) {
  for_each_loaded_object([&](const LoadedObject& object) {
    if (object.holds(here()))
      clear_definitions(object, absent);
    else
      clear_weak_references(object, absent);
  });
}

// Of a program that is linked with its MPI, everything is there by now. Its libraries' constructors have run before,
// and may have begun MPI: so nothing in the engine waits for this, or for another constructor.
[[gnu::constructor]] void look_at_the_start() {
  answer_for_missing(stand_in_for_absent);
  hide_absent_functions();
}

// One number that is an error of all: MPI_ERR_OTHER in Open MPI and in the standard's ABI, MPI_ERR_INTERN in MPICH.
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
  if (!absent.empty()) hide(absent);
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
