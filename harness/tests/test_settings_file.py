# SPDX-License-Identifier: BSD-3-Clause
"""Files of settings: the engine's as part of a variant, an MPI's for every launch of a run."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import settings_file, variants
from harness.base.errors import UsageError
from harness.job import records
from harness.job.launch import context
from harness.job.plan import Arm, Plan
from harness.job.runner import Runner
from harness.job.session import Facts
from harness.sessions.request import Request, choose_variants, from_facts
from harness.sessions.run import reframe_command
from harness.sites.systems import BUILTIN
from harness.tests.sessions import refused
from reframe_checks.catalogue import by_names

OF_MPI = {"MPIR_CVAR_CH4_NUM_VCIS": "2", "UCX_RNDV_THRESH": "64k"}


def written(folder: Path, text: str) -> Path:
    file = folder / "tuned.conf"
    file.write_text(text)
    return file


def test_a_variant_takes_settings_of_a_file_and_more(tmp_path: Path) -> None:
    """What is kept are the settings: the file may be another one when the session is resumed."""
    file = written(tmp_path, "# tuned\nvariant = timer\ntimer_us = 500  # short\n\nslice_us=50\n")
    assert choose_variants(f"bare,timer:@{file}:burst=5") == ["bare", "timer:timer_us=500:slice_us=50:burst=5"]
    file.write_text("slice_us = 50\n")
    assert variants.check(f"adaptive:@{file}") == "adaptive:slice_us=50"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("slice_us = 50\nUCX_RNDV_THRESH = 64k\n", r"line 2: UCX_RNDV_THRESH is no setting.*for --mpi-env"),
        ("slice_us\n", "line 1: KEY = VALUE"),
        ("slice_us = 1\nslice_us = 2\n", "line 2: slice_us was set in an earlier line"),
        ("points = idle,timer\n", "ends at a comma"),
        ("variant = timer\n", "is of variant timer, not of adaptive"),
    ],
)
def test_files_that_are_none_of_the_engines_settings(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(UsageError, match=said):
        variants.check(f"adaptive:@{written(tmp_path, text)}")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("PROGRESS_ENGINE_BURST = 5\n", "line 1: PROGRESS_ENGINE_BURST is the engine's"),
        ("variant = adaptive\n", "line 1: variant is the engine's"),
        ("LD_PRELOAD = libevil.so\n", "LD_PRELOAD is no variable of an MPI"),
        ("UCX-TLS = tcp\n", "UCX-TLS is no variable"),
    ],
)
def test_files_that_are_none_of_an_mpis_variables(tmp_path: Path, text: str, said: str) -> None:
    for file, words in ((written(tmp_path, text), said), (tmp_path / "absent", "cannot be read")):
        assert words in refused("run", "overlap-ratio", "--dry-run", "--mpi-env", str(file))


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    file = written(tmp_path, settings_file.text(OF_MPI, "found by\n./bench tune", {"UCX_RNDV_THRESH": "why\nit is"}))
    assert settings_file.of_mpi(file) == OF_MPI
    assert "# why\n# it is\nUCX_RNDV_THRESH = 64k\n" in file.read_text()
    of_an_arm = settings_file.read(written(tmp_path, "variant = timer\nslice_us = 5\nUCX_TLS = tcp,self\n"))
    assert (of_an_arm.preset, of_an_arm.engine, of_an_arm.environment) == (
        "timer", ["slice_us=5"], {"UCX_TLS": "tcp,self"},
    )  # fmt: skip


def test_every_launch_runs_with_the_variables_and_says_so(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On the ranks: what the launcher does with its own environment does not matter. Bare is no exception."""
    monkeypatch.setattr(Runner, "_calibration", lambda _: None)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    forgets = ["env", "-i", f"PATH={os.environ['PATH']}"]  # a launcher that hands nothing on
    here = replace(plan.platform, launch_command=forgets, reap=[sys.executable, "-c", ""])
    told = tmp_path / "told"
    program = [sys.executable, "-c", f"import os; open({str(told)!r}, 'a').write(os.environ['UCX_RNDV_THRESH'])"]
    bare = [launch for launch in plan.launches if launch.variant == "bare"]
    own = replace(plan, platform=here, workload=program, mpi_environment=OF_MPI, launches=bare)
    Runner(own, tmp_path / "session").run()
    assert told.read_text() == "64k" * len(bare)
    for launch in bare:
        (record,) = records.attempts(tmp_path / "session" / "records", launch.identity)
        header = records.read(record).header
        assert header and header["context"]["mpi_environment"] == OF_MPI
    assert "mpi_environment" not in context(plan, bare[0])


def test_an_arm_has_variables_of_its_own_beside_the_runs(plan: Plan) -> None:
    launch = replace(plan.launches[0], arm=Arm("s1", "bare", environment={"UCX_RNDV_THRESH": "8k", "A": "1"}))
    own = replace(plan, mpi_environment=OF_MPI)
    assert own.variables_of(launch) == OF_MPI | {"UCX_RNDV_THRESH": "8k", "A": "1"}
    assert context(own, launch)["mpi_environment"] == own.variables_of(launch)


def test_a_run_with_variables_survives_its_session(tmp_path: Path) -> None:
    request = Request(by_names(["overlap-ratio"]), BUILTIN["vcluster"], ["mpich"], [], mpi_environment=OF_MPI)
    assert from_facts(Facts("s", "now", "complete", **request.facts())).mpi_environment == OF_MPI
    said = reframe_command(request, request.studies[0], ["mpich"], tmp_path)
    asked = [said[place + 1] for place, word in enumerate(said) if word == "-S"]
    assert asked == [f"session_dir={tmp_path}"], "whose session says the rest"
