# SPDX-License-Identifier: BSD-3-Clause
"""Settings of the engine as axes and as files, an MPI's for every launch of a run; what a system must have for a
point, and which MPIs a study runs on."""

from __future__ import annotations

import json
import os
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from harness.base import settings_file, variants
from harness.base.errors import UsageError
from harness.base.variants import choose_variants
from harness.job import records
from harness.job.launch import context
from harness.job.plan import Launch, Plan, Side
from harness.job.runner import Runner
from harness.job.session import Facts
from harness.sessions.run import reframe_command
from harness.sites.systems import BUILTIN, Request, from_facts
from harness.tests.sessions import refused
from reframe_checks.catalogue import Need, Parameter, Scale, Study, by_names, studies, why_not

PERIODS = (1, 100)
SCALE = Scale(
    launches=2, grids=({"period_ms": PERIODS, "size_bytes": (8, 16)},), min_samples=1, max_samples=1, warmup=0,
    time_box_s=1, variants=("bare", "idle"), point_s=0.5, mpis=("openmpi",),
)  # fmt: skip
STUDY = Study(
    name="latency-idle-period", title="t", group="pioman", source="s", workload=("microbench", "latency"),
    parameters={
        "period_ms": Parameter("period", int, engine="idle_us", factor=1000),
        "size_bytes": Parameter("size", int),
    },
    scales={"quick": SCALE},
)  # fmt: skip


def request(**changes: object) -> Request:
    return Request.of([STUDY], BUILTIN["vcluster"], ["mpich", "openmpi"], []).but(**changes)


def test_each_setting_of_the_engine_has_launches_of_its_own() -> None:
    (job,) = request(all_mpis=False).jobs()
    assert job.mpi == "openmpi", "the scale names it"
    cells = sorted((launch.variant, *launch.engine) for launch in job.launches)
    assert cells == sorted(2 * [("bare",), ("idle", "idle_us=1000"), ("idle", "idle_us=100000")])
    for launch in job.launches:
        points = job.points_of(launch)
        assert [point["size_bytes"] for point in points] == [8, 16]
        assert {point.get("period_ms") for point in points} == {launch.fixed.get("period_ms")}
    assert job.estimate_s() == pytest.approx(6 * (0.5 + 2 * 0.5))


def test_any_engine_setting_can_be_swept_from_the_command_line() -> None:
    job, _ = request(settings={"timer_us": "70,80", "period_ms": "3"}).jobs()
    engines = {tuple(launch.engine) for launch in job.launches if launch.variant == "idle"}
    assert {frozenset(engine) for engine in engines} == {
        frozenset(("idle_us=3000", f"timer_us={timer}")) for timer in (70, 80)
    }
    job, _ = request(settings={"burst": "1,5", "rest_us": "0"}).jobs()  # no preset sets these
    engines = {tuple(launch.engine) for launch in job.launches if launch.variant == "idle"}
    assert {one for engine in engines for one in engine} >= {"burst=1", "burst=5", "rest_us=0"}
    with pytest.raises(UsageError, match="no parameter 'colour'"):
        request(settings={"colour": "7"}).jobs()


def test_what_the_engine_does_not_take_is_refused_before_anything_is_launched() -> None:
    for name, values, said in (
        ("timer_us", "70,7", "--set timer_us=70,7: the engine's timer_us is 10 to 1000000, not 7."),
        ("period_ms", "2000", "--set period_ms=2000: the engine's idle_us is 0 to 1000000, not 2000000."),
    ):
        with pytest.raises(UsageError, match=re.escape(said)):
            request(settings={name: values}).jobs()
    (job, _) = Request.of([studies()["harm-tasks-contention"]], BUILTIN["local"], ["mpich", "openmpi"], []).jobs()
    assert not any(launch.engine for launch in job.launches), "an axis of its own has the name of a setting"


def test_what_cannot_be_measured_here_is_a_record_that_says_why(plan: Plan, tmp_path: Path) -> None:
    """Also where no point is left to launch: nothing is started then, and nothing is missing."""
    reasons = [(point, "too small") for point in plan.points]
    assert Runner(replace(plan, impossible=reasons), tmp_path).run() == 0
    for launch in plan.launches:
        (path,) = records.attempts(tmp_path / "records", launch.identity)
        lines = [json.loads(line) for line in path.read_text().splitlines()]
        assert [line["reason"] for line in lines[1:-1]] == ["too small", "too small"]
        assert lines[-1]["end"]["status"] == "skipped"
    before = len(list((tmp_path / "records").iterdir()))
    assert Runner(replace(plan, impossible=reasons), tmp_path).run() == 0
    assert len(list((tmp_path / "records").iterdir())) == before


