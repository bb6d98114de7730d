# SPDX-License-Identifier: BSD-3-Clause
"""What the programs say of themselves: every parameter of a workload can be swept from the command line, and of the
quantities of each benchmark one leads."""

from __future__ import annotations

import json
import subprocess
from typing import Any

import pytest

from reframe_checks.catalogue import studies

from .conftest import TIMEOUT_S, Launcher

PROGRAMS = sorted({study.workload[0] for study in studies().values() if study.workload} | {"pencil_fft"})
CALIBRATED = {"work_units"}  # follows from an intention: comp_over_comm, comp_s
VALIDATION = {"compute"}  # claims are of computations: who sleeps instead validates the model of the simulator


def said(launcher: Launcher, program: str, *arguments: str) -> str:
    command = [str(launcher.build / "bin" / program), *arguments]
    return subprocess.run(
        command, env=launcher.environment(), capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    ).stdout


def tables(launcher: Launcher, program: str, *benchmark: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(said(launcher, program, *benchmark, "--list-parameters"))
    return found


@pytest.mark.parametrize("study", [name for name, study in studies().items() if study.of_a_paper and study.workload])
def test_every_parameter_can_be_swept(mpich: Launcher, study: str) -> None:
    program, *arguments = studies()[study].workload
    parameters = tables(mpich, program, *arguments)["parameters"]
    names = {parameter["name"] for parameter in parameters}
    axes = studies()[study].parameters
    assert names - CALIBRATED - VALIDATION <= set(axes)
    for parameter in parameters:
        if axes.get(parameter["name"]) and "choices" in parameter:
            assert set(axes[parameter["name"]].choices) <= set(parameter["choices"])


@pytest.mark.parametrize("program", PROGRAMS)
def test_of_the_quantities_of_each_benchmark_one_leads(mpich: Launcher, program: str) -> None:
    for line in said(mpich, program, "--list").splitlines():
        benchmark = line.split(maxsplit=1)[0]
        quantities = tables(mpich, program, benchmark)["quantities"]
        assert sum(quantity["leading"] for quantity in quantities) == 1, benchmark
        assert len({quantity["name"] for quantity in quantities}) == len(quantities), benchmark
        for quantity in quantities:
            assert quantity["better"] in ("lower", "higher", "neither"), quantity
            assert not quantity["name"].endswith("_s") or quantity["unit"].endswith("s"), quantity
            assert quantity["unit"], quantity
