# SPDX-License-Identifier: BSD-3-Clause
"""The commands of ./bench: which there are, and where the function of each is. A call imports its own file alone."""

from __future__ import annotations

from typing import NamedTuple

NAME = "bench"
VARIABLE = "_BENCH_COMPLETE"  # in which a shell asks what could come next; Typer looks for it
# Under which heading `./bench --help` has a command, in this order.
BEGIN = "To begin"
MEASURE = "Measure"
READ = "Read and compare what was measured"
CHANGE = "Decide about a change"
PROGRAM = "One's own and other people's programs"
SYSTEM = "Systems to run on"
PROJECT = "This project"
HEADINGS = (BEGIN, MEASURE, READ, CHANGE, PROGRAM, SYSTEM, PROJECT)


class Command(NamedTuple):
    """`place`: the file here and its function, which returns the exit status; empty: both have the command's name.
    `passes_rest`: its arguments end where another program's begin; `hands_on`: that is a command of ours, which may
    have a program behind a `--` of its own."""

    heading: str = ""
    place: str = ""
    passes_rest: bool = False
    hands_on: bool = False


class Group(NamedTuple):
    """Commands below a command."""

    heading: str
    help: str
    commands: dict[str, Command]


COMMANDS: dict[str, Command | Group] = {
    "demo": Command(BEGIN),
    "doctor": Command(BEGIN),
    "list": Command(BEGIN, "list.list_"),
    "run": Command(MEASURE),
    "harm": Command(MEASURE),
    "engine-costs": Command(MEASURE),
    "report": Command(READ),
    "notebook": Command(READ),
    "claims": Command(READ, "report.claims"),
    "compare": Command(READ),
    "keep": Command(READ, "report.keep"),
    "gate": Command(CHANGE),
    "history": Command(CHANGE, "gate.history"),
    "bisect": Command(CHANGE, passes_rest=True, hands_on=True),
    "nodes": Command(MEASURE),
    "calibrate-model": Command(MEASURE),
    "tune": Command(MEASURE, passes_rest=True),
    "validate-model": Command(MEASURE),
    "scaling": Command(MEASURE),
    "smpi": Command(MEASURE, "programs.smpi", passes_rest=True),
    "where": Command(PROGRAM, passes_rest=True),
    "compare-program": Command(PROGRAM, passes_rest=True),
    "mpirun": Command(PROGRAM, "programs.mpirun", passes_rest=True),
    "exec": Command(PROGRAM, "programs.exec_", passes_rest=True),
    "apps": Command(PROGRAM),
    "test": Command(PROJECT),
    "docs": Command(PROJECT),
    "wheel": Command(PROJECT),
    "completion": Command(PROJECT),
    "vcluster": Group(
        SYSTEM,
        "The virtual cluster by hand.",
        {
            "up": Command(place="vcluster.up"),
            "down": Command(place="vcluster.down"),
            "status": Command(place="vcluster.status"),
            "exec": Command(place="vcluster.execute", passes_rest=True),
            "link": Command(place="vcluster.link"),
            "rate": Command(place="vcluster.rate"),
        },
    ),
    "rdma-lab": Group(
        SYSTEM,
        "Two emulated machines with RDMA, by hand.",
        {
            "up": Command(place="rdma_lab.up"),
            "down": Command(place="rdma_lab.down"),
            "status": Command(place="rdma_lab.status"),
            "exec": Command(place="rdma_lab.execute", passes_rest=True),
        },
    ),
    "site": Group(
        SYSTEM,
        "The file by which a cluster is known here.",
        {"new": Command(place="site.new"), "check": Command(place="site.check")},
    ),
    "spack": Group(
        SYSTEM,
        "The engine and the workloads through Spack.",
        {
            "site": Command(place="spack.site"),
            "concretize": Command(place="spack.concretize"),
            "install": Command(place="spack.install"),
            "smoke": Command(place="spack.smoke"),
        },
    ),
}
