# SPDX-License-Identifier: BSD-3-Clause
"""./bench tune: its space, the blocks of a search, what it writes, and calls that cannot be."""

from __future__ import annotations

import importlib
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from analysis.tuning import confirmation, search_records
from harness.base import process, settings_file, variants
from harness.base.errors import UsageError
from harness.cli import main
from harness.commands.tune import rounds_of_block
from harness.job import program as programs_of_others
from harness.job import search as searches
from harness.job.plan import Block, Plan
from harness.job.program import Program
from harness.job.read_back import Probe
from harness.job.runner import Runner
from harness.job.search import DEFAULT, Parameter
from harness.job.session import Facts, Session
from harness.sessions import space, tuning
from harness.setup import environment
from harness.sites import systems
from harness.sites.systems import BUILTIN, Request, System, from_facts
from harness.tests.test_tune_search import BOTH, POINTS, SEARCH, SPACE, scheduled
from reframe_checks.catalogue import by_names


def test_every_round_has_every_side_of_its_block_once_in_an_order_drawn_anew() -> None:
    search = tuning.with_block(SEARCH, [], [BOTH, {"burst": "1"}])
    search = tuning.with_block(search, ["s001"], [{"UCX_TLS": "tcp"}])
    schedule = scheduled(search)
    rounds = [[one.side.name for one in schedule if one.side and one.repetition == turn] for turn in range(6)]
    assert all(sorted(names) == ["default", "reference", "s001", "s002"] for names in rounds[:3])
    assert all(sorted(names) == ["default", "reference", "s001", "s003"] for names in rounds[3:])
    assert len({tuple(names) for names in rounds[:3]}) > 1
    assert len({one.identity for one in schedule}) == len(schedule)
    assert search.in_rounds().last("x", 1) == schedule[12:]
    assert scheduled(search)[:12] == scheduled(replace(search, blocks=search.blocks[:1]))


def test_a_setting_is_a_variant_and_variables_and_the_default_is_neither() -> None:
    search = tuning.with_block(SEARCH, [], [BOTH])
    sides = {side.name: side for side in search.sides}
    assert (sides["s001"].variant, sides["s001"].environment) == ("adaptive:burst=1", {"UCX_TLS": "tcp"})
    assert (sides[DEFAULT].variant, sides[DEFAULT].environment) == ("adaptive", {})
    own = tuning.with_block(replace(SEARCH, variant="timer:burst=7:timer_us=900"), [], [BOTH])
    assert {side.name: side.variant for side in own.sides}["s001"] == "timer:burst=1:timer_us=900"
    assert (sides["reference"].variant, sides["reference"].points) == ("bare", POINTS)


def test_the_confirmation_measures_each_factor_alone_at_points_that_were_not_tuned() -> None:
    search = tuning.with_confirmation(tuning.with_block(SEARCH, [], [BOTH]), "s001")
    assert tuning.confirming(search) and search.blocks[-1].rounds == 12
    sides = {side.name: (side.variant, side.environment) for side in search.sides if side.name.startswith("confirm.")}
    assert sides == {
        "confirm.default": ("adaptive", {}),
        "confirm.tuned": ("adaptive:burst=1", {"UCX_TLS": "tcp"}),
        "confirm.reference": ("bare", {}),
        "confirm.tuned-mpi": ("bare", {"UCX_TLS": "tcp"}),
        "confirm.tuned-engine": ("adaptive:burst=1", {}),
    }
    assert all(side.points == SEARCH.untuned for side in search.sides if side.name.startswith("confirm."))
    alone = tuning.with_confirmation(tuning.with_block(SEARCH, [], [{"burst": "1"}]), "s001")
    assert [name.removeprefix("confirm.") for name in alone.blocks[-1].sides] == ["default", "tuned", "reference"]


def test_the_analysis_calls_every_side_what_its_launches_are_called() -> None:
    """The analysis may import nothing of the harness, and jobs nothing of the analysis."""
    assert (search_records.DEFAULT, search_records.REFERENCE, search_records.CONFIRM) == (
        searches.DEFAULT,
        searches.REFERENCE,
        searches.CONFIRM,
    )
    assert (search_records.OLD, search_records.TUNED) == searches.COMPARED
    assert search_records.HELD_AGAINST == searches.HELD_AGAINST
    assert search_records.UNSET == space.UNSET
    search = tuning.with_confirmation(tuning.with_block(SEARCH, [], [BOTH]), "s001")
    assert set(search.blocks[-1].sides) == set(confirmation.SIDES)


