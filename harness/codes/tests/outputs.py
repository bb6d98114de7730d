# SPDX-License-Identifier: BSD-3-Clause
"""What other people's codes printed, by name: outputs.txt has them all, each behind a line that names it.

They came from OSU Micro-Benchmarks 7.4, Intel MPI Benchmarks 2021.11, IMB-ASYNC,
mpi-progress (in part), NPB 3.4 and Debian 12's packages on a
busy machine: their formats are right and their figures mean nothing. Those of SPEC MPI2007 were written by hand, in the
form that its documents describe, since the suite is licensed.
"""

from __future__ import annotations

from pathlib import Path

_HEAD = "=====> "
_, *_PARTS = Path(__file__).with_suffix(".txt").read_text().split(_HEAD)
OUTPUTS = {name: text for name, _, text in (part.partition("\n") for part in _PARTS)}
SYNTHETIC = {name: text for name, text in OUTPUTS.items() if name.startswith("mpi2007.")}
SAMPLES = {name: text for name, text in OUTPUTS.items() if name not in SYNTHETIC}
