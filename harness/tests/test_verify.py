# SPDX-License-Identifier: BSD-3-Clause
"""A launch that was not what it says is found out, whatever was wrong with it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from harness.job.plan import Launch, Plan
from harness.job.records import RecordFile
from harness.job.verify import problems
from harness.tests.conftest import good_record, on_another_platform

BARE = Launch("l.bare", "bare", 0, 0)
ADAPTIVE = Launch("l.adaptive", "adaptive:burst=4", 0, 1)
OFF = Launch("l.off", "off", 0, 1)


def _record(change: Callable[[RecordFile], object], launch: Launch = BARE) -> RecordFile:
    record = good_record(Launch(launch.identity, launch.variant.partition(":")[0], 0, 0))
    change(record)
    return record


def _end_rank(record: RecordFile) -> dict[str, object]:
    assert record.end is not None
    rank: dict[str, object] = record.end["ranks"][1]
    return rank


def _header(record: RecordFile) -> dict[str, object]:
    assert record.header is not None
    return record.header


def test_a_good_launch_has_no_problem(plan: Plan) -> None:
    for launch in (BARE, ADAPTIVE):
        assert problems(plan, launch, _record(lambda _: None, launch)) == []


WRONG: list[tuple[str, Launch, Callable[[RecordFile], object], str]] = [
    ("singletons", BARE, lambda r: _header(r).update(world_size=1), "1 ranks instead of 2"),
    ("one host", BARE, lambda r: _header(r)["ranks"][1].update(host="vc1"), "1 hosts (vc1) instead of 2"),  # type: ignore[index]
    ("library", BARE, lambda r: _header(r).update(mpi_library="Open MPI v4"), "'Open MPI v4' answered"),
    ("binding", BARE, lambda r: _header(r)["ranks"][1].update(cpus_allowed=[0]), "wrong binding"),  # type: ignore[index]
    ("no traffic", BARE, lambda r: [e.update(interface_bytes={}) for e in r.end["ranks"]], "0 bytes crossed"),  # type: ignore[index]
    ("stray engine", BARE, lambda r: _end_rank(r).update(engine={"preset": "idle"}), "had the engine loaded"),
    ("no engine", ADAPTIVE, lambda r: _end_rank(r).update(engine=None), "without the engine"),
    ("other preset", ADAPTIVE, lambda r: _end_rank(r).update(engine={"preset": "idle"}), "idle instead of adaptive"),
    (
        "inactive",
        ADAPTIVE,
        lambda r: _end_rank(r).update(engine={"preset": "adaptive", "active": False, "reason": "level refused"}),
        "level refused",
    ),
    ("nothing written", BARE, lambda r: setattr(r, "header", None), "wrote nothing"),
]


@pytest.mark.parametrize(("name", "launch", "change", "words"), WRONG, ids=[case[0] for case in WRONG])
def test_each_kind_of_wrong_launch_is_found(
    plan: Plan, name: str, launch: Launch, change: Callable[[RecordFile], object], words: str
) -> None:
    found = problems(plan, launch, _record(change, launch))
    assert len(found) == 1, name
    assert words in found[0]


def test_off_is_meant_to_be_inactive(plan: Plan) -> None:
    record = _record(lambda r: [e.update(engine={"preset": "off", "active": False}) for e in r.end["ranks"]])  # type: ignore[index]
    assert problems(plan, OFF, record) == []


def test_binding_counts_cpus_a_host_unless_the_nodes_share_a_kernel(plan: Plan) -> None:
    record = _record(lambda r: _header(r)["ranks"][1].update(cpus_allowed=[0]))  # type: ignore[index]
    assert problems(on_another_platform(plan, cpus_shared=False), BARE, record) == []
    assert problems(on_another_platform(plan, cpus_too_few="4 nodes on 2 CPUs"), BARE, record) == []


def test_unbound_ranks_may_share_a_set_that_is_large_enough(plan: Plan) -> None:
    record = _record(lambda r: [rank.update(cpus_allowed=[0, 1]) for rank in _header(r)["ranks"]])  # type: ignore[attr-defined]
    assert problems(plan, BARE, record) == []
