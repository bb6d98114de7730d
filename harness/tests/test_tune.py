# SPDX-License-Identifier: BSD-3-Clause
"""./bench tune: its space, the blocks of a race, what is read back, and calls that cannot be."""

from __future__ import annotations

import contextlib
import importlib
import json
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base import process, settings_file, variants
from harness.base.errors import Failure, UsageError
from harness.cli import main
from harness.commands.tune import all_measured, rounds_of_block
from harness.job import program as programs_of_others
from harness.job import read_back, records
from harness.job.launch import Attempt, Outcome, context
from harness.job.plan import Plan
from harness.job.program import Program
from harness.job.race import DEFAULT, Block, Parameter, Race, last_block, race_schedule
from harness.job.read_back import Probe
from harness.job.runner import CalibrationError, Runner
from harness.sessions import run as runs
from harness.sessions import space, tuning
from harness.sessions.facts import Facts
from harness.sessions.request import Request, from_facts
from harness.sessions.session import Session
from harness.setup import environment
from harness.sites.systems import BUILTIN, System
from reframe_checks.catalogue import by_names

SPACE = [Parameter("burst", ["default", "1"], False), Parameter("UCX_TLS", ["default", "tcp"], True)]
POINTS = [{"pattern": "both", "size_bytes": 1024, "comp_over_comm": 1.0}]
RACE = Race(
    variant="adaptive", objective="efficiency", bounds={"inflation": 1.05}, minutes=5.0, search="tpe", seats=2,
    settle=3, confirm=12, space=SPACE, points=POINTS, untuned=[{**POINTS[0], "size_bytes": 2048}], reference=True,
)  # fmt: skip
BOTH = {"burst": "1", "UCX_TLS": "tcp"}


def test_every_round_has_every_arm_of_its_block_once_in_an_order_drawn_anew() -> None:
    race = tuning.with_block(RACE, [], [BOTH, {"burst": "1"}])
    race = tuning.with_block(race, ["s001"], [{"UCX_TLS": "tcp"}])
    schedule = race_schedule("x", race, 1)
    rounds = [[one.arm.name for one in schedule if one.arm and one.repetition == turn] for turn in range(6)]
    assert all(sorted(names) == ["default", "reference", "s001", "s002"] for names in rounds[:3])
    assert all(sorted(names) == ["default", "reference", "s001", "s003"] for names in rounds[3:])
    assert len({tuple(names) for names in rounds[:3]}) > 1
    assert len({one.identity for one in schedule}) == len(schedule)
    assert last_block("x", race, 1) == schedule[12:]
    assert race_schedule("x", race, 1)[:12] == race_schedule("x", replace(race, blocks=race.blocks[:1]), 1)


def test_a_setting_is_a_variant_and_variables_and_the_default_is_neither() -> None:
    race = tuning.with_block(RACE, [], [BOTH])
    arms = {arm.name: arm for arm in race.arms}
    assert (arms["s001"].variant, arms["s001"].environment) == ("adaptive:burst=1", {"UCX_TLS": "tcp"})
    assert (arms[DEFAULT].variant, arms[DEFAULT].environment) == ("adaptive", {})
    own = tuning.with_block(replace(RACE, variant="timer:burst=7:timer_us=900"), [], [BOTH])
    assert {arm.name: arm.variant for arm in own.arms}["s001"] == "timer:burst=1:timer_us=900"
    assert (arms["reference"].variant, arms["reference"].points) == ("bare", POINTS)


def test_the_confirmation_measures_each_factor_alone_at_points_that_were_not_tuned() -> None:
    race = tuning.with_confirmation(tuning.with_block(RACE, [], [BOTH]), "s001")
    assert tuning.confirming(race) and race.blocks[-1].rounds == 12
    arms = {arm.name: (arm.variant, arm.environment) for arm in race.arms if arm.name.startswith("confirm.")}
    assert arms == {
        "confirm.default": ("adaptive", {}),
        "confirm.tuned": ("adaptive:burst=1", {"UCX_TLS": "tcp"}),
        "confirm.reference": ("bare", {}),
        "confirm.tuned-mpi": ("bare", {"UCX_TLS": "tcp"}),
        "confirm.tuned-engine": ("adaptive:burst=1", {}),
    }
    assert all(arm.points == RACE.untuned for arm in race.arms if arm.name.startswith("confirm."))
    alone = tuning.with_confirmation(tuning.with_block(RACE, [], [{"burst": "1"}]), "s001")
    assert [name.removeprefix("confirm.") for name in alone.blocks[-1].arms] == ["default", "tuned", "reference"]


