# SPDX-License-Identifier: BSD-3-Clause
"""What must be the same for two runs to belong to one session: system, MPI, engine, workload."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from harness import machine
from harness.mpis import MPIS
from harness.request import Request


def of(request: Request) -> dict[str, Any]:
    """The identity of a run of `request` on this machine with what is built now."""
    facts = machine.facts()
    identity: dict[str, Any] = {
        "system": f"{request.system.name} on {facts['cpu_model']} with {facts['cpus']} CPUs, kernel {facts['kernel']}",
    }
    for name, executables in request.programs().items():
        programs = request.system.programs_of(name)
        if request.system.own_mpis:
            mpi = MPIS[name]
            identity[f"{name} version"] = "; ".join(mpi.wheels or mpi.packages)
        identity[f"{name} engine"] = _digest(_engine(programs))
        for executable in executables:
            identity[f"{name} workload {executable}"] = _digest(programs / executable)
    return identity


def _engine(programs: Path) -> Path:
    """The library beside the programs; an installed one is in lib64 on some distributions."""
    found = [programs.parent / folder / "libprogress_engine.so" for folder in ("lib", "lib64")]
    return next((path for path in found if path.exists()), found[0])


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()[:16]
    except OSError:
        return "absent"


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs, in words."""
    return [
        f"{name}: was {before.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in sorted(before | now)
        if before.get(name) != now.get(name)
    ]