def test_a_confirmation_goes_on_with_the_sides_that_decide_it_while_there_is_time() -> None:
    search = tuning.with_confirmation(tuning.with_block(SEARCH, [], [BOTH]), "s001")
    more = tuning.with_more_rounds(search)
    assert tuning.confirming(more) and more.blocks[-1].rounds == 12
    assert more.blocks[-1].sides == ["confirm.default", "confirm.tuned", "confirm.reference"]
    assert tuning.more_rounds_fit(search, 1.0) and not tuning.more_rounds_fit(replace(search, spent_s=280.0), 1.0)
    alone = tuning.fits(replace(SEARCH, looks=1), 1.0, 60) and not tuning.fits(SEARCH, 1.0, 60)
    assert alone, "a search leaves time for all looks"


def test_a_confirmation_of_bare_has_the_reference_that_metrics_of_overlap_are_taken_against() -> None:
    """Without it no launch of the confirmation would have a value, and no winner were ever confirmed."""
    search = replace(SEARCH, variant="bare", space=[SPACE[1]])
    afresh = tuning.with_confirmation(tuning.with_block(search, [], [{"UCX_TLS": "tcp"}]), "s001")
    sides = [name.removeprefix("confirm.") for name in afresh.blocks[-1].sides]
    assert sides == ["default", "tuned", "reference"]
    assert tuning.confirmation_s(search, 1.0) == tuning.BLOCK_OVERHEAD_S + len(sides) * search.confirm


def test_where_no_overlap_is_measured_bare_is_no_side_of_the_rounds_that_are_added() -> None:
    search = replace(SEARCH, objective="time", bounds={}, reference=False)
    afresh = tuning.with_confirmation(tuning.with_block(search, [], [BOTH]), "s001")
    assert "confirm.reference" in afresh.blocks[-1].sides, "the engine is seen beside it"
    assert tuning.with_more_rounds(afresh).blocks[-1].sides == ["confirm.default", "confirm.tuned"]
    assert tuning.confirmation_s(search, 1.0) == tuning.BLOCK_OVERHEAD_S + len(afresh.blocks[-1].sides) * search.confirm
    both = tuning.confirmation_s(search, 1.0, 2) - tuning.confirmation_s(search, 1.0)
    assert both == tuning.BLOCK_OVERHEAD_S + 2 * search.confirm


def test_a_search_survives_its_session() -> None:
    search = tuning.with_block(replace(SEARCH, probes=[Probe("UCX_TLS", "tcp", "ucx", "UCX_TLS")]), [], [BOTH])
    request = Request.of(by_names(["overlap-ratio"]), BUILTIN["vcluster"], ["mpich"], ["adaptive"], search=search)
    facts = Facts("s", "now", "complete", **request.facts())
    assert from_facts(facts).asked.search == search
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
    assert tuning.between([1000]) == [1496, 2000] and tuning.between([1001]) == [1501, 2002]
    assert tuning.between([8, 16]) == [24, 32] and tuning.between([8]) == [16] and tuning.between([8, 1024]) == [88]
    assert tuning.between([1]) == [2] and tuning.between([1, 2]) == [3, 4] and tuning.between([1, 8]) == [3]
    assert tuning.between([0]) == [8] and tuning.between([9, 16]) == [12]
    with pytest.raises(UsageError, match="sweeps settings of the engine"):
        tuning.points(by_names(["timer-period"])[0], "quick", {})


def test_where_a_point_has_no_size_the_winner_is_confirmed_at_the_same_points() -> None:
    (study,) = by_names(["latency-flavours"])
    quick = study.scales["quick"]
    mixed = replace(study, scales={"quick": replace(quick, grids=(*quick.grids, {"calls": ("nonblocking",)}))})
    found = tuning.points(mixed, "quick", {})
    assert {"calls": "nonblocking"} in found.tuned and found.untuned == found.tuned and not found.settings


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
        ("engine: {colour: [1]}", "no setting 'colour'. There are: burst, wait"),
        ("engine: {burst: [2000]}", "burst is a whole number from 1 to 1000, not 2000"),
        ("engine: {burst: ['--5']}", "burst is a whole number from 1 to 1000, not --5"),
        ("engine: {burst: ['²']}", "burst is a whole number from 1 to 1000, not ²"),
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


