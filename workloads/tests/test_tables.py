# SPDX-License-Identifier: BSD-3-Clause
"""What the programs say of themselves: every parameter of a workload can be swept from the command line, of the
quantities of each benchmark one leads, and ./bench harm leaves no benchmark out, at points that the programs take."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from reframe_checks.catalogue import studies
from reframe_checks.studies.harm import LEFT_OUT, STUDIES, WORKLOADS

from .conftest import TIMEOUT_S, Launcher, built_launcher

CALIBRATED = {"work_units"}  # follows from an intention: comp_over_comm, comp_s
VALIDATION = {"compute"}  # claims are of computations: who sleeps instead validates the model of the simulator

Tables = dict[tuple[str, str], dict[str, list[dict[str, Any]]]]


def _answer(launcher: Launcher, program: str, *arguments: str) -> str:
    """What a program says; nothing where it knows no such question."""
    command = [str(launcher.build / "bin" / program), *arguments]
    done = subprocess.run(
        command, env=launcher.environment(), capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else ""


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Tables:
    """The parameters and the quantities of each benchmark of every program that lists some."""
    launcher = built_launcher("mpich", tmp_path_factory.mktemp("listed"))
    found = {}
    for path in sorted((launcher.build / "bin").iterdir()):
        for line in _answer(launcher, path.name, "--list").splitlines():
            benchmark = line.split(maxsplit=1)[0]
            if said := _answer(launcher, path.name, benchmark, "--list-parameters"):
                found[path.name, benchmark] = json.loads(said)
    assert len(found) > 20
    return found


@pytest.mark.parametrize("study", [name for name, study in studies().items() if study.of_a_paper and study.workload])
def test_every_parameter_can_be_swept(there: Tables, study: str) -> None:
    program, benchmark = studies()[study].workload
    parameters = there[program, benchmark]["parameters"]
    axes = studies()[study].parameters
    assert {parameter["name"] for parameter in parameters} - CALIBRATED - VALIDATION <= set(axes)
    for parameter in parameters:
        if axes.get(parameter["name"]) and "choices" in parameter:
            assert set(axes[parameter["name"]].choices) <= set(parameter["choices"])


def test_of_the_quantities_of_each_benchmark_one_leads(there: Tables) -> None:
    for benchmark, tables in there.items():
        quantities = tables["quantities"]
        assert sum(quantity["leading"] for quantity in quantities) == 1, benchmark
        assert len({quantity["name"] for quantity in quantities}) == len(quantities), benchmark
        for quantity in quantities:
            assert quantity["better"] in ("lower", "higher", "neither"), quantity
            assert not quantity["name"].endswith("_s") or quantity["unit"].endswith("s"), quantity
            assert quantity["unit"], quantity


def test_every_benchmark_of_every_workload_is_covered(there: Tables) -> None:
    covered = {study.workload for study in STUDIES}
    assert not set(there) - covered - set(LEFT_OUT), "give each a study, or a row of reframe_checks/studies/harm.py"
    assert covered <= set(there)
    assert not covered & set(LEFT_OUT)


def test_every_point_of_harm_gives_what_has_no_default_and_nothing_unknown(there: Tables) -> None:
    rows = {(row.program, row.benchmark) for row in WORKLOADS}
    for study in STUDIES:
        (point,) = study.scales["quick"].points()
        parameters = there[study.workload[0], study.workload[1]]["parameters"]
        needed = {parameter["name"] for parameter in parameters if parameter["default"] is None}
        assert needed <= set(point), study.name
        names = {parameter["name"] for parameter in parameters}
        assert study.workload not in rows or set(point) <= names, study.name
