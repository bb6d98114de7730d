# SPDX-License-Identifier: BSD-3-Clause
"""Where a setting of the MPI's own lets messages move beside the computation: no engine is better than one that is not
needed.

Open MPI's ob1 sends a message up to its transport's eager limit at once. Of a longer one it sends a header, and the
message when the receiver has answered, in a call of MPI: nothing moves while both compute. Over TCP the limit is 64 KB
with the header, and what is sent at once waits in the kernel's buffers. So a larger limit moves messages of up to 1 MB
while nobody polls (docs/measured/overlap.md). Its price is the receiver's memory, for messages that arrive before their
receive is posted.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

EAGER_LIMIT = "OMPI_MCA_btl_tcp_eager_limit"
DEFAULT = 64 << 10  # bytes, the header among them
LONGEST = 1 << 20  # up to which it was measured
HEADER = 128  # more than ob1's
MOSTLY = 0.5  # of what can be won


def sentence(profiles: Collection[Mapping[str, Any]], winnable_s: Mapping[int, float]) -> str:
    """The setting to try first; empty where none is known. `winnable_s`: of messages of so many bytes."""
    fitting = {size: time for size, time in winnable_s.items() if _fits(size)}
    if not _is_open_mpi_over_tcp(profiles) or sum(fitting.values()) <= MOSTLY * sum(winnable_s.values()):
        return ""
    return (
        f"Most of it is of messages of 64 KB to 1 MB. Open MPI moves these by itself over TCP with {_limit(fitting)}: "
        "try that first, without an engine."
    )


def for_sizes(mpi: str, sizes: Collection[int]) -> str:
    """The same for messages of so many bytes that the MPI of this name does not move by itself."""
    fitting = list(filter(_fits, sizes))
    if not mpi.endswith("openmpi") or not fitting:
        return ""
    return f"Where Open MPI sends over TCP, try {_limit(fitting)} first: with it these messages move by themselves."


def _fits(size: int) -> bool:
    return DEFAULT - HEADER < size <= LONGEST


def _limit(sizes: Collection[int]) -> str:
    return f"{EAGER_LIMIT}={1 << (max(sizes) + HEADER).bit_length()}"


def _is_open_mpi_over_tcp(profiles: Collection[Mapping[str, Any]]) -> bool:
    """By what each process says of its transport ("ob1, tcp"). On one node the sockets may be the launcher's alone."""
    said = [str(profile.get("transport", "")) for profile in profiles]
    ob1 = all({"ob1", "tcp"} <= set(one.split(", ")) and "/dev/" not in one for one in said)
    return ob1 and len({profile["host"] for profile in profiles}) > 1
