# SPDX-License-Identifier: BSD-3-Clause
"""./bench harm leaves no benchmark of any workload out, and its points are ones that the programs take."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from reframe_checks.studies.harm import LEFT_OUT, STUDIES, WORKLOADS

from .conftest import TIMEOUT_S, Launcher, built_launcher


def _answer(launcher: Launcher, program: str, *arguments: str) -> str:
    """What a program says; nothing where it knows no such question."""
    command = [str(launcher.build / "bin" / program), *arguments]
    done = subprocess.run(
        command, env=launcher.environment(), capture_output=True, text=True, check=False, timeout=TIMEOUT_S,
        stdin=subprocess.DEVNULL,
    )  # fmt: skip
    return done.stdout if done.returncode == 0 else ""


Parameters = dict[tuple[str, str], list[dict[str, Any]]]


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Parameters:
    """The parameters of each benchmark of every program that lists some."""
    launcher = built_launcher("mpich", tmp_path_factory.mktemp("listed"))
    found = {}
    for path in sorted((launcher.build / "bin").iterdir()):
        for line in _answer(launcher, path.name, "--list").splitlines():
            benchmark = line.split(maxsplit=1)[0]
            if said := _answer(launcher, path.name, benchmark, "--list-parameters"):
                found[path.name, benchmark] = json.loads(said)["parameters"]
    return found


def test_every_benchmark_of_every_workload_is_covered(there: Parameters) -> None:
    covered = {study.workload for study in STUDIES}
    assert len(there) > 20
    lacking = set(there) - covered - set(LEFT_OUT)
    assert not lacking, "give each a study, or a row of reframe_checks/studies/harm.py"
    assert covered <= set(there)
    assert not covered & set(LEFT_OUT)


def test_every_point_gives_what_has_no_default_and_nothing_unknown(there: Parameters) -> None:
    rows = {(row.program, row.benchmark) for row in WORKLOADS}
    for study in STUDIES:
        (point,) = study.scales["quick"].points()
        parameters = there[study.workload[0], study.workload[1]]
        names = {parameter["name"] for parameter in parameters}
        needed = {parameter["name"] for parameter in parameters if parameter["default"] is None}
        assert needed <= set(point), study.name
        assert study.workload not in rows or set(point) <= names, study.name
