# SPDX-License-Identifier: BSD-3-Clause
"""A launch that was not what it says is found out, whatever was wrong with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from harness.job.plan import Arm, Launch, Plan
from harness.job.records import RecordFile
from harness.job.verify import engine_of, problems
from harness.tests.conftest import good_record, on_another_platform

BARE = Launch("l.bare", "bare", 0, 0)
ADAPTIVE = Launch("l.adaptive", "adaptive:burst=4", 0, 1)
OFF = Launch("l.off", "off", 0, 1)


def _record(change: Callable[[RecordFile], object], launch: Launch = BARE) -> RecordFile:
    record = good_record(launch)
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
    ("setting", ADAPTIVE, lambda r: _end_rank(r)["engine"]["settings"].update(burst=5), "burst=5 instead of burst=4"),  # type: ignore[index]
    ("no settings", ADAPTIVE, lambda r: _end_rank(r)["engine"].pop("settings"), "burst= instead of burst=4"),  # type: ignore[attr-defined]
    ("nothing written", BARE, lambda r: setattr(r, "header", None), "wrote nothing"),
]


@pytest.mark.parametrize(("name", "launch", "change", "words"), WRONG, ids=[case[0] for case in WRONG])
def test_each_kind_of_wrong_launch_is_found(
    plan: Plan, name: str, launch: Launch, change: Callable[[RecordFile], object], words: str
) -> None:
    found = problems(plan, launch, _record(change, launch))
    assert len(found) == 1, name
    assert words in found[0]


def test_what_looks_wrong_and_is_meant_so_is_no_problem(plan: Plan) -> None:
    """CPUs are counted a host, unless the nodes share a kernel; unbound ranks may share a set that is large enough."""
    off = _record(lambda r: [e.update(engine={"preset": "off", "active": False}) for e in r.end["ranks"]])  # type: ignore[index]
    assert problems(plan, OFF, off) == []
    same = _record(lambda r: _header(r)["ranks"][1].update(cpus_allowed=[0]))  # type: ignore[index]
    assert problems(on_another_platform(plan, cpus_shared=False), BARE, same) == []
    assert problems(on_another_platform(plan, cpus_too_few="4 nodes on 2 CPUs"), BARE, same) == []
    unbound = _record(lambda r: [rank.update(cpus_allowed=[0, 1]) for rank in _header(r)["ranks"]])  # type: ignore[attr-defined]
    assert problems(plan, BARE, unbound) == []


def test_a_setting_is_the_same_in_other_words() -> None:
    told = {"preset": "adaptive", "active": True, "settings": {"burst": 4, "pcontrol": True, "wait": "futex"}}
    assert engine_of(0, "adaptive:burst=7:burst=004:pcontrol=1:wait=futex", told) is None
    assert engine_of(0, "adaptive:wait=epoll", told) == "rank 0 ran with wait=futex instead of wait=epoll"


def test_a_variable_that_a_process_did_not_see_is_found(plan: Plan) -> None:
    launch = replace(BARE, arm=Arm("new", "bare", environment={"UCX_TLS": "tcp", "LD_PRELOAD": "libx.so"}))

    def seen(*environments: dict[str, str | None] | None) -> list[str]:
        record = good_record(launch)
        for rank, environment in zip(_header(record)["ranks"], environments, strict=True):  # type: ignore[call-overload]
            rank.update({} if environment is None else {"environment": environment})
        return problems(plan, launch, record)

    good: dict[str, str | None] = {"UCX_TLS": "tcp", "LD_PRELOAD": "/opt/engine.so:libx.so"}
    assert seen(good, good) == []
    assert seen(good, good | {"UCX_TLS": None}) == ["rank 1 ran without it instead of with UCX_TLS=tcp"]
    assert seen(good | {"UCX_TLS": "sm"}, good) == ["rank 0 ran with sm instead of with UCX_TLS=tcp"]
    assert "build it anew" in seen(good, None)[0]
    assert problems(on_another_platform(plan, simulated={"model": "1"}), launch, good_record(launch)) == []
