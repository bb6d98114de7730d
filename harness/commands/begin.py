# SPDX-License-Identifier: BSD-3-Clause
"""To begin with: ./bench demo, from a fresh clone to a report; ./bench doctor, what this machine can measure."""

from __future__ import annotations

import json
import re
import shutil
import sys
import time
from pathlib import Path
from typing import Annotated, Any

import typer

from harness.base import machine, process
from harness.base.errors import Failure
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.base.process import say
from harness.commands import options
from harness.commands.run import start
from harness.setup import environment
from harness.sites import systems
from harness.sites.systems import Request
from harness.vcluster import cluster as virtual
from harness.vcluster import network
from reframe_checks.catalogue import studies
from reframe_checks.studies.shared import DEFENSIBLE
from spack_env import site_environment as spack

MOST_LAUNCHES = 30

EQUAL = {"pattern": "both", "comp_over_comm": "1"}
TOLD_OF = ["bare", "mpi-async", "idle", "adaptive", "limit"]  # the report's sentences speak of these
# What a demo can measure, the most first. All have as many launches of bare and adaptive as decide a claim, at the
# point that the claims are about; what goes first is what only explains them, or narrows an interval.
PLANS: tuple[dict[str, str], ...] = (
    *({"launches": str(launches)} for launches in range(MOST_LAUNCHES, DEFENSIBLE - 1, -1)),
    {},
    EQUAL | {"size_bytes": "65536,4194304,33554432"},
    EQUAL | {"size_bytes": "65536,4194304,16777216"},
    EQUAL | {"size_bytes": "65536,4194304,8388608"},
    EQUAL | {"size_bytes": "65536,4194304"},
)


def demo(
    minutes: Annotated[float, typer.Option("--minutes", min=1.5, max=600, help="About how long to measure.")] = 1.5,
) -> int:
    """Set everything up, run the quick overlap study on the virtual cluster with all three MPIs, and write the report.

    The last line is the report's path. Example: ./bench demo --minutes 10
    """
    system, reason = systems.default()
    if reason:
        say(f"{reason} Falling back to processes of this machine over loopback; the records say so.")
    return start(fit(system, minutes * 60), "demo", sys.argv[1:])


def fit(system: systems.System, seconds: float) -> Request:
    """The first of PLANS that fits the time, or the smallest."""
    requests = [request_of(plan, system) for plan in PLANS]
    return next((request for request in requests if estimate_s(request) <= seconds), requests[-1])


def request_of(plan: dict[str, str], system: systems.System) -> Request:
    """A plan of PLANS on all three MPIs; where time is short, with the variants that the report tells of."""
    variants = TOLD_OF if EQUAL.items() <= plan.items() else []
    return Request.of([studies()["overlap-ratio"]], system, list(WHEEL_MPIS), variants, "quick", plan)


def estimate_s(request: Request) -> float:
    """About how long its measuring takes."""
    return sum(job.estimate_s() for job in request.jobs())


ANSWER_LIMIT_S = 30.0
WAIT_INSTRUCTIONS = {"waitpkg": "umwait/tpause (Intel)", "mwaitx": "monitorx/mwaitx (AMD)"}


def _wait_instructions() -> str:
    cpuinfo = Path("/proc/cpuinfo").read_text(errors="replace")
    flags = re.search(r"^(?:flags|Features)\s*:\s*(.*)$", cpuinfo, re.MULTILINE)
    found = [words for flag, words in WAIT_INSTRUCTIONS.items() if flags and flag in flags.group(1).split()]
    if machine.facts()["architecture"] == "aarch64":
        found.append("wfe (Arm)")
    return ", ".join(found) or "none visible: waiting falls back to pause, then futex"


def _engine() -> dict[str, Any] | None:
    """What the engine's progress-info finds, if it is built for some MPI."""
    for mpi in MPIS.values():
        tool = mpi.build_dir / "bin" / "progress-info"
        if tool.exists():
            answer = process.answer([str(tool), "--json"], ANSWER_LIMIT_S)
            return dict(json.loads(answer.out)) if answer.status == 0 else None
    return None


def _slurm() -> str:
    lacking = environment.missing_packages("slurm")
    return f"not installed here ({' '.join(lacking)})" if lacking else "installed"


def _line() -> dict[str, float] | str:
    """What two virtual nodes measure at 1 Gb/s, or why they do not."""
    try:
        return virtual.measured_here()
    except Failure as error:
        return str(error)


def findings() -> dict[str, Any]:
    """Everything that decides what can be measured here."""
    facts = machine.facts()
    namespaces = virtual.supported()
    return {
        "machine": facts,
        "smt": (facts["threads_per_core"] or 1) > 1,
        "wait_instructions": _wait_instructions(),
        "virtual_nodes": namespaces or "yes",
        "virtual_line": None if namespaces else _line(),
        "clock_resolution_s": time.get_clock_info("perf_counter").resolution,
        "mpis": {mpi.name: mpi.installed() for mpi in MPIS.values()},
        "slurm": _slurm(),
        "spack": spack.supported() or f"{shutil.which('spack')}, {spack.version()}",
        "missing_packages": environment.missing_packages("build", "all targets", "vcluster", "test"),
        "engine": _engine(),
    }


def doctor(as_json: options.Json = False) -> int:
    """Say what this machine can and cannot measure, and why.

    Example: ./bench doctor --json
    """
    found = findings()
    if as_json:
        print(json.dumps(found, indent=1))
        return 0
    for line in _sentences(found):
        print(line)
    return 0


def _sentences(found: dict[str, Any]) -> list[str]:
    facts = found["machine"]
    asked = "./bench exec --mpi mpich -- progress-info"
    built = "built" if found["engine"] else f"its progress-info is not built yet ({asked} builds it)"
    measured = found["virtual_line"]
    told = network.measured_words(measured) if isinstance(measured, dict) else measured
    line = f"; a line of 1 Gb/s, measured: {told}" if told else ""
    slices = (found["engine"] or {}).get("machine", {}).get("slice_ns")
    return [
        f"CPU: {facts['cpu_model']}, {facts['sockets']} sockets, {facts['cores']} cores, {facts['cpus']} CPUs"
        + (", a virtual machine" if facts["virtual_machine"] else ""),
        f"SMT: {'yes' if found['smt'] else 'no sibling threads: studies that need one are skipped'}",
        f"Wait instructions: {found['wait_instructions']}",
        f"Frequency: governor {facts['governor']}, turbo {facts['turbo']}",
        f"Kernel: {facts['kernel']}, {facts['distribution']}; clock source {facts['clock_source']}",
        f"Short scheduling slice: {f'{slices / 1000:g} us' if slices else 'not had, or progress-info is not built'}",
        f"Virtual nodes: {found['virtual_nodes']}{line}",
        "Interfaces: " + (", ".join(nic["name"] for nic in facts["nics"]) or "none but loopback"),
        "MPIs: " + ", ".join(f"{name} {'installed' if there else 'absent'}" for name, there in found["mpis"].items()),
        f"Engine: {built}",
        f"Slurm: {found['slurm']}",
        f"Spack: {found['spack']}",
        "Missing packages: " + (" ".join(found["missing_packages"]) or "none"),
    ]
