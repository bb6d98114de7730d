// SPDX-License-Identifier: BSD-3-Clause
// Lists of hosts as Slurm writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace progress_engine {

// "node[01-03,7],login" -> node01, node02, node03, node7, login. Empty for what is no such list, or has more hosts than
// any machine.
std::vector<std::string> expand_hosts(std::string_view list);

// Each * of `pattern` stands for each of `hosts`: "*-mgmt" -> "node01-mgmt" and so on; without one it is a list itself,
// and an empty pattern is "*". Throws std::runtime_error with a sentence where it is neither.
std::vector<std::string> apply_host_pattern(const std::string& pattern, const std::vector<std::string>& hosts);

}  // namespace progress_engine
