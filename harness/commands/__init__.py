# SPDX-License-Identifier: BSD-3-Clause
"""The commands of ./bench, a file each. Anything slow to import is imported by the command that needs it."""

from collections.abc import Callable
from typing import Any, NamedTuple

from harness.commands import rdma_lab, site, spack, vcluster
from harness.commands.apps import apps
from harness.commands.bisect import bisect
from harness.commands.calibrate_model import calibrate_model
from harness.commands.claims import claims
from harness.commands.compare import compare
from harness.commands.compare_program import compare_program
from harness.commands.completion import completion
from harness.commands.demo import demo
from harness.commands.docs import docs
from harness.commands.doctor import doctor
from harness.commands.engine_costs import engine_costs
from harness.commands.gate import gate
from harness.commands.harm import harm
from harness.commands.history import history
from harness.commands.keep import keep
from harness.commands.list import list_
from harness.commands.nodes import nodes
from harness.commands.notebook import notebook
from harness.commands.programs import exec_, mpirun
from harness.commands.report import report
from harness.commands.run import run
from harness.commands.scaling import scaling
from harness.commands.smpi import smpi
from harness.commands.test import test
from harness.commands.tune import tune
from harness.commands.validate_model import validate_model

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
    """`function` returns the exit status. `passes_rest`: its arguments end where another program's begin; `hands_on`:
    that is a command of ours, which may have a program behind a `--` of its own."""

    function: Callable[..., Any]
    heading: str = ""
    passes_rest: bool = False
    hands_on: bool = False


COMMANDS = {
    "demo": Command(demo, BEGIN),
    "doctor": Command(doctor, BEGIN),
    "list": Command(list_, BEGIN),
    "run": Command(run, MEASURE),
    "harm": Command(harm, MEASURE),
    "engine-costs": Command(engine_costs, MEASURE),
    "report": Command(report, READ),
    "notebook": Command(notebook, READ),
    "claims": Command(claims, READ),
    "compare": Command(compare, READ),
    "keep": Command(keep, READ),
    "gate": Command(gate, CHANGE),
    "history": Command(history, CHANGE),
    "bisect": Command(bisect, CHANGE, passes_rest=True, hands_on=True),
    "nodes": Command(nodes, MEASURE),
    "calibrate-model": Command(calibrate_model, MEASURE),
    "tune": Command(tune, MEASURE, passes_rest=True),
    "validate-model": Command(validate_model, MEASURE),
    "scaling": Command(scaling, MEASURE),
    "smpi": Command(smpi, MEASURE, passes_rest=True),
    "compare-program": Command(compare_program, PROGRAM, passes_rest=True),
    "mpirun": Command(mpirun, PROGRAM, passes_rest=True),
    "exec": Command(exec_, PROGRAM, passes_rest=True),
    "apps": Command(apps, PROGRAM),
    "test": Command(test, PROJECT),
    "docs": Command(docs, PROJECT),
    "completion": Command(completion, PROJECT),
}

VCLUSTER_COMMANDS = {
    "up": Command(vcluster.up),
    "down": Command(vcluster.down),
    "status": Command(vcluster.status),
    "exec": Command(vcluster.execute, passes_rest=True),
    "link": Command(vcluster.link),
    "rate": Command(vcluster.rate),
}

RDMA_LAB_COMMANDS = {
    "up": Command(rdma_lab.up),
    "down": Command(rdma_lab.down),
    "status": Command(rdma_lab.status),
    "exec": Command(rdma_lab.execute, passes_rest=True),
}

SPACK_COMMANDS = {
    "site": Command(spack.site),
    "concretize": Command(spack.concretize),
    "install": Command(spack.install),
    "smoke": Command(spack.smoke),
}

SITE_COMMANDS = {"new": Command(site.new), "check": Command(site.check)}
