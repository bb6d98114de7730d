# SPDX-License-Identifier: BSD-3-Clause
"""Performance variables: a name that tells points apart, and the unit that the workload declares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from harness.job.records import RecordFile, write
from reframe_checks.performance import variables

RATE = {"unit": "messages/s", "better": "higher", "leading": True}
TIME = {"unit": "s", "better": "lower", "leading": True}


def line(samples: Mapping[str, Sequence[float]], status: str = "ok", rank: int = 0, **point: Any) -> dict[str, Any]:
    reason = {} if status == "ok" else {"reason": "too late"}
    return {"point": point, "rank": rank, "status": status, "samples": dict(samples), **reason}


def record(folder: Path, variant: str, quantities: dict[str, Any], *points: dict[str, Any]) -> Path:
    """A launch's record file."""
    file = folder / f"{len(list(folder.iterdir())):03d}.jsonl"
    header = {"schema": 4, "context": {"variant": variant}, "quantities": quantities}
    write(file, RecordFile(header, list(points), {"status": "ok"}))
    return file


def test_points_that_differ_in_an_axis_of_their_own_are_apart(tmp_path: Path) -> None:
    """The axes of one point are not those of another; what follows from an intention is no axis."""
    file = record(
        tmp_path, "limit", {"total_s": TIME},
        line({"total_s": [1.0, 2.0, 9.0]}, size_bytes=8, wake_us=500, work_units=77),
        line({"total_s": [4.0]}, size_bytes=8, wake_us=2000, work_units=78),
        line({"total_s": [5.0]}, size_bytes=8),
    )  # fmt: skip
    assert variables([file]) == {
        "limit/size_bytes=8/wake_us=500": (2.0, "s"),
        "limit/size_bytes=8/wake_us=2000": (4.0, "s"),
        "limit/size_bytes=8": (5.0, "s"),
    }


def test_the_leading_quantity_is_the_one_in_its_own_unit(tmp_path: Path) -> None:
    """ReFrame cuts a name at a colon, so that a variant's settings would be lost."""
    quantities = {"messages_per_s": RATE, "elapsed_s": TIME | {"leading": False}}
    file = record(tmp_path, "idle:idle_us=10", quantities, line({"messages_per_s": [3e6], "elapsed_s": [1.0]}, n=1))
    assert variables([file]) == {"idle+idle_us=10/n=1": (3e6, "messages/s")}


def test_launches_are_one_value_and_only_what_is_good_counts(tmp_path: Path) -> None:
    slow, good = line({"total_s": [30.0] * 5}, n=1), line({"total_s": [1.0]}, n=1)
    bad = line({"total_s": [99.0]}, status="failed", n=1)
    other_side = line({"total_s": [77.0]}, rank=1, n=1)
    files = [record(tmp_path, "bare", {"total_s": TIME}, *lines) for lines in ([good], [good, other_side], [slow])]
    files.append(record(tmp_path, "bare", {"total_s": TIME}, bad))
    assert variables(files) == {"bare/n=1": (1.0, "s")}


def test_a_distribution_too_long_to_keep_has_its_median(tmp_path: Path) -> None:
    long = line({}, n=1) | {"histograms": {"latency_s": {"quantiles": {"0.5": 2e-6, "0.99": 1.0}}}}
    assert variables([record(tmp_path, "bare", {"latency_s": TIME}, long)]) == {"bare/n=1": (2e-6, "s")}
