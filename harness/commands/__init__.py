# SPDX-License-Identifier: BSD-3-Clause
"""The commands of ./bench: which there are, and where the function of each is. A call imports its own file alone, which
has the commands of a heading of --help, or some of them."""

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
    """`function`: the file here and its function, which returns the exit status; empty: both have the command's name.
    `passes_rest`: its arguments end where another program's begin; `hands_on`: that is a command of ours, which may
    have a program behind a `--` of its own."""

    heading: str = ""
    function: str = ""
    passes_rest: bool = False
    hands_on: bool = False


class Group(NamedTuple):
    """Commands below a command."""

    heading: str
    help: str
    commands: dict[str, Command]


COMMANDS: dict[str, Command | Group] = {
    "demo": Command(BEGIN, "begin.demo"),
    "doctor": Command(BEGIN, "begin.doctor"),
    "list": Command(BEGIN, "list.list_"),
    "run": Command(MEASURE),
    "harm": Command(MEASURE, "groups.harm"),
    "engine-costs": Command(MEASURE, "groups.engine_costs"),
    "report": Command(READ, "results.report"),
    "notebook": Command(READ, "results.notebook"),
    "claims": Command(READ, "results.claims"),
    "compare": Command(READ, "results.compare"),
    "keep": Command(READ, "results.keep"),
    "gate": Command(CHANGE),
    "history": Command(CHANGE, "gate.history"),
    "bisect": Command(CHANGE, passes_rest=True, hands_on=True),
    "nodes": Command(MEASURE, "groups.nodes"),
    "calibrate-model": Command(MEASURE, "model.calibrate_model"),
    "tune": Command(MEASURE, passes_rest=True),
    "validate-model": Command(MEASURE, "model.validate_model"),
    "scaling": Command(MEASURE, "groups.scaling"),
    "smpi": Command(MEASURE, "programs.smpi", passes_rest=True),
    "where": Command(PROGRAM, "own_program.where", passes_rest=True),
    "compare-program": Command(PROGRAM, "own_program.compare_program", passes_rest=True),
    "mpirun": Command(PROGRAM, "programs.mpirun", passes_rest=True),
    "exec": Command(PROGRAM, "programs.exec_", passes_rest=True),
    "apps": Command(PROGRAM, "programs.apps"),
    "test": Command(PROJECT),
    "docs": Command(PROJECT, "project.docs"),
    "wheel": Command(PROJECT, "project.wheel"),
    "completion": Command(PROJECT, "project.completion"),
    "vcluster": Group(
        SYSTEM,
        "The virtual cluster by hand.",
        {
            "up": Command(function="nodes_by_hand.vcluster_up"),
            "down": Command(function="nodes_by_hand.vcluster_down"),
            "status": Command(function="nodes_by_hand.vcluster_status"),
            "exec": Command(function="nodes_by_hand.vcluster_exec", passes_rest=True),
            "link": Command(function="nodes_by_hand.link"),
            "rate": Command(function="nodes_by_hand.rate"),
        },
    ),
    "rdma-lab": Group(
        SYSTEM,
        "Two emulated machines with RDMA, by hand.",
        {
            "up": Command(function="nodes_by_hand.lab_up"),
            "down": Command(function="nodes_by_hand.lab_down"),
            "status": Command(function="nodes_by_hand.lab_status"),
            "exec": Command(function="nodes_by_hand.lab_exec", passes_rest=True),
        },
    ),
    "site": Group(
        SYSTEM,
        "The file by which a cluster is known here.",
        {"new": Command(function="sites.new"), "check": Command(function="sites.check")},
    ),
    "spack": Group(
        SYSTEM,
        "The engine and the workloads through Spack.",
        {
            "site": Command(function="sites.site"),
            "concretize": Command(function="sites.concretize"),
            "install": Command(function="sites.install"),
            "smoke": Command(function="sites.smoke"),
        },
    ),
}