def test_what_is_found_is_written_as_two_files_that_run_takes(tmp_path: Path) -> None:
    session = Session(tmp_path, Facts("s", "now", "complete"))
    notes = {"UCX_TLS": "UCX prints it", "burst": "the engine reports it"}
    conf, env = tuning.write_result(SEARCH, session, BOTH, "It is better.", notes)
    assert variants.check(f"adaptive:@{conf}") == "adaptive:burst=1"
    assert settings_file.of_mpi(env) == {"UCX_TLS": "tcp"}
    assert "# the engine reports it\nburst = 1" in conf.read_text()
    assert "# UCX prints it\nUCX_TLS = tcp" in env.read_text() and "# It is better." in conf.read_text()
    conf, env = tuning.write_result(SEARCH, session, {}, "Nothing beats the default.", {})
    assert variants.check(f"adaptive:@{conf}") == "adaptive" and settings_file.of_mpi(env) == {}
    for without in variants.WITHOUT_ENGINE:
        conf, _ = tuning.write_result(replace(SEARCH, variant=without, space=[SPACE[1]]), session, {}, "Nothing.", {})
        assert settings_file.of_engine(conf) == ("", []), "the engine has no preset of this name"


def test_a_block_begins_only_where_the_confirmation_still_fits() -> None:
    assert tuning.fits(SEARCH, 1.0, 4)
    assert not tuning.fits(replace(SEARCH, spent_s=250.0), 1.0, 4)
    assert tuning.fits(SEARCH, 1.0, 4, 1.0) and not tuning.fits(SEARCH, 1.0, 4, 20.0), "as many may hang as before"
    asked = Request.of(by_names(["overlap-ratio"]), BUILTIN["local"], ["mpich"], [])
    begun = tuning.begin(asked, replace(SEARCH, probes=[Probe("X", "1", "", "X")])).asked.search
    assert begun and begun.blocks == [Block([], 0)], "the variables are read back first"


def test_a_block_of_many_settings_has_more_rounds() -> None:
    assert [rounds_of_block(settings) for settings in (2, 6, 7, 40)] == [6, 6, 7, 9]


def test_minutes_that_are_too_few_are_said_with_what_would_do() -> None:
    assert not tuning.too_short(SEARCH, 1.0)
    why = tuning.too_short(SEARCH, 8.0)
    assert why.startswith("5 minutes are too few for a block of 4 settings and the confirmation, which take about 9.9")
    bare = replace(SEARCH, variant="bare", space=[SPACE[1]], reference=False)
    assert tuning.confirmation_s(bare, 1.0) == tuning.BLOCK_OVERHEAD_S + 2 * bare.confirm, "winner and default"
    both = tuning.confirmation_s(SEARCH, 1.0, 2) - tuning.confirmation_s(SEARCH, 1.0)
    assert both == tuning.BLOCK_OVERHEAD_S + 3 * SEARCH.confirm, "looked at again, without the factors alone"


def test_a_search_whose_minutes_the_read_back_has_used_begins_no_block(tmp_path: Path) -> None:
    (study,) = by_names(["overlap-ratio"])
    settings = tuning.points(study, "quick", {}).settings
    search = replace(SEARCH, blocks=[Block([], 0)], spent_s=290.0)
    request = Request.of([study], BUILTIN["local"], ["mpich"], ["adaptive"], settings=settings, search=search)
    session = Session(tmp_path, Facts("s", "now", "running", **request.facts()))
    ready = importlib.import_module("harness.commands.tune")._ready
    with pytest.raises(UsageError, match=r"5 minutes are too few .*, and 4\.8 have passed: give more --minutes"):
        ready(request, session)


def search_of_own_program(folder: Path) -> Request:
    (own,) = by_names(["own-program"])
    own = replace(own, program=Program(["true"], str(folder)))
    asked = Request.of([own], BUILTIN["local"], ["mpich"], [])
    return tuning.begin(asked, replace(SEARCH, points=[{}], untuned=[{}], reference=False))


