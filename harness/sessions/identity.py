# SPDX-License-Identifier: BSD-3-Clause
"""What must be the same for two runs to belong to one session: system, MPI, engine, workload."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from harness.base import machine
from harness.base.mpis import MPIS
from harness.sessions.request import Request


def of(request: Request) -> dict[str, Any]:
    """The identity of a run of `request` on this machine with what is built now."""
    facts = machine.facts()
    where = ":".join(filter(None, [request.system.name, request.system.partition]))
    identity: dict[str, Any] = {
        "system": f"{where} on {facts['cpu_model']} with {facts['cpus']} CPUs, kernel {facts['kernel']}",
    }
    for name, executables in request.programs().items():
        programs = request.system.programs_of(name)
        if request.system.own_mpis:
            mpi = MPIS[name]
            identity[f"{name} version"] = "; ".join(mpi.wheels or mpi.packages)
        identity[f"{name} engine"] = _engine(programs, request.may_offload())
        for arm in request.gate.arms if request.gate else ():
            if arm.progress_run:
                identity[f"{name} engine of {arm.name}"] = _engine(Path(arm.progress_run).parent, offload=True)
        for executable in executables:
            identity[f"{name} workload {executable}"] = _digest(programs / executable)
    identity |= {f"model {name}": digest[:16] for name, digest in request.system.model().items()}
    if request.program:
        identity["program"] = _digest(Path(request.program.command[0]))
    return identity


def _engine(programs: Path, offload: bool) -> str:
    """Of the libraries beside the programs; installed ones are in lib64 on some distributions."""
    names = ["libprogress_engine.so", *(["libprogress_engine_offload.so"] if offload else [])]
    folders = [programs.parent / folder for folder in ("lib", "lib64")]
    folder = next((folder for folder in folders if (folder / names[0]).exists()), folders[0])
    return _digest(*(folder / name for name in names))


def _digest(*files: Path) -> str:
    """Of all of them together."""
    try:
        return hashlib.sha256(b"".join(path.read_bytes() for path in files)).hexdigest()[:16]
    except OSError:
        return "absent"


def differences(before: dict[str, Any], now: dict[str, Any]) -> list[str]:
    """What differs, in words."""
    return [
        f"{name}: was {before.get(name, 'absent')}, is {now.get(name, 'absent')}"
        for name in sorted(before | now)
        if before.get(name) != now.get(name)
    ]
