// SPDX-License-Identifier: BSD-3-Clause
// A library in which MPI begins before main, as HOW says: in the constructor of a static OBJECT, in a CONSTRUCTOR of C
// at the highest thread level, WITHIN one that also ends it, as a SESSION, or with its TOOLS' interface alone. A
// program is linked with it (main, with PROGRAM), or opens it as a plug-in (host.c): then dlopen has not returned yet
// when MPI begins.
#ifdef PROGRAM
extern "C" int run_hazard(int argc, char** argv);
int main(int argc, char** argv) { return run_hazard(argc, argv); }
#else
#include <mpi.h>

#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr int OBJECT = 1, CONSTRUCTOR = 2, SESSION = 3, TOOLS = 4, WITHIN = 5;

struct World {
  World() {
    if (HOW == OBJECT) MPI_Init(nullptr, nullptr);
  }
  ~World() {
    if (HOW == OBJECT) MPI_Finalize();
  }
} world;

MPI_Comm everybody = MPI_COMM_NULL;
#if MPI_VERSION >= 4
MPI_Session session = MPI_SESSION_NULL;

void begin_session() { MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session); }
void end_session() { MPI_Session_finalize(&session); }

MPI_Comm everybody_of_session() {
  MPI_Group group;
  MPI_Comm communicator;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "early", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &communicator);
  MPI_Group_free(&group);
  return communicator;
}
#else  // no HOW is SESSION
void begin_session() {}
void end_session() {}
MPI_Comm everybody_of_session() { return MPI_COMM_NULL; }
#endif

// Messages of more than a megabyte, which move in the MPI's calls and in the engine's polls.
void exchange() {
  constexpr int count = 300000;
  int rank = 0;
  MPI_Comm_rank(everybody, &rank);
  std::vector<int> out(count, rank + 1);
  std::vector<int> in(count, -1);
  MPI_Request requests[2];
  MPI_Irecv(in.data(), count, MPI_INT, 1 - rank, 3, everybody, &requests[0]);
  MPI_Isend(out.data(), count, MPI_INT, 1 - rank, 3, everybody, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  std::printf("rank %d: received %ld\n", rank, std::accumulate(in.begin(), in.end(), 0L));
  std::fflush(stdout);
}

[[gnu::constructor]] void begin() {
  int provided = 0;
  if (HOW == CONSTRUCTOR || HOW == WITHIN) MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided);
  if (HOW == TOOLS) MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
  if (HOW == SESSION) begin_session();
  if (HOW != WITHIN) return;
  everybody = MPI_COMM_WORLD;
  exchange();
  MPI_Finalize();
}

}  // namespace

extern "C" int run_hazard(int argc, char** argv) {
  if (HOW == WITHIN) return 0;
  if (HOW == TOOLS) MPI_Init(&argc, &argv);
  everybody = HOW == SESSION ? everybody_of_session() : MPI_COMM_WORLD;
  exchange();
  if (HOW == SESSION) {
    MPI_Comm_free(&everybody);
    end_session();
  }
  if (HOW == CONSTRUCTOR || HOW == TOOLS) MPI_Finalize();
  if (HOW == TOOLS) MPI_T_finalize();
  return 0;
}
#endif
