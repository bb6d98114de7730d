// SPDX-License-Identifier: BSD-3-Clause
// The variables of the MPI and of libfabric as a process has them.
#include <dlfcn.h>
#include <fmt/format.h>
#include <mpi.h>

#include <cstddef>
#include <cstdio>
#include <cstring>
#include <exception>
#include <span>
#include <string>
#include <vector>

#include "common/errors.h"
#include "common/mpi_process.h"

namespace workloads {

// What libfabric, where the MPI has loaded it, says of the environment variables that its providers read.

// "NAME = VALUE" of a variable that is set and that a provider has, else "NAME: " and why not.
std::string libfabric_line(const std::string& name);

namespace {

// struct fi_param of rdma/fabric.h, whose header need not be there: most MPIs bring the library alone.
struct Parameter {
  const char* name;
  int type;
  const char* help;
  const char* value;
};

using Get = int (*)(Parameter** all, int* count);
using Free = void (*)(Parameter* all);

template <typename Function>
Function function(const char* name) {
  void* const loaded = dlopen("libfabric.so.1", RTLD_LAZY | RTLD_NOLOAD);  // an MPI may have loaded it for itself alone
  void* const symbol = dlsym(loaded != nullptr ? loaded : RTLD_DEFAULT, name);
  if (loaded != nullptr) dlclose(loaded);
  return reinterpret_cast<Function>(symbol);
}

}  // namespace

std::string libfabric_line(const std::string& name) {
  const auto get = function<Get>("fi_getparams");
  const auto free = function<Free>("fi_freeparams");
  Parameter* all = nullptr;
  int count = 0;
  if (get == nullptr || free == nullptr || get(&all, &count) != 0) return fmt::format("{}: no libfabric", name);
  auto line = fmt::format("{}: unknown", name);
  for (const auto& one : std::span(all, static_cast<std::size_t>(count))) {
    if (name != one.name) continue;
    line = one.value != nullptr ? fmt::format("{} = {}", name, one.value) : fmt::format("{}: not set", name);
  }
  free(all);
  return line;
}

}  // namespace workloads

// Which values the MPI itself says that its control variables have: `mpi_variables NAME...`, and without names all. Of
// a name that begins with FI_ libfabric is asked.
//
// Rank 0 prints a line each, `NAME = VALUE`, or `NAME: unknown`. MPI_T is asked after MPI_Init and two messages, as
// some MPIs load what reads their variables only then.

namespace workloads {
namespace {

constexpr int longest_name = 256;

template <typename Value>
std::string read_as(MPI_T_cvar_handle handle, int count) {
  std::vector<Value> values(static_cast<std::size_t>(count));
  require(MPI_T_cvar_read(handle, values.data()));
  return fmt::format("{}", fmt::join(values, ","));
}

std::string read_text(MPI_T_cvar_handle handle, int count) {
  std::string text(static_cast<std::size_t>(count) + 1, '\0');
  require(MPI_T_cvar_read(handle, text.data()));
  text.resize(std::strlen(text.data()));
  return text;
}

std::string read_typed(MPI_T_cvar_handle handle, int count, MPI_Datatype type) {
  if (type == MPI_CHAR) return read_text(handle, count);
  if (type == MPI_INT) return read_as<int>(handle, count);
  if (type == MPI_UNSIGNED) return read_as<unsigned>(handle, count);
  if (type == MPI_UNSIGNED_LONG) return read_as<unsigned long>(handle, count);
  if (type == MPI_UNSIGNED_LONG_LONG) return read_as<unsigned long long>(handle, count);
  if (type == MPI_COUNT) return read_as<MPI_Count>(handle, count);
  if (type == MPI_DOUBLE) return read_as<double>(handle, count);
  if (type == MPI_C_BOOL) return read_as<unsigned char>(handle, count);  // Open MPI's own
  throw Failure("a type that MPI_T does not have");
}

struct Variable {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  bool bound = false;  // to an object of MPI, which would have to be given
};

Variable variable_of(int index) {
  std::string name(longest_name, '\0');
  Variable found;
  int length = longest_name;
  int verbosity = 0;
  int nothing = 0;
  int bind = 0;
  int scope = 0;
  MPI_T_enum items = MPI_T_ENUM_NULL;
  require(MPI_T_cvar_get_info(index, name.data(), &length, &verbosity, &found.type, &items, nullptr, &nothing, &bind,
                              &scope));
  name.resize(std::strlen(name.data()));
  found.name = name;
  found.bound = bind != MPI_T_BIND_NO_OBJECT;
  return found;
}

std::string line_of(int index) {
  const auto variable = variable_of(index);
  if (variable.bound) return fmt::format("{}: of an object of MPI", variable.name);
  MPI_T_cvar_handle handle = MPI_T_CVAR_HANDLE_NULL;
  int count = 0;
  require(MPI_T_cvar_handle_alloc(index, nullptr, &handle, &count));
  const auto value = read_typed(handle, count, variable.type);
  require(MPI_T_cvar_handle_free(&handle));
  return fmt::format("{} = {}", variable.name, value);
}

void print(const std::vector<std::string>& names) {
  int count = 0;
  require(MPI_T_cvar_get_num(&count));
  for (int index = 0; names.empty() && index < count; ++index) fmt::print("{}\n", line_of(index));
  for (const auto& name : names) {
    if (name.starts_with("FI_")) {
      fmt::print("{}\n", libfabric_line(name));
      continue;
    }
    int index = 0;
    const bool known = MPI_T_cvar_get_index(name.c_str(), &index) == MPI_SUCCESS;
    fmt::print("{}\n", known ? line_of(index) : fmt::format("{}: unknown", name));
  }
}

// A message around the ring: every rank has then sent and received.
void exchange(int rank, int size) {
  int sent = rank;
  int received = -1;
  const int next = (rank + 1) % size;
  const int before = (rank + size - 1) % size;
  require(
      MPI_Sendrecv(&sent, 1, MPI_INT, next, 0, &received, 1, MPI_INT, before, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
  if (received != before) throw Failure("a message arrived that nobody sent");
}

void run(const std::vector<std::string>& names) {
  int provided = 0;
  int rank = 0;
  int size = 1;
  require(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
  require(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
  require(MPI_Comm_size(MPI_COMM_WORLD, &size));
  exchange(rank, size);
  if (rank == 0) print(names);
  require(MPI_T_finalize());
}

}  // namespace
}  // namespace workloads

int main(int argc, char** argv) {
  const std::span<char*> arguments(argv, static_cast<std::size_t>(argc));
  const std::vector<std::string> names(arguments.begin() + 1, arguments.end());
  for (const auto& name : names) {
    if (!name.starts_with('-')) continue;
    std::fprintf(stderr, "mpi_variables: '%s': the names of control variables are wanted, or nothing.\n", name.c_str());
    return 2;
  }
  MPI_Init(&argc, &argv);
  try {
    workloads::run(names);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "mpi_variables: %s\n", error.what());
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  MPI_Finalize();
  return 0;
}
