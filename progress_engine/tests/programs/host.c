/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that knows no MPI and loads a plug-in that does, out of the global scope: `host PLUGIN [ARGUMENT...]`. */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char** argv) {
  void* plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
  int (*run)(int, char**) = plugin ? (int (*)(int, char**))dlsym(plugin, "run_hazard") : NULL;
  if (run) return run(argc - 1, argv + 1);
  fprintf(stderr, "host: %s\n", argc > 1 ? dlerror() : "which plug-in?");
  return 2;
}
