/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks that exchange messages out of a GPU's memory and into it while they compute: `gpu_memory [late]`. Each
 * round sends other numbers, and each rank reads back what it has. `late`: CUDA's library is loaded after MPI_Init. Of
 * CUDA it takes the driver's library alone, by name: no toolkit is needed to build it. Status 77: no GPU, or no such
 * library. */
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { Bytes = 4 << 20, Rounds = 20, NoGpu = 77 };

typedef unsigned long long Pointer; /* CUdeviceptr */

static int (*init)(unsigned);
static int (*device_get)(int*, int);
static int (*context_retain)(void**, int);
static int (*context_set)(void*);
static int (*allocate)(Pointer*, size_t);
static int (*to_gpu)(Pointer, const void*, size_t);
static int (*from_gpu)(void*, Pointer, size_t);

static void* named(void* library, const char* name) {
  void* found = dlsym(library, name);
  if (!found) exit(NoGpu);
  return found;
}

static void cuda(int status) {
  if (status == 0) return;
  fprintf(stderr, "CUDA's status %d\n", status);
  exit(1);
}

/* The calling thread has the GPU's context afterwards, and no other thread has. */
static void open_gpu(void) {
  void* library = dlopen("libcuda.so.1", RTLD_NOW);
  void* context = NULL;
  int device = 0;
  if (!library) exit(NoGpu);
  *(void**)&init = named(library, "cuInit");
  *(void**)&device_get = named(library, "cuDeviceGet");
  *(void**)&context_retain = named(library, "cuDevicePrimaryCtxRetain");
  *(void**)&context_set = named(library, "cuCtxSetCurrent");
  *(void**)&allocate = named(library, "cuMemAlloc_v2");
  *(void**)&to_gpu = named(library, "cuMemcpyHtoD_v2");
  *(void**)&from_gpu = named(library, "cuMemcpyDtoH_v2");
  if (init(0) != 0 || device_get(&device, 0) != 0) exit(NoGpu);
  cuda(context_retain(&context, device));
  cuda(context_set(context));
}

static unsigned number(int rank, int round, size_t index) {
  return (unsigned)rank * 2654435761U + (unsigned)round * 40503U + (unsigned)index;
}

static void compute(double seconds) {
  for (const double end = MPI_Wtime() + seconds; MPI_Wtime() < end;) {
  }
}

int main(int argc, char** argv) {
  const int late = argc > 1 && strcmp(argv[1], "late") == 0;
  const size_t count = Bytes / sizeof(unsigned);
  unsigned* numbers = malloc(Bytes);
  Pointer there = 0, here = 0;
  int rank = 0, ranks = 0;
  long wrong = 0;
  double waited = 0;
  if (!numbers) return 1;
  if (!late) open_gpu();
  MPI_Init(&argc, &argv);
  if (late) open_gpu();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  cuda(allocate(&there, Bytes));
  cuda(allocate(&here, Bytes));
  const int partner = (rank + 1) % ranks, from = (rank + ranks - 1) % ranks;
  for (int round = 0; round < Rounds; ++round) {
    MPI_Request requests[2];
    for (size_t index = 0; index < count; ++index) numbers[index] = number(rank, round, index);
    cuda(to_gpu(there, numbers, Bytes));
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Irecv((void*)here, Bytes, MPI_BYTE, from, round, MPI_COMM_WORLD, &requests[0]);
    MPI_Isend((const void*)there, Bytes, MPI_BYTE, partner, round, MPI_COMM_WORLD, &requests[1]);
    compute(0.02);
    const double begin = MPI_Wtime();
    MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
    waited += MPI_Wtime() - begin;
    cuda(from_gpu(numbers, here, Bytes));
    for (size_t index = 0; index < count; ++index) wrong += numbers[index] != number(from, round, index);
  }
  printf("rank %d: %d rounds, %ld wrong numbers, waited %.3f ms a round\n", rank, Rounds, wrong, waited / Rounds * 1e3);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
