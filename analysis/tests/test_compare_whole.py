# SPDX-License-Identifier: BSD-3-Clause
"""A comparison passes only where all that BASE measured was compared; long distributions are compared by medians."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest

from analysis.compare.comparison import Comparison, Judgement
from analysis.compare.point_tests import compare
from analysis.tests.synthetic import USUAL, Synthetic, changed_points, edited, empty_session, write_launch

STOLEN: dict[str, Any] = {"noise": {"steal_s": 0.2}}
MACHINE = {"cpu_model": "Example CPU", "sockets": 1, "cores": 2}


def overlap(folder: Path, **changed: Any) -> Path:
    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    made = {"mpis": {"mpich": variants}, "launches": 6, "samples": 5, "launch_spread": 0.003, **changed}
    return Synthetic(**made).write(folder)


def histogram(values: list[float]) -> dict[str, Any]:
    """As a workload writes a distribution that is too long to keep."""
    shares = (0.01, 0.25, 0.5, 0.75, 0.99)
    return {
        "count": len(values),
        "min": min(values),
        "max": max(values),
        "mean": float(np.mean(values)),
        "quantiles": {f"{share:g}": float(np.quantile(values, share)) for share in shares},
        "edges": [min(values), 2 * max(values)],
        "counts": [len(values)],
    }


def latency(
    folder: Path, times: float = 1.0, long: bool = True, launches: int = 6, seed: int = 1, **point: Any
) -> Path:
    """A session of one latency study: 31 latencies of each launch, long ones as a histogram."""
    rng = np.random.default_rng(seed)
    empty_session(folder, machine=MACHINE)
    for launch in range(launches):
        for size in (8, 1024):
            values = (times * 1e-5 * rng.lognormal(0, 0.004) * rng.lognormal(0, 0.02, 31)).tolist()
            kept = {"samples": {}, "histograms": {"latency_s": histogram(values)}}
            line = {"point": {"size_bytes": size}, "samples": {"latency_s": values}, **(kept if long else {}), **point}
            write_launch(folder, "latency-flavours", "bare", f"bare.{launch}.{size}", [line])
    return folder


def test_distributions_too_long_to_keep_are_compared_by_their_exact_medians(tmp_path: Path) -> None:
    base = latency(tmp_path / "base")
    slower = compare(base, latency(tmp_path / "slower", times=1.1, seed=2))
    assert (slower.verdict, slower.status) == (Judgement.SLOWER, 1)
    assert all(point.quantity == "latency_s" and 1.05 < point.ratio < 1.15 for point in slower.points)
    same = compare(base, latency(tmp_path / "same", seed=3))
    assert (same.verdict, same.status) == (Judgement.SAME, 0)


def test_a_histogram_is_compared_with_samples_that_were_kept(tmp_path: Path) -> None:
    found = compare(latency(tmp_path / "base"), latency(tmp_path / "new", long=False))
    assert [point.ratio for point in found.points] == pytest.approx([1, 1])


@pytest.mark.parametrize("broken", [float("nan"), float("inf"), -1.0])
def test_a_histogram_of_impossible_numbers_is_left_out_and_counted(tmp_path: Path, broken: float) -> None:
    new = latency(tmp_path / "new", seed=2)
    for lines in edited(new, "bare.0.8.jsonl"):
        lines[1]["histograms"]["latency_s"]["quantiles"]["0.5"] = broken
    found = compare(latency(tmp_path / "base"), new)
    assert sorted(point.launches for point in found.points) == [(6, 5), (6, 6)]
    assert any("NEW: samples of 1 point left out as damaged" in note for note in found.notes)


def without(session: Path, pattern: str) -> Path:
    files = list((session / "records").glob(pattern))
    assert files
    for file in files:
        file.unlink()
    return session


def failed_sentence(found: Comparison) -> str:
    """The sentence, which the JUnit file has as the failure of the session."""
    assert found.status == 1
    failure = ElementTree.fromstring(found.junit()).find("testcase[@name='session']/failure")
    assert failure is not None
    assert json.loads(found.json())["status"] == 1
    return str(failure.get("message"))


def test_a_variant_that_new_lacks_is_no_pass(tmp_path: Path) -> None:
    base = overlap(tmp_path / "base")
    found = compare(base, without(overlap(tmp_path / "new", seed=2), "*adaptive*"))
    assert not found.regression
    assert (
        "3 points of BASE cannot be compared: the variant adaptive of overlap-ratio on mpich of vcluster:compute "
        "(3 points: no usable samples in NEW)." in failed_sentence(found)
    )
    more = compare(without(overlap(tmp_path / "fewer"), "*adaptive*"), overlap(tmp_path / "again", seed=2))
    assert more.status == 0, "what only NEW has is no gap"


def test_a_study_that_new_lacks_is_named_once(tmp_path: Path) -> None:
    base, new = overlap(tmp_path / "base"), overlap(tmp_path / "new", seed=2)
    for file in (latency(tmp_path / "more") / "records").glob("*"):
        shutil.copy(file, base / "records")
    found = compare(base, new)
    assert "study latency-flavours (2 points: no usable samples in NEW)" in failed_sentence(found)
    assert found.verdict is not Judgement.SLOWER


def test_single_points_that_new_lacks_are_named(tmp_path: Path) -> None:
    found = compare(overlap(tmp_path / "base"), overlap(tmp_path / "new", seed=2, comp_over_comm=(1.0, 4.0)))
    assert "comp/comm 0.25 (no usable samples in NEW)" in failed_sentence(found)


def test_nothing_comparable_is_no_pass(tmp_path: Path) -> None:
    base, new = latency(tmp_path / "base", launches=1), latency(tmp_path / "new", launches=1)
    assert "No point was measured in both sessions" in failed_sentence(compare(base, new))


def test_quantities_that_points_are_not_judged_by_are_named(tmp_path: Path) -> None:
    other: dict[str, Any] = {"samples": {"colour": [1.0, 2.0], "taste": [3.0]}, "histograms": {}}
    found = compare(latency(tmp_path / "base", **other), latency(tmp_path / "new", **other))
    assert "recorded colour, taste, none of which points are judged by" in failed_sentence(found)
    assert {point.verdict for point in found.points} == {Judgement.CANNOT_TELL}


def test_times_of_zero_are_said(tmp_path: Path) -> None:
    zero: dict[str, Any] = {"samples": {"latency_s": [0.0]}, "histograms": {}}
    found = compare(latency(tmp_path / "base", **zero), latency(tmp_path / "new"))
    assert "the median of latency_s is not positive in launch" in failed_sentence(found)


@pytest.mark.parametrize(("slowdown", "status"), [(1.1, 1), (1.0, 1)])
def test_disturbed_points_are_neither_slower_nor_the_same(tmp_path: Path, slowdown: float, status: int) -> None:
    new = changed_points(overlap(tmp_path / "new", seed=2, slowdown=slowdown), **STOLEN)
    found = compare(overlap(tmp_path / "base"), new)
    assert {point.verdict for point in found.points} == {Judgement.CANNOT_TELL}
    assert all("of the measured time in NEW" in point.reason for point in found.points)
    assert (found.regression, found.status) == (False, status)
    looks_slower = [point for point in found.points if point.undisturbed is Judgement.SLOWER]
    assert bool(looks_slower) == (slowdown > 1)
    assert ("Perhaps slower, but disturbed: " in found.sentence) == (slowdown > 1)


@pytest.mark.parametrize(
    ("disturbed", "verdict"),
    [("none", Judgement.SLOWER), ("*.mpich.*.bare.jsonl", Judgement.CANNOT_TELL)],
    ids=["quiet", "3 of 18"],
)
def test_where_many_points_are_disturbed_nothing_is_told_of_all_together(
    tmp_path: Path, disturbed: str, verdict: Judgement
) -> None:
    """Sessions of which no point alone is slower, but their mean is, as two of one program on a busy machine were."""
    made = {
        "mpis": {mpi: {name: USUAL[name] for name in ("bare", "idle", "adaptive")} for mpi in ("mpich", "openmpi")},
        "launch_spread": 0.016,
        "sample_spread": 0.03,
    }
    base = overlap(tmp_path / "base", **made)
    new = overlap(tmp_path / "new", seed=7, slowdown=1.035, **made)
    found = compare(base, changed_points(new, disturbed, **STOLEN))
    assert not any(point.verdict is Judgement.SLOWER for point in found.points)
    assert (found.verdict, found.regression, found.status) == (verdict, verdict is Judgement.SLOWER, 1)
    barred = "Not decided over all points: 3 of 18 were disturbed; by the others alone slower: measure again."
    assert (barred in found.sentence) is (verdict is Judgement.CANNOT_TELL)
    assert json.loads(found.json())["undisturbed"] == ("slower" if verdict is Judgement.CANNOT_TELL else None)


def test_one_disturbed_point_of_many_does_not_bar_the_others(tmp_path: Path) -> None:
    many = {"comp_over_comm": [0.1 * n for n in range(5, 15)]}
    new = overlap(tmp_path / "new", seed=2, slowdown=1.1, **many)
    for file in (new / "records").glob("*.bare.jsonl"):
        lines = file.read_text().splitlines()
        lines[1:3] = [json.dumps({**json.loads(line), **STOLEN}) for line in lines[1:3]]
        file.write_text("\n".join(lines) + "\n")
    found = compare(overlap(tmp_path / "base", **many), new)
    assert sum(point.undisturbed is not None for point in found.points) == 1
    assert found.verdict is Judgement.SLOWER
    assert "Over all 19 points" in found.sentence


def test_launches_that_did_not_converge_are_counted_in_every_verdict(tmp_path: Path) -> None:
    base = overlap(tmp_path / "base")
    new = changed_points(overlap(tmp_path / "new", seed=2, slowdown=1.1), converged=False)
    found = compare(base, new)
    assert found.verdict is Judgement.SLOWER
    assert all("not converged in 6 of 6 launches of NEW" in point.reason for point in found.points)
    assert "not converged in 6 of 6 launches of NEW" in found.markdown()


def declared(folder: Path, quantities: dict[str, Any], values: dict[str, float], seed: int) -> Path:
    """A session of six launches, whose headers say what `values` are."""
    rng = np.random.default_rng(seed)
    empty_session(folder, machine=MACHINE)
    for launch in range(6):
        samples = {name: (value * rng.lognormal(0, 0.004, 20)).tolist() for name, value in values.items()}
        line = {"point": {"size_bytes": 8}, "samples": samples}
        write_launch(folder, "colours", "bare", f"bare.{launch}", [line], quantities=quantities)
    return folder


RATE = {"unit": "1/s", "better": "higher", "leading": True}
COST = {"unit": "s", "better": "lower", "leading": False}


def test_a_point_is_judged_by_what_its_records_declare(tmp_path: Path) -> None:
    quantities = {"elapsed_s": COST, "colours_per_s": RATE}
    base = declared(tmp_path / "base", quantities, {"elapsed_s": 1.0, "colours_per_s": 50.0}, 1)
    (point,) = compare(
        base, declared(tmp_path / "less", quantities, {"elapsed_s": 1.0, "colours_per_s": 40.0}, 2)
    ).points
    assert (point.quantity, point.verdict) == ("colours_per_s", Judgement.SLOWER)
    (point,) = compare(
        base, declared(tmp_path / "more", quantities, {"elapsed_s": 2.0, "colours_per_s": 60.0}, 3)
    ).points
    assert point.verdict is Judgement.FASTER


def test_what_is_neither_better_nor_worse_and_what_is_zero_judges_nothing(tmp_path: Path) -> None:
    quantities = {"hue": {**RATE, "better": "neither"}, "colours_per_s": RATE | {"leading": False}, "elapsed_s": COST}
    values = {"hue": 1.0, "colours_per_s": 0.0, "elapsed_s": 1.0}
    base, new = (declared(tmp_path / name, quantities, values, seed) for seed, name in enumerate(("base", "new")))
    (point,) = compare(base, new).points
    assert (point.quantity, point.verdict) == ("elapsed_s", Judgement.SAME)


def test_a_session_that_declares_nothing_is_compared_with_one_that_does(tmp_path: Path) -> None:
    values = {"elapsed_s": 1.0, "latency_s": 1e-5}
    old = declared(tmp_path / "old", {}, values, 1)
    new = declared(tmp_path / "new", {"elapsed_s": COST, "latency_s": COST | {"leading": True}}, values, 2)
    assert [point.quantity for point in compare(old, new).points] == ["latency_s"]
    assert [point.quantity for point in compare(old, old_again(old, tmp_path)).points] == ["elapsed_s"]


def old_again(session: Path, folder: Path) -> Path:
    return Path(shutil.copytree(session, folder / "again"))
