# SPDX-License-Identifier: BSD-3-Clause
"""The studies' tables against the programs: every parameter of a workload can be swept from the command line."""

from __future__ import annotations

import json
import subprocess

import pytest

from reframe_checks.study_table import STUDIES

from .conftest import TIMEOUT_S, Launcher

CALIBRATED = {"work_units"}  # follows from an intention: comp_over_comm, comp_s


@pytest.mark.parametrize("study", STUDIES)
def test_every_parameter_can_be_swept(mpich: Launcher, study: str) -> None:
    program, *arguments = STUDIES[study].workload
    command = [str(mpich.build / "bin" / program), *arguments, "--list-parameters"]
    listed = subprocess.run(
        command, env=mpich.environment(), capture_output=True, text=True, check=True, timeout=TIMEOUT_S
    )
    parameters = json.loads(listed.stdout)
    names = {parameter["name"] for parameter in parameters}
    axes = STUDIES[study].parameters
    assert names - CALIBRATED <= set(axes)
    for parameter in parameters:
        if axes.get(parameter["name"]) and "choices" in parameter:
            assert set(axes[parameter["name"]].choices) <= set(parameter["choices"])
