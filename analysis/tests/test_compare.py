# SPDX-License-Identifier: BSD-3-Clause
"""Comparisons: a real slow-down is found, an A/A comparison stays silent, what cannot be judged is not; and where
launches of a point failed, lack its quantity or did other work they fail closed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.compare import point_tests
from analysis.compare.comparison import Comparison, Judgement, PointVerdict
from analysis.compare.matched_points import Measured
from analysis.compare.missing import differences
from analysis.compare.point_tests import Pair, _points, _session, compare, mean_change
from analysis.errors import UsageError
from analysis.statistics.interval import Interval, holm
from analysis.tests.synthetic import USUAL, Behaviour, Synthetic, changed_points
from analysis.tests.test_compare_whole import latency, overlap

FEW = {name: USUAL[name] for name in ("bare", "mpi-async", "adaptive")}


def session(folder: Path, **changed: Any) -> Path:
    made = {"mpis": {"mpich": FEW, "openmpi": FEW}, "launches": 6, "samples": 10, "launch_spread": 0.01, **changed}
    return Synthetic(**made).write(folder)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return session(tmp_path_factory.mktemp("base") / "base", seed=1)


def test_five_percent_slower_is_found_with_six_launches(base: Path, tmp_path: Path) -> None:
    found = compare(base, session(tmp_path / "new", seed=2, slowdown=1.05))
    assert found.verdict is Judgement.SLOWER
    assert found.regression
    slower = [point for point in found.points if point.verdict is Judgement.SLOWER]
    assert len(slower) >= 12, "of 18"
    assert all(1.02 < point.ratio < 1.08 for point in slower)
    assert not any(point.verdict is Judgement.FASTER for point in found.points)


def test_faster_is_no_regression(base: Path, tmp_path: Path) -> None:
    found = compare(base, session(tmp_path / "new", seed=3, slowdown=0.93))
    assert found.verdict is Judgement.FASTER
    assert not found.regression


def test_the_same_program_again_is_no_alarm(base: Path, tmp_path: Path) -> None:
    found = compare(base, session(tmp_path / "new", seed=4))
    assert found.verdict in (Judgement.SAME, Judgement.CANNOT_TELL)
    assert not found.regression
    assert found.counts()["same"] > 0


def test_one_point_alone_is_found(base: Path, tmp_path: Path) -> None:
    worse = {**FEW, "adaptive": Behaviour(0.5, 1.05)}
    found = compare(base, session(tmp_path / "new", seed=5, mpis={"mpich": FEW, "openmpi": worse}))
    assert found.verdict is Judgement.SLOWER
    assert {(p.mpi, p.variant) for p in found.points if p.verdict is Judgement.SLOWER} == {("openmpi", "adaptive")}


def test_two_launches_of_everything_find_a_large_slow_down_everywhere(tmp_path: Path) -> None:
    few = session(tmp_path / "a", launches=2, seed=1)
    worse = session(tmp_path / "b", launches=2, seed=2, slowdown=1.2)
    assert compare(few, worse).verdict is Judgement.SLOWER


def test_one_launch_cannot_tell(tmp_path: Path) -> None:
    found = compare(session(tmp_path / "a", launches=1), session(tmp_path / "b", launches=1, slowdown=2.0))
    assert found.verdict is Judgement.CANNOT_TELL
    assert not found.regression
    assert {point.verdict for point in found.points} == {Judgement.CANNOT_TELL}
    assert found.status == 1


def test_a_point_that_no_longer_works_is_a_regression(base: Path, tmp_path: Path) -> None:
    broken = {**FEW, "adaptive": Behaviour(0.9, fails="timeout")}
    found = compare(base, session(tmp_path / "new", seed=6, mpis={"mpich": FEW, "openmpi": broken}))
    assert found.verdict is not Judgement.SLOWER
    assert found.regression
    lost = [point for point in found.points if point.lost]
    assert len(lost) == 3
    assert "timeout: made up" in lost[0].reason


def test_other_points_are_named_and_not_judged(base: Path, tmp_path: Path) -> None:
    found = compare(base, session(tmp_path / "new", seed=7, comp_over_comm=(1.0, 2.0)))
    alone = [point for point in found.points if "no usable samples in" in point.reason]
    assert len(alone) == 6 * 3, "0.25 and 4 only in BASE, 2 only in NEW"
    assert not any(point.lost for point in alone)
    assert found.status == 1


def test_different_machines_are_refused_with_the_reason(base: Path, tmp_path: Path) -> None:
    other = session(tmp_path / "new", seed=8, machine="Other CPU")
    with pytest.raises(UsageError, match="different processors: Example CPU in BASE, Other CPU in NEW"):
        compare(base, other)
    assert "compared by force: different processors" in compare(base, other, force=True).notes[0]
    lines = differences({"session": "a", "network": "of tbf"}, {"session": "b", "network": "of htb"})[0]
    assert "different networks: of tbf in BASE, of htb in NEW" in lines
    (other / "session.json").unlink()
    shutil.rmtree(other / "nodes")
    with pytest.raises(UsageError, match="does not say what machine"):
        compare(base, other)


def test_the_same_session_twice_is_refused(base: Path) -> None:
    with pytest.raises(UsageError, match="the same session"):
        compare(base, base)


def test_an_interrupted_session_is_compared_as_far_as_it_came(base: Path, tmp_path: Path) -> None:
    new = session(tmp_path / "new", seed=4)
    facts = json.loads((new / "session.json").read_text())
    files = sorted((new / "records").glob("*.jsonl"))
    (new / "session.json").write_text(
        json.dumps({**facts, "state": "interrupted", "expected": [file.stem for file in files]})
    )
    for file in files[12:]:
        file.unlink()
    found = compare(base, new)
    assert (found.regression, found.status) == (False, 1)
    assert "overlap-ratio on openmpi of vcluster:compute (9 points: no usable samples in NEW)" in found.sentence
    assert found.notes[0].startswith("Session new is interrupted")
    assert "planned launches have no record" in found.notes[1]


def test_all_points_failed_is_a_regression_with_its_reason_and_no_base(base: Path, tmp_path: Path) -> None:
    mpis = {mpi: {name: Behaviour(0.5, fails="timeout") for name in FEW} for mpi in ("mpich", "openmpi")}
    failed = session(tmp_path / "failed", mpis=mpis)
    found = compare(base, failed)
    assert found.regression
    assert found.sentence.startswith("No point was measured in both sessions")
    assert all(point.lost and "timeout: made up" in point.reason for point in found.points)
    other = compare(failed, base)
    assert other.verdict is Judgement.CANNOT_TELL
    assert not other.regression


def test_one_sample_in_every_launch_is_judged_by_the_launches(base: Path, tmp_path: Path) -> None:
    found = compare(base, session(tmp_path / "new", seed=4, samples=1))
    assert found.verdict in (Judgement.SAME, Judgement.CANNOT_TELL)


def parsed(found: Comparison) -> tuple[Any, ElementTree.Element]:
    return json.loads(found.json()), ElementTree.fromstring(found.junit())


def test_the_three_forms_agree(base: Path, tmp_path: Path) -> None:
    found = compare(base, session(tmp_path / "new", seed=2, slowdown=1.05))
    data, suite = parsed(found)
    slower = found.counts()["slower"]
    assert data["counts"]["slower"] == slower
    assert data["regression"] is True
    assert suite.get("failures") == str(slower + 1) == str(len(suite.findall("testcase/failure")))
    assert suite.get("tests") == str(len(found.points) + 1) == str(len(suite.findall("testcase")))
    assert found.markdown().count("\n| slower |") == slower
    assert "## new against base: slower" in found.markdown()


def measured(values: list[float], work: float = 1000) -> Measured:
    return Measured("total_s", {str(i): np.array([value]) for i, value in enumerate(values)}, work)


KEY = ("s", "y", "m", "v", '{"x": 1}')
QUIET = [1.0, 1.001, 0.999, 1.002, 0.998, 1.0]


def test_different_work_is_never_called_the_same() -> None:
    """Ten real sessions, each calibrated anew, did work that differed by up to half."""
    pair = Pair(KEY, measured(QUIET), measured([1.14 * value for value in QUIET], 1200))
    (point,) = _points([pair], 0.02, 0.005)
    assert point.verdict is Judgement.CANNOT_TELL
    assert "work differs by 20.0 %" in point.reason


def test_two_disturbed_launches_are_no_regression() -> None:
    pairs = [
        Pair((*KEY[:4], f'{{"x": {x}}}'), measured(QUIET), measured([1.01 * v for v in QUIET[:4]] + [1.5, 1.6]))
        for x in range(6)
    ]
    points = _points(pairs, 0.02, 0.005)
    assert not any(point.verdict is Judgement.SLOWER for point in points)
    assert _session(pairs, points, 0.02, 0.005).verdict is Judgement.CANNOT_TELL


def test_holm_by_hand() -> None:
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([]) == []
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def made_pairs(rng: np.random.Generator, points: int, launches: int, factor: float = 1.0) -> list[Pair]:
    """Launches that differ by 0.5 to 4 % with heavy tails, shared by 5 points each as a variant's launches are."""
    pairs = []
    for variant in range(points // 5):
        spread = 0.005 * 8 ** rng.random()
        shared = [spread * rng.standard_t(4, launches) for _ in (0, 1)]
        for point in range(5):
            sides = [
                Measured(
                    "total_s", {str(i): np.exp(s + 0.3 * spread * rng.normal(size=8)) for i, s in enumerate(effects)}
                )
                for effects in shared
            ]
            sides[1].launches = {name: factor * values for name, values in sides[1].launches.items()}
            pairs.append(Pair(("s", "y", "m", str(variant), f'{{"x": {point}}}'), *sides))
    return pairs


@pytest.mark.full
@pytest.mark.parametrize("launches", [3, 6])
def test_false_alarms_of_a_whole_session_are_rare(launches: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """One in a hundred is asked for; 60 comparisons of 20 points each may have two by chance."""
    monkeypatch.setattr(point_tests, "ratio_of_medians", lambda *_: Interval(1.0, 1.0, 1.0, "shown only", True))
    rng = np.random.default_rng(launches)
    alarms = 0
    for _ in range(60):
        pairs = made_pairs(rng, 20, launches)
        verdict = _session(pairs, _points(pairs, 0.02, 0.005), 0.02, 0.005).verdict
        alarms += verdict in (Judgement.SLOWER, Judgement.FASTER)
    assert alarms <= 2


def test_the_mean_change_by_exchange_is_uniform_without_and_small_with_a_change() -> None:
    rng = np.random.default_rng(5)
    p_values = [mean_change(made_pairs(rng, 20, 4))[1] for _ in range(60)]
    assert 0.35 < np.mean(p_values) < 0.65
    assert mean_change(made_pairs(rng, 20, 4, 1.1))[1] < 0.01


TIMEOUT: dict[str, Any] = {"status": "timeout", "reason": "did not end within 60 s", "samples": {}}


def timed_out(session: Path, files: str = "*adaptive*", count: int = 1) -> Path:
    return changed_points(session, files, count, **TIMEOUT)


def of_adaptive(found: Comparison) -> list[PointVerdict]:
    return [point for point in found.points if point.variant == "adaptive"]


def test_one_of_six_launches_that_hangs_is_a_regression(tmp_path: Path) -> None:
    base, new = overlap(tmp_path / "base"), overlap(tmp_path / "new", seed=2)
    assert compare(base, new).status == 0
    found = compare(base, timed_out(new))
    assert (found.regression, found.status) == (True, 1)
    for point in of_adaptive(found):
        assert (point.verdict, point.lost, point.launches) == (Judgement.CANNOT_TELL, True, (6, 5))
        assert "1 of 6 launches failed in NEW (timeout: did not end within 60 s)" in point.reason
    assert "3 points failed in launches of NEW, and not or in fewer of BASE." in found.sentence
    assert found.markdown().count("| fails more often |") == 3
    assert found.junit().count("<failure") == 4
    assert {point.verdict for point in found.points if point.variant == "bare"} == {Judgement.SAME}


def test_what_came_through_may_be_slower_and_is_not_faster(tmp_path: Path) -> None:
    base = overlap(tmp_path / "base")
    slower = compare(base, timed_out(overlap(tmp_path / "slower", seed=2, slowdown=1.2)))
    assert {(point.verdict, point.lost) for point in of_adaptive(slower)} == {(Judgement.SLOWER, True)}
    faster = compare(base, timed_out(overlap(tmp_path / "faster", seed=2, slowdown=0.8), "*", 12))
    assert faster.verdict is Judgement.CANNOT_TELL
    faster = compare(base, timed_out(overlap(tmp_path / "fast", seed=2, slowdown=0.8)))
    assert {point.verdict for point in of_adaptive(faster)} == {Judgement.CANNOT_TELL}
    assert faster.status == 1


def test_as_many_failures_as_in_base_are_said_and_no_regression(tmp_path: Path) -> None:
    base, new = (timed_out(overlap(tmp_path / name, seed=seed)) for seed, name in enumerate(("base", "new")))
    found = compare(base, new)
    assert found.status == 0
    assert all("1 of 6 launches failed in BASE" in point.reason for point in of_adaptive(found))
    assert compare(base, timed_out(overlap(tmp_path / "more"), count=2)).regression


def test_a_launch_that_was_run_again_has_not_failed(tmp_path: Path) -> None:
    new = overlap(tmp_path / "new", seed=2)
    file = min((new / "records").glob("*adaptive*"))
    again = file.with_name(f"{file.stem}.r1.jsonl")
    again.write_text(file.read_text())
    found = compare(overlap(tmp_path / "base"), timed_out(new, file.name))
    assert found.status == 0
    assert not any("failed" in point.reason for point in found.points)


@pytest.mark.parametrize(
    ("values", "why"),
    [([0.0], "the median of latency_s is not positive"), ([-1.0], "damaged: ")],
    ids=["zero", "damaged"],
)
def test_a_launch_without_a_value_leaves_the_point_open(tmp_path: Path, values: list[float], why: str) -> None:
    new = latency(tmp_path / "new", long=False, seed=3)
    base = latency(tmp_path / "base", long=False)
    assert compare(base, new).status == 0
    cut = changed_points(new, "*.0.8.jsonl", samples={"latency_s": values})
    found = compare(base, cut)
    assert (found.regression, found.status) == (False, 1)
    (point,) = [point for point in found.points if point.uncompared]
    assert point.verdict is Judgement.CANNOT_TELL
    assert f"1 of 6 launches have no value in NEW ({why}" in point.reason
    assert "1 point of BASE cannot be compared" in found.sentence


def test_a_point_whose_launches_did_different_work_is_refused(tmp_path: Path) -> None:
    new = overlap(tmp_path / "new", seed=2, comp_over_comm=(1.0,))
    changed_points(new, "*adaptive*", 2, point={"work_units": 1100})
    found = compare(overlap(tmp_path / "base", comp_over_comm=(1.0,)), new)
    (point,) = of_adaptive(found)
    assert (point.verdict, point.uncompared, found.status) == (Judgement.CANNOT_TELL, True, 1)
    assert point.reason == "the launches of NEW did different work: 1100, 1000"


def cut(session: Path, count: int = 1) -> Path:
    """The session with the first so many record files of adaptive cut off within their first point."""
    for file in sorted((session / "records").glob("*adaptive*"))[:count]:
        lines = file.read_text().splitlines()
        file.write_text("\n".join([lines[0], lines[1][:40], *lines[2:]]) + "\n")
    return session


def test_a_record_that_cannot_be_read_whole_is_no_pass(tmp_path: Path) -> None:
    base = overlap(tmp_path / "base")
    found = compare(base, cut(overlap(tmp_path / "new", seed=2)))
    assert (found.regression, found.incomplete, found.status) == (False, True, 1)
    (name,) = found.unread
    assert f"1 record file of NEW cannot be read whole, and fewer of BASE: {name}." in found.sentence
    assert json.loads(found.json())["unread"] == [name]
    both = compare(cut(base), overlap(tmp_path / "good", seed=3))
    assert (both.unread, both.status) == ([], 0), "of BASE alone: NEW lacks nothing"


def test_a_damaged_record_of_a_launch_that_was_run_again_is_no_gap(tmp_path: Path) -> None:
    new = cut(overlap(tmp_path / "new", seed=2))
    whole = min((overlap(tmp_path / "again", seed=2) / "records").glob("*adaptive*"))
    (new / "records" / f"{whole.stem}.r1.jsonl").write_text(whole.read_text().replace('"again"', '"new"'))
    found = compare(overlap(tmp_path / "base"), new)
    assert (found.unread, found.status) == ([], 0)