def test_interference_runs_what_the_machine_offers_and_says_what_it_lacks() -> None:
    """A laptop of two cores: one hardware thread each, one socket."""
    needs = studies()["interference"].needs
    offered = {"detection": "futex", "placement": "same-core"}
    assert why_not(needs, offered, ["remote"], 2) == ""
    assert why_not(needs, offered, ["remote"], 1) == "2 cores a node are needed and there are 1"
    assert why_not(needs, offered, ["remote"], None) == "", "a system that does not say has enough"
    assert why_not((Need("remote"),), {}, [], 2) == "all ranks run on one node here"
    with pytest.raises(ValueError, match="no such feature"):
        Need("gpu")
    assert why_not(needs, {"detection": "mwait-c1", "placement": "smt-sibling"}, ["remote"], 2) == (
        "no core here has a second hardware thread; the CPU shows neither UMWAIT nor MWAITX here"
    )
    assert "one socket" in why_not(needs, {"detection": "spin", "placement": "other-socket"}, ["remote"], 2)
    assert "3 cores" in why_not(needs, {"detection": "spin", "placement": "same-l3"}, ["remote"], 2)


def test_variants_on_which_claims_are_decided_have_more_launches_unless_launches_are_set() -> None:
    study = studies()["overlap-ratio"]
    for settings, wanted in (({}, {"bare": 6, "thread": 1}), ({"launches": "2"}, {"bare": 2, "thread": 2})):
        scale = study.scale("quick", settings)
        assert Counter(launch.variant for launch in study.launches("s", scale, ["bare", "thread"], 1)) == wanted


def test_the_points_of_the_limit_have_axes_of_their_own() -> None:
    limited = replace(SCALE, variants=("bare", "idle", "limit"), limit={"wake_us": (500, 2000), "size_bytes": (8,)})
    (job,) = replace(request(all_mpis=False), studies=[replace(STUDY, scales={"quick": limited})]).jobs()
    wanted = [{"size_bytes": 8, "wake_us": 500}, {"size_bytes": 8, "wake_us": 2000}]
    for launch in job.launches:
        points = job.points_of(launch)
        assert (points == wanted) if launch.variant == "limit" else all("wake_us" not in point for point in points)
    assert sum(launch.variant == "limit" for launch in job.launches) == SCALE.launches


def test_the_intervals_of_the_limit_are_set_on_the_command_line() -> None:
    study = studies()["overlap-ratio"]
    assert study.scale("quick", {"wake_us": "700,900"}).limit["wake_us"] == (700, 900)
    with pytest.raises(UsageError, match="more than 0"):
        study.scale("quick", {"wake_us": "0,900"})


def test_a_study_whose_messages_only_mpi_moves_skips_the_limit(plan: Plan, tmp_path: Path) -> None:
    launch = Launch("s.000.limit", "limit", 0, 0)
    nothing = "true"  # in place of mpiexec, which would only describe the nodes
    platform = replace(plan.platform, launch_command=[nothing])
    Runner(replace(plan, launches=[launch], points=[{"size_bytes": 8}], platform=platform), tmp_path / "session").run()
    (record,) = (tmp_path / "session" / "records").glob("*.jsonl")
    assert {line["status"] for line in records.read(record).points} == {"skipped"}
    assert "moved by MPI alone" in records.read(record).points[0]["reason"]


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
    of_a_side = settings_file.read(written(tmp_path, "variant = timer\nslice_us = 5\nUCX_TLS = tcp,self\n"))
    assert (of_a_side.preset, of_a_side.engine, of_a_side.environment) == (
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


def test_a_side_has_variables_of_its_own_beside_the_runs(plan: Plan) -> None:
    launch = replace(plan.launches[0], side=Side("s1", "bare", environment={"UCX_RNDV_THRESH": "8k", "A": "1"}))
    own = replace(plan, mpi_environment=OF_MPI)
    assert own.variables_of(launch) == OF_MPI | {"UCX_RNDV_THRESH": "8k", "A": "1"}
    assert context(own, launch)["mpi_environment"] == own.variables_of(launch)


def test_a_run_with_variables_survives_its_session(tmp_path: Path) -> None:
    request = Request.of(by_names(["overlap-ratio"]), BUILTIN["vcluster"], ["mpich"], [], mpi_environment=OF_MPI)
    assert from_facts(Facts("s", "now", "complete", **request.facts())).asked.mpi_environment == OF_MPI
    said = reframe_command(request, request.studies[0], ["mpich"], tmp_path)
    asked = [said[place + 1] for place, word in enumerate(said) if word == "-S"]
    assert asked == [f"session_dir={tmp_path}"], "whose session says the rest"
