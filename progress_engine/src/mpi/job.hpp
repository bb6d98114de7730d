// SPDX-License-Identifier: BSD-3-Clause
// What launchers say about a job as a whole; program_key.hpp says which processes of a node belong together.
#pragma once

#include <string>
#include <vector>

namespace progress_engine {

// The same on all nodes of a program, and another one for each; empty where the launcher says none. PMIx's name space,
// Hydra's and Intel's names of a run, Slurm's step.
std::string job_name();
// The same of a process whose parent has this command line.
std::string job_name(const std::string& launcher);

// What the environment says of the hosts. To be read by a thread of the program's: another one may change it later.
struct NamesOfHosts {
  std::string pmix_space;
  std::string slurm_list;
};
NamesOfHosts names_of_hosts();
// The hosts of the program, perhaps more; empty where the launcher says none. From PMIx, else Slurm.
std::vector<std::string> job_hosts(const NamesOfHosts& names);

// How many of the program's `size` processes are on this node, as Hydra or Open MPI says; 0 where nobody says. What a
// launcher further out said of its own program stays in the environment: an answer counts with the right size beside
// it, and of several the largest.
int processes_here(int size);

// The value of an option in the command line of Hydra's proxy, which is the parent of its ranks: that of
// "--control-port" is the same on all nodes, as in "node1:46431". Empty if it is none.
std::string option_in(const std::string& command_line, const std::string& name);

}  // namespace progress_engine
