# SPDX-License-Identifier: BSD-3-Clause
"""The sessions of a ReFrame that was started by itself: which checks share one, and what it says at the end."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.base.paths import ROOT
from harness.job import session as sessions
from harness.sessions.request import from_facts
from harness.sites.systems import SYSTEMS_DIR

# A ReFrame process without ReFrame: it asks for the folders of these jobs, one after the other.
SCRIPT = """
import json, sys
from dataclasses import replace
from pathlib import Path
from harness.base.mpis import MPIS
from harness.job.session import Asked
from reframe_checks.catalogue import by_names
from reframe_checks.own_session import Check, Wanted, folder_for
wanted = Wanted(Asked(["bare"], {"launches": "1"}, 1, 2, sys.argv[1]), "test", "local", False, {})
def check(name, mpi="mpich"):
    (study,) = by_names([name])
    scale = study.scale("test", wanted.asked.settings)
    return Check(study, scale, mpi, MPIS[mpi].build_dir / "bin", "a network", {})
print(json.dumps([str(folder_for(*each)) for each in (
    (wanted, check("tasks")), (wanted, check("waiting")), (wanted, check("tasks", "openmpi")),
    (wanted, check("tasks")), (replace(wanted, scale="quick"), check("tasks")),
)]))
"""


def folders(results: Path) -> list[Path]:
    environment = dict(os.environ) | {"PYTHONPATH": str(ROOT), "OVERLAP_BENCH_RESULTS": str(results)}
    command = [sys.executable, "-c", SCRIPT, str(SYSTEMS_DIR / "local.py")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [Path(path) for path in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def taken(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return folders(tmp_path_factory.mktemp("results"))


@pytest.mark.full
def test_checks_that_are_asked_for_alike_share_a_session(taken: list[Path]) -> None:
    first, second, third, again, other_scale = taken
    assert first == second == third
    assert len({first, again, other_scale}) == 3, "the same once more, or at another scale, is measured apart"


@pytest.mark.full
def test_a_session_says_what_one_of_bench_says(taken: list[Path]) -> None:
    facts = json.loads((taken[0] / "session.json").read_text())
    assert facts["studies"] == ["tasks", "waiting"]
    assert facts["mpi_names"] == ["mpich", "openmpi"]
    assert set(facts["mpis"]) == {"mpich", "openmpi"}
    assert (facts["scale"], facts["system"], facts["network"]) == ("test", "local", "a network")
    assert len(facts["expected"]) == 4, "a launch of bare for each study and MPI"
    assert {"git", "machine", "reframe", "python", "identity", "created", "command"} <= set(facts)
    assert any(name.startswith("openmpi workload tasks") for name in facts["identity"])
    request = from_facts(sessions.load(str(taken[0])).facts)
    assert request.facts()["expected"] == facts["expected"], "so it can be resumed"
    assert request.identity() == facts["identity"] and request.asked == sessions.load(str(taken[0])).facts.request


@pytest.mark.full
def test_a_session_without_its_records_is_not_complete(taken: list[Path]) -> None:
    facts = json.loads((taken[0] / "session.json").read_text())
    assert facts["state"] == "incomplete"
    assert facts["finished"]


def test_a_folder_that_cannot_be_written_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "results").write_text("a file")
    with pytest.raises(AssertionError, match=r"The results folder .* cannot be written"):
        folders(tmp_path / "results")
