# SPDX-License-Identifier: BSD-3-Clause
"""The smoke test's verdict: another library, another number of ranks and a missing engine are each found."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import Failure
from harness.job.records import RecordFile
from spack_env import make_site
from spack_env import smoke as spack_smoke
from spack_env.site_environment import SiteEnvironment
from spack_env.table import ENVIRONMENTS

ENGINE = {"active": True, "preset": "adaptive", "driver": "mpi_test"}


def record(library: str = "Open MPI v5.0.11", ranks: int = 2, **engine: Any) -> RecordFile:
    ends = [{"rank": rank, "engine": ENGINE | engine} for rank in range(ranks)]
    return RecordFile({"mpi_library": library, "world_size": ranks}, [], {"ranks": ends})


@pytest.fixture
def openmpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SiteEnvironment:
    monkeypatch.setattr(make_site, "SITES", tmp_path)
    environment = SiteEnvironment("cluster", ENVIRONMENTS["openmpi"])
    environment.folder.mkdir(parents=True)
    environment.lock_file.write_text(json.dumps({"concrete_specs": {}}))
    return environment


def test_what_was_asked_for_has_answered(openmpi: SiteEnvironment) -> None:
    answer = spack_smoke.judge(openmpi, record())
    assert answer["library"] == "Open MPI v5.0.11"
    assert answer["engine"] == "preset adaptive, driver mpi_test, on 2 ranks"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (record(library="MPICH Version: 4.0.2"), "'MPICH Version: 4.0.2' answered instead of Open MPI"),
        (record(ranks=1), "1 ranks instead of 2"),
        (record(active=False), "the engine did not run on each"),
        (RecordFile(None, [], None), "'no library' answered"),
    ],
)
def test_what_was_not_asked_for_is_found(openmpi: SiteEnvironment, found: RecordFile, words: str) -> None:
    with pytest.raises(Failure, match=words):
        spack_smoke.judge(openmpi, found)


def test_nothing_to_run_is_a_sentence(openmpi: SiteEnvironment) -> None:
    with pytest.raises(Failure, match=r"progress-run is not there: \./bench spack install openmpi first"):
        spack_smoke.run(openmpi)
