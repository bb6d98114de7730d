# SPDX-License-Identifier: BSD-3-Clause
"""What Fukuoka's studies share."""

from __future__ import annotations

from reframe_checks.study import Parameter

# bare-multiple with kernel threads and, at threading=ult, as the paper's MPI+Argobots: user-level threads that test and
# yield; at threading=phases as its conventional method.
BOTH = ("bare-multiple", "offload")
CORES = Parameter("kernel threads that run the user-level threads, 0 one a CPU", int)
ULTS = Parameter("tasks of each process", int)
MAT_SIZE = Parameter("computation of a task, units of work of about 1 us", int)
