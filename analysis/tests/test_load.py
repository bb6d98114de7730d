# SPDX-License-Identifier: BSD-3-Clause
"""Loading: everything that is there arrives, everything that is not right is said with file and line; and of many
ranks twice as many are twice the work and no more, counted in calls, since times vary."""

from __future__ import annotations

import itertools
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
from jsonschema import Draft202012Validator

from analysis.errors import UsageError
from analysis.evidence import Evidence
from analysis.figures import toolkit
from analysis.records import frames
from analysis.records.load import Records, load
from analysis.records.read import SCHEMA_FILE, BadLine, Shapes, migrate, sample_of, skeleton
from analysis.report.report import render
from analysis.report.sentences import verdict
from analysis.subject import draw_all
from analysis.tests.many_ranks import make
from analysis.tests.synthetic import Behaviour, Synthetic, header, write_lines


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return Synthetic(launches=2, samples=4, comp_over_comm=(1.0,)).write(tmp_path / "one")


def first_file(session: Path) -> Path:
    return min((session / "records").glob("*.jsonl"))


def change_line(file: Path, number: int, text: str) -> None:
    lines = file.read_text().splitlines()
    lines[number - 1] = text
    file.write_text("\n".join(lines) + "\n")


def test_synthetic_lines_obey_the_schema(session: Path) -> None:
    validator = Draft202012Validator(json.loads(SCHEMA_FILE.read_text()))
    for file in (session / "records").glob("*.jsonl"):
        for line in file.read_text().splitlines():
            validator.validate(json.loads(line))


def test_one_row_a_sample_with_point_and_launch_beside_it(session: Path) -> None:
    records = load([session])
    assert not records.problems
    assert len(records.launches) == 12
    assert len(records.points) == 24
    samples = records.samples
    assert len(samples) == 24 * 8 * 4
    file = first_file(session)
    point = json.loads(file.read_text().splitlines()[1])
    mine = samples[(samples["launch"] == file.stem) & (samples["rank"] == 0) & (samples["quantity"] == "total_s")]
    assert mine["value"].tolist() == point["samples"]["total_s"]
    assert mine["index"].tolist() == [0, 1, 2, 3]
    assert set(mine["pattern"]) == {"both"}
    assert set(mine["size_bytes"]) == {4 << 20}
    assert set(mine["role"]) == {"sender"}
    assert set(mine["session"]) == {"one"}


def test_several_sessions_in_one_frame(tmp_path: Path, session: Path) -> None:
    other = Synthetic(launches=1, samples=4, study="send-time", comp_s=(0.0, 1e-4), sizes=(1, 1024)).write(
        tmp_path / "two"
    )
    records = load([session, other])
    assert set(records.launches["session"]) == {"one", "two"}
    assert records.points.loc[records.points["session"] == "one", "comp_s"].isna().all()
    assert len(records.samples) == len(load([session]).samples) + len(load([other]).samples)