def test_a_confirmation_goes_on_with_the_arms_that_decide_it_while_there_is_time() -> None:
    race = tuning.with_confirmation(tuning.with_block(RACE, [], [BOTH]), "s001")
    more = tuning.with_more_rounds(race)
    assert tuning.confirming(more) and more.blocks[-1].rounds == 12
    assert more.blocks[-1].arms == ["confirm.default", "confirm.tuned", "confirm.reference"]
    assert tuning.more_rounds_fit(race, 1.0) and not tuning.more_rounds_fit(replace(race, spent_s=280.0), 1.0)
    alone = tuning.fits(replace(RACE, looks=1), 1.0, 60) and not tuning.fits(RACE, 1.0, 60)
    assert alone, "a race leaves time for all looks"


def test_a_race_survives_its_session() -> None:
    race = tuning.with_block(replace(RACE, probes=[Probe("UCX_TLS", "tcp", "ucx", "UCX_TLS")]), [], [BOTH])
    request = Request(by_names(["overlap-ratio"]), BUILTIN["vcluster"], ["mpich"], ["adaptive"], race=race)
    facts = Facts("s", "now", "complete", **request.facts())
    assert from_facts(facts).race == race
    (job,) = request.jobs()
    assert len(job.launches) == 9 and request.programs() == {"mpich": ["microbench", "mpi_variables"]}


def test_sizes_that_were_not_tuned_lie_between_those_that_were() -> None:
    (study,) = by_names(["overlap-ratio"])
    found = tuning.points(study, "quick", {})
    tuned = {point["size_bytes"] for point in found.tuned}
    assert tuned == {262144, 2097152, 16777216}
    assert {point["size_bytes"] for point in found.untuned} == {741448, 5931640}
    assert len(found.tuned) == 3, "one pattern, comp = comm"
    every = study.scale("quick", found.settings).points()
    assert all(point in every for point in [*found.tuned, *found.untuned]), "one calibration for all"
    assert tuning.between([1000]) == [496, 2000] and tuning.between([1001]) == [500, 2002]
    assert tuning.between([8, 16]) == [32] and tuning.between([8]) == [16] and tuning.between([8, 1024]) == [88]
    assert tuning.between([1]) == [2] and tuning.between([1, 2]) == [4] and tuning.between([1, 8]) == [3]
    assert tuning.between([0]) == [8] and tuning.between([9, 16]) == [12]
    with pytest.raises(UsageError, match="sweeps settings of the engine"):
        tuning.points(by_names(["timer-period"])[0], "quick", {})


@pytest.fixture
def programs(tmp_path: Path) -> Path:
    """A progress-info that knows two settings."""
    info = {
        "settings": [
            {"key": "burst", "default": "3", "range": [1, 1000]},
            {"key": "wait", "default": "epoll"},
            {"key": "timer_us", "default": "2000", "range": [10, 1000000]},
        ],
        "presets": {"timer": {"settings": {"timer_us": 500}}},
    }
    tool = tmp_path / "progress-info"
    tool.write_text(f"#!{sys.executable}\nprint('''{json.dumps(info)}''')\n")
    tool.chmod(0o755)
    return tmp_path


