# SPDX-License-Identifier: BSD-3-Clause
"""What is known to fail on an MPI, by its version: told as that, with what was seen, and not as a failure of what is
measured. Where it does not fail any more that is said, so that its row goes.

A row is of workloads of ours, whose records have the MPI's version; never of a side of a gate or of a search, of which
a failure is a finding.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from harness.job import records
from harness.job.plan import Launch, Plan
from harness.job.records import RecordFile


@dataclass(frozen=True)
class Known:
    """`study`, `variant`: of which launches, patterns of the whole name; `library`: how MPI_Get_library_version begins;
    `said`: what the launch then prints, since it may fail for other reasons; `over_ip`: only where messages cross an
    interface of the kernel's."""

    study: str
    variant: str
    library: str
    said: str
    reason: str
    over_ip: bool = False

    def of(self, plan: Plan, launch: Launch, library: str) -> bool:
        named = re.fullmatch(self.study, plan.study) and re.fullmatch(self.variant, launch.variant.partition(":")[0])
        here = plan.platform.check_interfaces or not self.over_ip
        return bool(named and here and library.startswith(self.library) and not launch.side)


KNOWN = (
    Known(
        study="rma-progress",
        variant="bare-multiple|thread|timer|idle|adaptive|mwait",
        library="Open MPI v4.",
        said="OSC pt2pt component does not support MPI_THREAD_MULTIPLE",
        reason="over sockets the windows of Open MPI 4 do not run at MPI_THREAD_MULTIPLE, which this variant asks for",
        over_ip=True,
    ),
)


def told(plan: Plan, launch: Launch, left: RecordFile, status: str, reason: str, log: Path) -> tuple[str, str]:
    """The status of a launch and the sentence behind it, as they are with what is known."""
    library = (left.header or {}).get("mpi_library") or ""
    for known in KNOWN:
        if known.of(plan, launch, library):
            if status == "ok":
                return status, f"{records.UNEXPECTED}{known.reason}"
            if status in records.FAILURES and known.said in log.read_text(errors="replace"):
                return "skipped", f"{records.EXPECTED}{known.reason} ({reason})"
    return status, reason