BROKEN: dict[str, tuple[str, str]] = {
    "cut": ('{"point": {"pattern": "bo', "not JSON"),
    "list": ("[1, 2]", "not a JSON object"),
    "status": ('{"point": {}, "rank": 0, "status": "fine", "samples": {}}', "status"),
    "rank": ('{"point": {}, "rank": -1, "status": "ok", "samples": {"total_s": [1]}}', "rank"),
    "reason": ('{"point": {}, "rank": 0, "status": "failed", "samples": {}}', "reason"),
    "extra": ('{"point": {}, "rank": 0, "status": "ok", "samples": {"total_s": [1]}, "more": 1}', "more"),
    "nothing": ('{"point": {}, "rank": 0, "status": "ok", "samples": {}}', "point line"),
    "version": ('{"header": {"schema": 7}}', "schema version 7"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_damaged_line_is_named_and_the_rest_loads(session: Path, name: str) -> None:
    text, expected = BROKEN[name]
    file = first_file(session)
    change_line(file, 2, text)
    records = load([session])
    assert [(problem.file, problem.line) for problem in records.problems] == [(str(file), 2)]
    assert expected in records.problems[0].text
    assert len(records.points) == 23


@pytest.mark.parametrize(
    ("samples", "expected"),
    [
        ('{"total_s": [0.1, NaN]}', "sample 1 is not a finite number"),
        ('{"total_s": [0.1, -0.2]}', "sample 1 is a negative time"),
        ('{"total_s": [0.1, "x"]}', "not a list of numbers"),
        ('{"total_s": [[0.1], [0.2, 0.3]]}', "not a list of numbers"),
        ('{"total_s": {"a": 1}}', "not a list of numbers"),
    ],
)
def test_unusable_samples_leave_a_damaged_point_and_a_sentence(session: Path, samples: str, expected: str) -> None:
    file = first_file(session)
    change_line(file, 2, '{"point": {"size_bytes": 1}, "rank": 0, "status": "ok", "samples": ' + samples + "}")
    records = load([session])
    assert [(problem.line, expected in problem.text) for problem in records.problems] == [(2, True)]
    damaged = records.points[records.points["status"] == "damaged"]
    assert len(damaged) == 1
    assert expected in damaged.iloc[0]["reason"]


def test_a_file_without_its_end_is_incomplete(session: Path) -> None:
    file = first_file(session)
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    records = load([session])
    assert records.launches.set_index("launch").loc[file.stem, "status"] == "incomplete"
    assert len(records.points) == 24, "what was finished counts"
    assert "cut off" in str(records.problems[0])


def test_a_file_without_header_is_left_out_and_named(session: Path) -> None:
    file = first_file(session)
    change_line(file, 1, "{}")
    records = load([session])
    assert len(records.launches) == 11
    assert any("no usable header" in problem.text for problem in records.problems)


def test_a_repeated_point_counts_once(session: Path) -> None:
    file = first_file(session)
    lines = file.read_text().splitlines()
    file.write_text("\n".join([*lines[:3], lines[1], *lines[3:]]) + "\n")
    records = load([session])
    assert len(records.points) == 24
    assert "same point and rank as line 2" in str(records.problems[0])


def test_planned_launches_without_record_are_named(session: Path) -> None:
    facts = json.loads((session / "session.json").read_text())
    (session / "session.json").write_text(json.dumps({**facts, "expected": ["a.b.c", first_file(session).stem]}))
    assert [problem.text for problem in load([session]).problems] == ["1 planned launches have no record: a.b.c"]


def test_an_empty_session_loads_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    records = load([tmp_path / "empty"])
    assert len(records.samples) == 0
    assert any("no record files" in problem.text for problem in records.problems)


def test_a_missing_session_is_a_usage_error(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="no such session"):
        load([tmp_path / "nowhere"])


def test_a_launch_by_hand_has_unknowns_and_says_so(tmp_path: Path) -> None:
    file = write_lines(
        tmp_path / "mine.jsonl", [header({}), {"point": {}, "rank": 0, "status": "ok", "samples": {"x_s": [1.0]}}]
    )
    records = load([file])
    assert records.launches.iloc[0]["mpi"] == "unknown"
    assert records.launches.iloc[0]["launch"] == "mine"
    assert any("does not say" in problem.text for problem in records.problems)


def test_failed_points_stay_with_their_reason(tmp_path: Path) -> None:
    failing = Synthetic(mpis={"mpich": {"bare": Behaviour(0.1, fails="timeout")}}, launches=1, comp_over_comm=(1.0,))
    points = load([failing.write(tmp_path / "failing")]).points
    assert points[["status", "reason", "samples"]].to_numpy().tolist() == [["timeout", "made up", 0]]


def test_parameters_named_like_columns_do_not_overwrite_them(tmp_path: Path) -> None:
    context = {"study": "s", "system": "a", "mpi": "mpich", "variant": "bare"}
    line = {"point": {"variant": "red", "rank": 5}, "rank": 0, "status": "ok", "samples": {"x_s": [1.0]}}
    points = load([write_lines(tmp_path / "x.jsonl", [header(context), line])]).points
    assert points.iloc[0][["variant", "point_variant", "rank", "point_rank"]].tolist() == ["bare", "red", 0, 5]


def test_the_skeleton_keeps_all_that_the_schema_can_see() -> None:
    """`skeleton` knows types, words and signs: a schema with another bound or a pattern would need more."""
    allowed = {"minimum": {0, 1}, "minLength": {1}, "minProperties": {1}}
    forbidden = {
        "maximum",
        "exclusiveMinimum",
        "multipleOf",
        "pattern",
        "maxItems",
        "minItems",
        "uniqueItems",
        "maxLength",
    }

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            assert not forbidden & set(node)
            for key, values in allowed.items():
                assert not isinstance(node.get(key), int) or node[key] in values
            for value in node.values():
                walk(value)
        elif isinstance(node, list):
            for value in node:
                walk(value)

    walk(json.loads(SCHEMA_FILE.read_text()))
    assert skeleton({"a": 1}) != skeleton({"a": 1.0})
    assert skeleton({"a": 1}) != skeleton({"a": 0})
    assert skeleton({"a": True}) != skeleton({"a": 1})


def test_shapes_remember_only_what_was_valid() -> None:
    shapes = Shapes()
    bad = {"point": {}, "rank": -1, "status": "ok", "samples": {"x": []}}
    for _ in range(2):
        with pytest.raises(BadLine):
            shapes.check("point_line", bad)
    shapes.check("point_line", {**bad, "rank": 3})
    with pytest.raises(BadLine):
        shapes.check("point_line", bad)


def test_older_versions_go_through_their_migrations(monkeypatch: pytest.MonkeyPatch) -> None:
    names = {1: "first", 2: "second", 3: "third", 4: "fourth"}
    steps = {version: lambda line, name=name: {**line, name: True} for version, name in names.items()}
    monkeypatch.setattr("analysis.records.read.MIGRATIONS", steps)
    assert migrate({"a": 1}, 1) == {"a": 1} | dict.fromkeys(names.values(), True)
    with pytest.raises(BadLine, match="schema version 6"):
        migrate({}, 6)


def test_mixed_schema_versions_load_what_can_be_read(session: Path) -> None:
    file = first_file(session)
    file.write_text(file.read_text().replace('"schema": 5', '"schema": 6', 1))
    records = load([session])
    assert len(records.launches) == 11
    assert f"{file}:1: schema version 6, this analysis reads up to 5: update it or migrate the file" in map(
        str, records.problems
    )


def test_a_session_of_version_1_loads_as_it_did(session: Path) -> None:
    """Its headers have no quantities."""
    now = load([session])
    for file in (session / "records").glob("*.jsonl"):
        first, *rest = file.read_text().splitlines()
        old = json.loads(first)["header"]
        del old["quantities"]
        old["schema"] = 1
        file.write_text("\n".join([json.dumps({"header": old}), *rest]) + "\n")
    before = load([session])
    assert not before.problems
    assert before.samples.equals(now.samples) and before.points.equals(now.points)


@pytest.mark.parametrize("version", [2, 3, 4])
def test_a_session_of_an_older_version_loads_as_it_did(session: Path, version: int) -> None:
    now = load([session])
    for file in (session / "records").glob("*.jsonl"):
        file.write_text(file.read_text().replace('"schema": 5', f'"schema": {version}', 1))
    before = load([session])
    assert not before.problems
    assert before.samples.equals(now.samples) and before.points.equals(now.points)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda header: header.pop("quantities"), "'quantities' is a required property"),
        (lambda header: header["quantities"]["total_s"].pop("unit"), "'unit' is a required property"),
        (lambda header: header["quantities"]["total_s"].update(better="less"), "'less' is not one of"),
    ],
)
def test_a_header_says_what_its_quantities_are(session: Path, change: Callable[[Any], Any], words: str) -> None:
    file = first_file(session)
    line = json.loads(file.read_text().splitlines()[0])
    change(line["header"])
    change_line(file, 1, json.dumps(line))
    assert words in str(load([session]).problems[0])


