/* SPDX-License-Identifier: BSD-3-Clause */
/* Which threads a process has. */
#ifndef THREADS_H
#define THREADS_H

#include <dirent.h>
#include <stdio.h>
#include <string.h>

/* Those of this name, or of any (null). Not those on their way out: pthread_join returns while the kernel still lists
 * the thread, for as long as others keep it from a CPU. */
static int living_threads(const char* wanted) {
  enum { EXITING = 4 }; /* PF_EXITING, see proc_pid_stat(5) */
  int number = 0;
  DIR* tasks = opendir("/proc/self/task");
  for (struct dirent* task; tasks && (task = readdir(tasks));) {
    char path[300], said[512] = "";
    unsigned flags = EXITING;
    snprintf(path, sizeof path, "/proc/self/task/%s/stat", task->d_name);
    FILE* file = *task->d_name != '.' ? fopen(path, "r") : NULL;
    const char* name = file && fgets(said, sizeof said, file) ? strchr(said, '(') : NULL;
    char* end = name ? strrchr(said, ')') : NULL;
    if (file) fclose(file);
    if (!end || sscanf(end, ") %*c %*d %*d %*d %*d %*d %u", &flags) != 1) continue;
    *end = '\0';
    number += !(flags & EXITING) && (!wanted || !strcmp(name + 1, wanted));
  }
  if (tasks) closedir(tasks);
  return number;
}

#endif