def test_a_program_of_ones_own_is_tried_before_the_search_and_minutes_that_are_too_few_are_refused(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = search_of_own_program(tmp_path)
    assert request.asked.search and request.asked.search.blocks == [Block([], 0)]
    session = Session(tmp_path, Facts("s", "now", "running", **request.facts()))
    assert tuning.trial_s(request, session) == 0

    monkeypatch.setattr(process, "run", lambda *_: process.Exit(0, 40.0, ""))
    monkeypatch.setattr(programs_of_others, "another_mpi", lambda *_: "")
    here = replace(plan.platform, system="local:loopback")
    only = replace(plan, study="own-program", platform=here, program=request.asked.program, points=[{}], launches=[])
    (tmp_path / "logs").mkdir()
    for kind in ("log", "err"):
        (tmp_path / "logs" / f"own-program.local.mpich.trial.{kind}").touch()
    assert Runner(only, tmp_path).run() == 0
    assert tuning.trial_s(request, session) == 40.0
    monkeypatch.setattr(tuning, "run_block", lambda request, _: request)
    with pytest.raises(UsageError, match=r"5 minutes are too few .* give more --minutes, fewer --places\.$"):
        importlib.import_module("harness.commands.tune")._search(request, session)


def test_a_program_that_cannot_be_used_is_refused_before_any_block(
    plan: Plan, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It would fail in every launch, and --resume would change nothing."""
    request = search_of_own_program(tmp_path)
    session = Session(tmp_path, Facts("s", "now", "running", **request.facts()))
    only = replace(plan, study="own-program", program=request.asked.program, points=[{}], launches=[])
    only = replace(only, platform=replace(plan.platform, system="local:loopback"))
    (tmp_path / "logs").mkdir()
    for kind in ("log", "err"):
        (tmp_path / "logs" / f"own-program.local.mpich.trial.{kind}").touch()
    blocks: list[int] = []

    def run_block(request: Request, _: Session) -> Request:
        assert request.asked.search
        blocks.append(len(request.asked.search.sides))
        Runner(only, tmp_path).run()
        return request

    monkeypatch.setattr(tuning, "run_block", run_block)
    monkeypatch.setattr(programs_of_others, "another_mpi", lambda *_: "it links another MPI: libmpi.so.40")
    search = importlib.import_module("harness.commands.tune")._search
    with pytest.raises(UsageError, match=r"^true: it links another MPI: libmpi\.so\.40\.$"):
        search(request, session)
    assert blocks == [0], "the trial alone"
    monkeypatch.setattr(programs_of_others, "another_mpi", lambda *_: "")
    monkeypatch.setattr(process, "run", lambda *_: process.Exit(0, 40.0, ""))
    with pytest.raises(UsageError, match="minutes are too few"):  # --resume: it was mended
        search(request, session)


def test_judging_counts_as_time_of_the_search(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of hundreds of rounds it takes as long as a block."""
    tune, next_ = importlib.import_module("harness.commands.tune"), "analysis.tuning.document.next_"
    request = search_of_own_program(tmp_path)
    session = Session(tmp_path, Facts("s", "now", "running", **request.facts()))
    clock = iter([100.0, 130.0])
    monkeypatch.setattr(tune.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(tune, "all_measured", lambda _: SimpleNamespace(scores={}, with_hangs=0.0))
    monkeypatch.setattr(tune, "_launch_s", lambda *_: 1.0)
    monkeypatch.setattr(tune, "_so_far", lambda *_: "")
    then = SimpleNamespace(over=False, alive=[], new=[{}], state=SimpleNamespace(leader="default"))
    monkeypatch.setattr(next_, lambda *_: then)
    spent: list[float] = []

    def run_block(request: Request, _: Session) -> Request:
        assert request.asked.search
        spent.append(request.asked.search.spent_s)
        raise KeyboardInterrupt

    monkeypatch.setattr(tuning, "run_block", run_block)
    with pytest.raises(KeyboardInterrupt):
        tune._searched(request, session)
    assert spent == [30.0]


def test_an_objective_that_the_study_does_not_record_is_refused_before_anything_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    told = json.dumps({"quantities": [{"name": "total_s", "unit": "s", "better": "lower", "leading": True}]})
    tool = tmp_path / "microbench"
    tool.write_text(f"#!/bin/sh\n[ \"$*\" = 'overlap --list-parameters' ] && echo '{told}'\n")
    tool.chmod(0o755)
    groups: list[str] = []
    monkeypatch.setattr(environment, "ensure_group", groups.append)
    monkeypatch.setattr(systems, "set_up", lambda _: None)
    monkeypatch.setattr(System, "programs_of", lambda _, __: tmp_path)
    assert main(["tune", "--system", "local", "--objective", "eficiency"]) == 2
    assert "to compare by. Is efficiency meant? There are: time, total_s, efficiency" in capsys.readouterr().err
    assert main(["tune", "--system", "local", "--objective", "total_s"]) == 2
    assert "does not tell its settings" in capsys.readouterr().err, "the objective is taken; progress-info comes next"
    assert groups == [], "nobody but Optuna's search needs Optuna"
    assert main(["tune", "--system", "local", "--objective", "total_s", "--search", "tpe"]) == 2
    assert groups == ["tune"]
    monkeypatch.setattr(importlib.import_module("harness.commands.tune"), "IN_CLONE", False)
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    assert main(["tune", "--system", "local", "--objective", "total_s", "--search", "tpe"]) == 2
    assert "pip install optuna" in capsys.readouterr().err
    assert groups == ["tune"], "an installed package has what pip gave it"


def test_what_a_study_records_is_known_before_it_runs(tmp_path: Path) -> None:
    (own,) = by_names(["own-program"])
    program = Program(["true"], "", time_from="time: (.*)")
    assert tuning.recorded(replace(own, program=program), tmp_path) == program.quantities()
    assert tuning.recorded(by_names(["overlap-ratio"])[0], tmp_path) is None, "its program does not run here"