def test_a_space_of_ones_own(programs: Path, tmp_path: Path) -> None:
    file = tmp_path / "space.yaml"
    file.write_text("engine: {burst: [1, 3, 20], timer_us: [500, 700]}\nmpi: {UCX_TLS: [tcp], OMPI_MCA_a_b: [1]}\n")
    found = space.of(str(file), "mpich", programs, "timer")
    assert found.parameters == [
        Parameter("burst", ["default", "1", "20"], False),
        Parameter("timer_us", ["default", "700"], False),
        Parameter("UCX_TLS", ["default", "tcp"], True),
        Parameter("OMPI_MCA_a_b", ["default", "1"], True),
    ]
    assert found.probes == [Probe("UCX_TLS", "tcp", "ucx", "UCX_TLS"), Probe("OMPI_MCA_a_b", "1", "mpi_t", "a_b")]
    of_table = space.of("mpi", "openmpi", programs, "adaptive")
    assert all(one.of_mpi for one in of_table.parameters) and len(of_table.probes) == len(of_table.parameters)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("engine: {colour: [1]}", "no setting 'colour'. It has: burst, wait"),
        ("engine: {burst: [2000]}", "burst is a whole number from 1 to 1000, not 2000"),
        ("engine: {wait: ['a,b']}", "wait = a,b cannot be part of a variant, which ends at a comma or colon"),
        ("engine: {wait: ['a:b']}", "wait = a:b cannot be part of a variant"),
        ("engine: {wait: ['a#b']}", "wait = 'a#b' cannot stand in a settings file"),
        ("mpi: {UCX_TLS: ['tcp #1']}", "UCX_TLS = 'tcp #1' cannot stand in a settings file"),
        ("mpi: {UCX_TLS: ['']}", "UCX_TLS = '' cannot stand in a settings file: a value is one line, not empty"),
        ("engines: {}", "there is no field engines"),
        ("engine: [", "cannot be read as YAML"),
        ("", "nothing is left to tune"),
    ],
)
def test_spaces_that_are_none(programs: Path, tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "space.yaml"
    file.write_text(text)
    with pytest.raises(UsageError, match=said):
        space.of(str(file), "mpich", programs, "adaptive")
    with pytest.raises(UsageError, match="engine,mpi or a file is wanted"):
        space.of("engine,disk", "mpich", programs, "adaptive")


OUTPUTS = {
    ("mpi_t", "btl_tcp_links = 4"): (True, "is 4 with it and 1 without"),
    ("mpi_t", "btl_tcp_links = 1"): (False, "is 1 with it and without"),
    ("mpi_t", "btl_tcp_links = 2"): (False, "is 2, and 4 was asked for"),
    ("mpi_t", "btl_tcp_links = four"): (True, "is four with it and 1 without"),
    ("mpi_t", "btl_tcp_links: unknown"): (False, "has no control variable"),
    ("ucx", "UCX  INFO  UCX_* env variables: UCX_TLS=tcp X=4"): (True, "among what it uses"),
    ("ucx", "UCX  WARN  unused environment variable: X (maybe: Y?)"): (False, "unused"),
    ("ucx", "nothing"): (False, "does not name it"),
    ("ofi", "X = 4"): (True, "libfabric: X=4"),
    ("ofi", "X: not set"): (False, "no provider"),
    ("ofi", "X: no libfabric\nlibfabric:1::tcp:core:fi_param_get_():1<info> read int var btl_tcp_links=4"): (True, "="),
    ("ofi", "libfabric:1::tcp:core:fi_param_get_():1<info> variable btl_tcp_links=<not set>"): (False, "no provider"),
    ("ofi", "read nothing"): (False, "no provider"),
    ("intel", "[0] MPI startup(): X=4"): (True, "X=4"),
    ("cray", "PE 0:   X                = 4"): (True, "X=4"),
    ("mvapich2", "    X              : 4"): (True, "X=4"),
    ("psm2", "X   a meaning => 4 (default was 2)"): (True, "X=4"),
    ("psm2", "X  Recv thread flags (0 disables thread)   => 0x4 (default was 0x1)"): (True, "X=0x4"),
    ("psm2", "X  Recv thread flags (0 disables thread)   => 0x1"): (False, "X=0x1"),
    ("psm2", ""): (False, "does not print it"),
}


@pytest.mark.parametrize("case", OUTPUTS)
def test_what_an_mpi_prints_shows_whether_it_took_a_variable(case: tuple[str, str], tmp_path: Path) -> None:
    how, output = case
    probe = Probe("X", "4", how, "btl_tcp_links")
    read_back.log_of(tmp_path, "m", None).write_text("btl_tcp_links = 1\nread-back: ended with status 0\n")
    read_back.log_of(tmp_path, "m", probe).write_text(f"{output}\nread-back: ended with status 0\n")
    taken, why = read_back.told(probe, tmp_path, "m")
    assert taken is OUTPUTS[case][0] and OUTPUTS[case][1] in why


def asked(logs: Path, **answers: str) -> Path:
    """Logs in which MPI_T says of a variable x what it is: as it is 1, and with X=value as `answers` have it."""
    logs.mkdir(parents=True, exist_ok=True)
    read_back.log_of(logs, "mpich", None).write_text(f"x = {answers.pop('alone', '1')}\n{GOOD_END}")
    for value, said in answers.items():
        probe = Probe("X", value.strip("_"), "mpi_t", "x")
        read_back.log_of(logs, "mpich", probe).write_text(f"x = {said}\n{GOOD_END}")
    return logs


GOOD_END = "read-back: ended with status 0\n"


def test_what_the_mpi_has_anyway_shows_nothing_and_the_next_value_is_asked(tmp_path: Path) -> None:
    one = Probe("X", "1", "mpi_t", "x", ["4"])
    logs = asked(tmp_path / "logs", _1="1", _4="4")
    assert read_back.told(one, logs, "mpich") == (True, "MPI_T: x is 4 with it and 1 without")
    alone = replace(one, others=[])
    assert read_back.told(alone, logs, "mpich") == (False, "MPI_T: x is 1 with it and without")
    assert read_back.doubts([alone], logs, "mpich") == [], "it runs with the value that somebody chose"
    hangs = read_back.log_of(logs, "mpich", alone)
    hangs.write_text("x = 1\nread-back: did not end within 5 s\n")
    assert "does not run with X=1: it did not end" in read_back.doubts([alone], logs, "mpich")[0]


def test_the_winners_own_values_are_asked_and_one_that_is_not_taken_is_not_confirmed(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    axis = Parameter("UCX_TLS", ["default", "tcp", "self"], True)
    race = replace(RACE, space=[axis], points=[], untuned=[], probes=[Probe("UCX_TLS", "tcp", "ucx", "UCX_TLS")])
    race = tuning.with_confirmation(tuning.with_probes(
        tuning.with_block(race, [], [{"UCX_TLS": "self"}]), "s001"), "s001")  # fmt: skip
    logs = tmp_path / "logs"
    logs.mkdir()
    said = {None: "", "tcp": "UCX_* env variables: UCX_TLS=tcp\n", "self": "unused environment variable: UCX_TLS\n"}
    for value, text in said.items():
        probe = Probe("UCX_TLS", value, "ucx", "UCX_TLS") if value else None
        read_back.log_of(logs, "mpich", probe).write_text(text + GOOD_END)
    taken = tuning.taken(race, Session(tmp_path, Facts("s", "now", "running")), "mpich")
    assert taken == {"UCX_TLS": (False, "UCX calls it unused")}, "what is written is of the value that is written"

    points = [{"pattern": "both", "size_bytes": 1024, "work_units": 5}]
    runner = Runner(replace(plan, points=points, launches=last_block("x", race, 1), probes=race.probes), tmp_path)
    found = ran_to_the_end(runner, monkeypatch)
    assert found["confirm.tuned", "failed"] == 1 and not found["confirm.tuned", "ok"]
    (why,) = {one.reason for one in runner.outcomes if one.status == "failed"}
    assert why == "the MPI is not shown to take UCX_TLS=self: UCX calls it unused"


def test_a_probe_runs_with_its_variable_and_one_that_breaks_the_mpi_is_named(plan: Plan, tmp_path: Path) -> None:
    tool = tmp_path / "bin" / read_back.PROGRAM
    tool.parent.mkdir()
    tool.write_text('#!/bin/sh\n[ "$BAD" = 1 ] && exit 3\nfor name; do echo "$name = ${X:-1}"; done\n')
    tool.chmod(0o755)
    probes = [Probe("X", "4", "mpi_t", "x_of_mpi"), Probe("BAD", "1", "mpi_t", "bad"), Probe("Y", "1", "", "Y")]
    here = replace(plan.platform, launch_command=[], progress_run=str(tool.parent / "progress-run"), reap=["true"])
    runner = Runner(replace(plan, platform=here, probes=probes, launches=[]), tmp_path / "session")
    assert runner.run() == 0
    logs = tmp_path / "session" / "logs"
    assert read_back.told(probes[0], logs, "mpich") == (True, "MPI_T: x_of_mpi is 4 with it and 1 without")
    assert read_back.told(probes[1], logs, "mpich") == (
        False, "the MPI does not run with BAD=1: it ended with status 3"
    )  # fmt: skip
    assert not read_back.told(probes[2], logs, "mpich")[0]
    session = Session(tmp_path / "session", Facts("s", "now", "running"))
    axes = [*SPACE, Parameter("X", ["default", "4"], True)]
    race = replace(RACE, space=axes, probes=[*probes, Probe("UCX_TLS", "tcp", "", "UCX_TLS")])
    left = tuning.without_untaken(race, tuning.taken(race, session, "mpich"))
    assert [axis.name for axis in left.space] == ["burst", "X"]
    with pytest.raises(Failure, match="No variable is shown to have taken effect"):
        only = replace(race, space=[SPACE[1]])
        tuning.without_untaken(only, tuning.taken(only, session, "mpich"))


def test_what_is_found_is_written_as_two_files_that_run_takes(tmp_path: Path) -> None:
    session = Session(tmp_path, Facts("s", "now", "complete"))
    notes = {"UCX_TLS": "UCX prints it", "burst": "the engine reports it"}
    conf, env = tuning.write_result(RACE, session, BOTH, "It is better.", notes)
    assert variants.check(f"adaptive:@{conf}") == "adaptive:burst=1"
    assert settings_file.of_mpi(env) == {"UCX_TLS": "tcp"}
    assert "# the engine reports it\nburst = 1" in conf.read_text()
    assert "# UCX prints it\nUCX_TLS = tcp" in env.read_text() and "# It is better." in conf.read_text()
    conf, env = tuning.write_result(RACE, session, {}, "Nothing beats the default.", {})
    assert variants.check(f"adaptive:@{conf}") == "adaptive" and settings_file.of_mpi(env) == {}
    for without in variants.WITHOUT_ENGINE:
        conf, _ = tuning.write_result(replace(RACE, variant=without, space=[SPACE[1]]), session, {}, "Nothing.", {})
        assert settings_file.of_engine(conf) == ("", []), "the engine has no preset of this name"


def test_a_block_begins_only_where_the_confirmation_still_fits() -> None:
    assert tuning.fits(RACE, 1.0, 4)
    assert not tuning.fits(replace(RACE, spent_s=250.0), 1.0, 4)
    asked = Request(by_names(["overlap-ratio"]), BUILTIN["local"], ["mpich"], [])
    begun = tuning.begin(asked, replace(RACE, probes=[Probe("X", "1", "", "X")])).race
    assert begun and begun.blocks == [Block([], 0)], "the variables are read back first"


def test_a_block_of_many_settings_has_more_rounds() -> None:
    assert [rounds_of_block(seats) for seats in (1, 6, 7, 40)] == [6, 6, 7, 9]


def test_minutes_that_are_too_few_are_said_with_what_would_do() -> None:
    assert not tuning.too_short(RACE, 1.0)
    why = tuning.too_short(RACE, 8.0)
    assert why.startswith("5 minutes are too few for a block of 4 settings and the confirmation, which take about 9.9")
    bare = replace(RACE, variant="bare", space=[SPACE[1]], reference=False)
    assert tuning.confirmation_s(bare, 1.0) == tuning.BLOCK_OVERHEAD_S + 2 * bare.confirm, "winner and default"
    both = tuning.confirmation_s(RACE, 1.0, 2) - tuning.confirmation_s(RACE, 1.0)
    assert both == tuning.BLOCK_OVERHEAD_S + 3 * RACE.confirm, "looked at again, without the factors alone"


def test_a_program_of_ones_own_is_tried_before_the_race_and_minutes_that_are_too_few_are_refused(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (own,) = by_names(["own-program"])
    own = replace(own, program=Program(["true"], str(tmp_path)))
    asked = Request([own], BUILTIN["local"], ["mpich"], [])
    request = tuning.begin(asked, replace(RACE, points=[{}], untuned=[{}], reference=False))
    assert request.race and request.race.blocks == [Block([], 0)]
    session = Session(tmp_path, Facts("s", "now", "running", **request.facts()))
    assert tuning.trial_s(request, session) == 0

    monkeypatch.setattr(process, "run", lambda *_: process.Exit(0, 40.0, ""))
    monkeypatch.setattr(programs_of_others, "another_mpi", lambda *_: "")
    here = replace(plan.platform, system="local:loopback")
    only = replace(plan, study="own-program", platform=here, program=own.program, points=[{}], launches=[])
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "own-program.local.mpich.trial.log").touch()
    assert Runner(only, tmp_path).run() == 0
    assert tuning.trial_s(request, session) == 40.0
    monkeypatch.setattr(tuning, "run_block", lambda request, _: request)
    with pytest.raises(UsageError, match=r"5 minutes are too few .* give more --minutes, fewer --seats\.$"):
        importlib.import_module("harness.commands.tune")._race(request, session)


BOUNDED = ("--subject-to", "inflation<=1.05")
CALLS = {
    ("--search", "best"): "one of effects, tpe, random, grid",
    ("--subject-to", "inflation<1"): "METRIC<=NUMBER is wanted",
    ("--subject-to", "heat<=1"): "no such metric",
    ("--objective", "eficiency", *BOUNDED): "time or a metric of overlap. There are: efficiency,",
    ("--objective", "total_s", *BOUNDED): "--objective total_s: beside --subject-to it is time",
    ("--study", "latency-flavours", "--objective", "efficiency"): "does not measure",
    ("--mpi", "mpich,openmpi"): "a race is of one MPI",
    ("--study", "overlap-ratio", "--", "true"): "one of the two is tuned",
    ("--variant", "quick"): "no variant called 'quick'",
}


@pytest.mark.parametrize("call", CALLS)
def test_calls_that_cannot_be(call: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["tune", "--system", "local", *call]) == 2
    assert CALLS[call] in capsys.readouterr().err


@pytest.mark.parametrize(
    ("beside", "named"),
    [
        (["--minutes", "40"], "--minutes"),
        (["--minutes", "20"], "--minutes"),  # its default, which the race perhaps has not
        (["--seats", "2", "--system", "local"], "--system"),
        (["--set", "size_bytes=8"], "--set"),
        (["-n", "4"], "-n"),
        (["--", "true"], "the program"),
    ],
)
def test_what_stands_beside_resume_is_refused(
    beside: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["tune", "--resume", "nothing"]) == 2
    assert "no session 'nothing'" in capsys.readouterr().err
    assert main(["tune", "--resume", "nothing", *beside]) == 2
    assert f"--resume goes on with what its session was asked for: leave {named} out." in capsys.readouterr().err


def test_an_objective_that_the_study_does_not_record_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.dumps({"quantities": [{"name": "total_s", "unit": "s", "better": "lower", "leading": True}]})
    tool = tmp_path / "microbench"
    tool.write_text(f"#!/bin/sh\n[ \"$*\" = 'overlap --list-parameters' ] && echo '{told}'\n")
    tool.chmod(0o755)
    extras: list[str] = []
    monkeypatch.setattr(environment, "ensure_extra", extras.append)
    monkeypatch.setattr(runs, "set_up", lambda _: None)
    monkeypatch.setattr(System, "programs_of", lambda _, __: tmp_path)
    assert main(["tune", "--system", "local", "--objective", "eficiency"]) == 2
    assert "no such quantity to compare by. There are: time, total_s, efficiency" in capsys.readouterr().err
    assert main(["tune", "--system", "local", "--objective", "total_s"]) == 2
    assert "does not tell its settings" in capsys.readouterr().err, "the objective is taken; progress-info comes next"
    assert extras == [], "nobody but Optuna's search needs Optuna"
    assert main(["tune", "--system", "local", "--objective", "total_s", "--search", "tpe"]) == 2
    assert extras == ["tune"]


def test_what_a_study_records_is_known_before_it_runs(tmp_path: Path) -> None:
    (own,) = by_names(["own-program"])
    program = Program(["true"], "", time_from="time: (.*)")
    assert tuning.recorded(replace(own, program=program), tmp_path) == program.quantities()
    assert tuning.recorded(by_names(["overlap-ratio"])[0], tmp_path) is None, "its program does not run here"


def ran_to_the_end(runner: Runner, monkeypatch: pytest.MonkeyPatch, fails: str = "") -> Counter[tuple[str, str]]:
    """How often each arm ended how, where launches of `fails` fail."""

    def run(attempt: Attempt) -> Outcome:
        bad = attempt.launch.arm is not None and attempt.launch.arm.name == fails
        return Outcome(attempt.launch, "failed" if bad else "ok", "it crashed" if bad else "", 0.0)

    monkeypatch.setattr(Attempt, "run", run)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    runner.run()
    return Counter((one.launch.arm.name, one.status) for one in runner.outcomes if one.launch.arm)


@pytest.mark.parametrize(
    ("points", "end", "again"),
    [("wrong data", "wrong data", False), ("", "exit status 139", False), ("not run: a dead node", "", True)],
)
def test_a_resumed_race_gives_no_setting_a_second_try(
    points: str, end: str, again: bool, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = tuning.with_block(replace(RACE, points=[]), [], [{"burst": "1"}])
    schedule = race_schedule("x", race, 1)
    plan = replace(plan, points=[{"pattern": "both", "size_bytes": 1024, "work_units": 5}], launches=schedule)
    runner = Runner(plan, tmp_path)
    for name in ("s001", DEFAULT):
        first = next(one for one in schedule if one.arm and one.arm.name == name)
        left = records.not_run(context(plan, first), plan.points, "failed", points or "x", "now")
        if not points:
            left.points = [{"point": point, "rank": rank, "status": "ok", "samples": {}}
                           for point in plan.points for rank in (0, 1)]  # fmt: skip
        left.end = {"status": "failed", "reason": end or points, "ranks": [], "elapsed_s": 0.0}
        records.write(records.next_attempt(tmp_path / "records", first.identity), left)
    found = ran_to_the_end(runner, monkeypatch)
    assert found["s001", "ok"] == (3 if again else 0) and found["s001", "skipped"] == (0 if again else 2)
    assert found[DEFAULT, "ok"] == (3 if points else 2), "nobody is judged by its launches"
    assert found["reference", "ok"] == 3


@pytest.mark.parametrize("fails", ["confirm.default", "confirm.tuned", "confirm.tuned-mpi", "confirm.reference"])
def test_a_confirmation_is_over_where_the_winner_or_the_default_failed(
    fails: str, plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    race = tuning.with_confirmation(tuning.with_block(replace(RACE, untuned=[]), [], [BOTH]), "s001")
    points = [{"pattern": "both", "size_bytes": 1024, "work_units": 5}]
    runner = Runner(replace(plan, points=points, launches=last_block("x", race, 1)), tmp_path)
    found = ran_to_the_end(runner, monkeypatch, fails)
    over = fails in ("confirm.default", "confirm.tuned")
    assert found[fails, "failed"] == (12 if fails == "confirm.reference" else 1)
    others = [name for name in race.blocks[-1].arms if name != fails]
    assert all((found[name, "ok"] <= 1) if over else (found[name, "ok"] == 12) for name in others)


def test_a_race_stops_where_its_job_did_not_come_to_all_launches(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Runner) -> None:
        raise CalibrationError("the calibration did not end in time")

    monkeypatch.setattr(Runner, "_calibration", broken)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    race = tuning.with_block(replace(RACE, points=[]), [], [BOTH])
    assert Runner(replace(plan, launches=race_schedule("x", race, 1)), tmp_path).run() == 1
    lines = [line for path in (tmp_path / "records").iterdir() for line in records.read(path).points]
    assert {line["reason"] for line in lines} == {"not run: the calibration did not end in time"}

    session = Session(tmp_path, Facts("s", "now", "running", **facts_of(race)))
    session.save()
    with pytest.raises(Failure, match=r"^9 launches were not run \(the calibration did not end in time\)"):
        all_measured(session)


@pytest.mark.parametrize(("ends", "state"), [(None, "running"), (KeyboardInterrupt, "interrupted")])
def test_between_its_blocks_a_race_is_running(
    ends: type[BaseException] | None, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(_: Request, session: Session) -> bool:
        session.finish("interrupted" if ends else "complete")
        if ends:
            raise ends
        return True

    monkeypatch.setattr(runs, "run", run)
    race = tuning.with_block(RACE, [], [BOTH])
    session = Session(tmp_path, Facts("s", "now", "running", **facts_of(race)))
    with pytest.raises(ends) if ends else contextlib.nullcontext():
        tuning.run_block(from_facts(session.facts), session)
    assert json.loads((tmp_path / "session.json").read_text())["state"] == state


@pytest.mark.parametrize(
    ("ends", "state"), [(None, "complete"), (KeyboardInterrupt(), "interrupted"), (Failure("no."), "incomplete")]
)
def test_how_a_race_ends_is_how_its_session_ends(
    ends: BaseException | None, state: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = importlib.import_module("harness.commands.tune")

    def race(request: Request, _: Session) -> Request:
        if ends:
            raise ends
        return request

    monkeypatch.setattr(command, "_race", race)
    monkeypatch.setattr(command, "_tell", lambda *_: None)
    session = Session(tmp_path, Facts("s", "now", "running", **facts_of(RACE)))
    with pytest.raises(type(ends)) if ends else contextlib.nullcontext():
        command._run(from_facts(session.facts), session)
    assert json.loads((tmp_path / "session.json").read_text())["state"] == state


def test_a_race_goes_on_by_its_own_command_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    session = Session(tmp_path, Facts("s", "now", "interrupted", identity={"mpich": "x"}, **facts_of(RACE)))
    session.save()
    assert main(["run", "--resume", str(tmp_path)]) == 2
    assert f"is a race of settings: ./bench tune --resume {tmp_path.name} goes on with it." in capsys.readouterr().err
    with pytest.raises(UsageError, match=r"Start a new one\.$"):
        runs.resumed_session(from_facts(session.facts), session, force=False)


def facts_of(race: Race) -> dict[str, Any]:
    return Request(by_names(["overlap-ratio"]), BUILTIN["local"], ["mpich"], ["adaptive"], race=race).facts()


def test_a_setting_that_failed_is_not_launched_again_in_its_block(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that hangs would take the whole time: the race goes on without it, and the default is launched again."""

    def run(attempt: Attempt) -> Outcome:
        fails = attempt.launch.arm is not None and attempt.launch.arm.name in (DEFAULT, "s001")
        return Outcome(attempt.launch, "timeout" if fails else "ok", "it hangs" if fails else "", 0.0)

    monkeypatch.setattr(Attempt, "run", run)
    monkeypatch.setattr(Runner, "_describe_nodes", lambda _: None)
    race = tuning.with_block(replace(RACE, points=[]), [], [{"burst": "1"}, {"burst": "1", "UCX_TLS": "tcp"}])
    points = [{"pattern": "both", "size_bytes": 1024, "work_units": 5}]
    runner = Runner(replace(plan, points=points, launches=race_schedule("x", race, 1)), tmp_path)
    assert runner.run() == 1
    ran = Counter((one.launch.arm.name, one.status) for one in runner.outcomes if one.launch.arm)
    assert ran == {
        (DEFAULT, "timeout"): 3, ("reference", "ok"): 3, ("s002", "ok"): 3, ("s001", "timeout"): 1,
        ("s001", "skipped"): 2,
    }  # fmt: skip
    reasons = {one.reason for one in runner.outcomes if one.status == "skipped"}
    assert reasons == {"not needed: s001 failed before"}