def test_a_damaged_session_file_is_a_sentence(session: Path) -> None:
    (session / "session.json").write_text("{")
    records = load([session])
    assert "what machine and network this was is not known" in str(records.problems[0])
    assert len(records.launches) == 12


@pytest.mark.parametrize("quantity", ["excess_latency_s", "overhead_s", "remainder_s"])
def test_differences_of_times_may_be_negative(session: Path, quantity: str) -> None:
    file = first_file(session)
    point = json.loads(file.read_text().splitlines()[1])
    change_line(file, 2, json.dumps({**point, "samples": {**point["samples"], quantity: [-1e-6, 2e-6]}}))
    assert not load([session]).problems


RANKS = (16, 32, 64, 128)
LINEAR = 2.0  # how the growth of the count grows with each doubling; of a quadratic step 4


def calls_of(action: Callable[[], Any]) -> int:
    """How many functions, of Python and of C, are called in `action`."""
    count = 0

    def called(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal count
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(called)
    try:
        action()
    finally:
        sys.setprofile(before)
    return count


def growth(counts: list[int]) -> list[float]:
    """What does not depend on the ranks is left out."""
    more = [after - before for before, after in itertools.pairwise(counts)]
    return [after / before for before, after in itertools.pairwise(more)]


@pytest.mark.full
def test_twice_the_ranks_are_twice_the_work(tmp_path: Path) -> None:
    loaded, summarised, drawn = [], [], []
    _draw(load([make(tmp_path / "first", RANKS[0])]), tmp_path / "first")  # what is remembered
    for ranks in RANKS:
        session = make(tmp_path / str(ranks), ranks)
        assert len(list((session / "records").iterdir())) == 12, "a file a launch, not a rank"
        found: list[Any] = []
        load([session])  # what is imported or remembered at the first time is not counted
        loaded.append(calls_of(lambda: found.append(load([session]))))  # noqa: B023
        records = found[0]
        assert not records.problems
        assert set(records.launches["world_size"]) == {ranks}
        assert len(records.points) == 12 * ranks
        Evidence(records).metrics  # noqa: B018
        summarised.append(calls_of(lambda: (Evidence(records).metrics, records.cautions())))  # noqa: B023
        drawn.append(calls_of(lambda: _draw(records, session)))  # noqa: B023
    for steps in (loaded, summarised, drawn):
        assert growth(steps) == pytest.approx([LINEAR] * 2, rel=0.15)


def _draw(records: Records, session: Path) -> None:
    """Every figure, and the page."""
    evidence = Evidence(records)
    figures = draw_all(evidence, toolkit.provenance(records))
    assert figures
    render(evidence, verdict(evidence.metrics), figures, session)


def test_one_rank_of_many_that_does_not_obey_the_schema_is_found(tmp_path: Path) -> None:
    records = load([make(tmp_path / "s", 64)])
    assert set(records.launches["world_size"]) == {64}
    ranks = [{"rank": rank, "host": "a", "cpus_allowed": [rank], "clock_resolution_s": 0.0} for rank in range(64)]
    assert len(sample_of({"ranks": ranks})["ranks"]) == 2  # 0 has a sign of its own
    ranks[40] |= {"clock_resolution_s": "x"}
    header = {"schema": 5, "context": {}, "workload": {"name": "w", "version": "1"}, "quantities": {}, "arguments": []}
    header |= {"mpi_library": "m", "thread_level": None, "world_size": 64, "ranks": ranks, "start_time": "now"}
    with pytest.raises(BadLine, match=r"ranks\.40\.clock_resolution_s"):
        Shapes().check("header", header)


def test_a_sentence_names_some_of_many_nodes() -> None:
    described = [{"host": f"n{i}", "kernel": str(i % 2)} for i in range(1000)]
    (said,) = frames.machine_cautions({"session": "s", "nodes": described, "undescribed": []})
    assert "and 492 more" in said
    assert len(said) < 300
