# SPDX-License-Identifier: BSD-3-Clause
"""The simulator: what a workload would record on a platform and with an MPI that files describe.

`src`: the simulator itself (C++, with SimGrid). `models`: a folder a platform, a file an MPI. `fit` makes such a file
from records of two ranks (./bench calibrate-model), `check` holds predictions against measurements (./bench
validate-model).
docs/explanation/simulation.md says what is simulated, and how.
"""
