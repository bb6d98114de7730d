# SPDX-License-Identifier: BSD-3-Clause
"""Of a wait only that could be won which one of its two processes computed, for once, while both had called."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from analysis import where
from analysis.partner_waits import Computation
from analysis.tests.test_where import MS, named, operation, stream, wait, written


@pytest.mark.parametrize(
    ("send_ms", "late_s", "winnable_s", "cure"),
    [
        (0, 0.0, 0.06, "progress"),  # both had begun: all that was computed could have moved it
        (150, 0.05, 0.0, "its partner is late: balance the load"),  # begun while the receiver waited already
        (70, 0.0, 0.03, "progress"),  # 30 ms of the computation came after it had begun
    ],
)
def test_a_late_partner_is_told_from_a_message_that_nobody_moved(
    tmp_path: Path, send_ms: int, late_s: float, winnable_s: float, cure: str
) -> None:
    """Rank 1 receives from 0 ms, computes until 100, waits until 160. The processes began at different times."""
    written(tmp_path, 0, 0.1, streams=[stream(1, True, send_ms + 1000)], began_ns=0)
    row = operation(0.1, 0.06, 0.06, count=1)
    written(tmp_path, 1, 0.1, row, streams=[stream(0, False, 0)], waits=[wait(0, 100, 60, 100)], began_ns=1000 * MS)
    found = where.read(tmp_path, named)
    (row_,) = found.rows
    assert (row_.late_s, row_.winnable_s) == pytest.approx((late_s, winnable_s))
    assert row_.cure == cure
    assert found.known == 1.0


def test_a_call_that_waits_for_several_waits_for_the_latest_partner(tmp_path: Path) -> None:
    """Two receives in one call of 60 ms: one partner had begun long before, the other one 20 ms before its end."""
    written(tmp_path, 0, 0.1, streams=[stream(1, True, 0, 140)])
    row = operation(0.2, 0.06, 0.06)
    waits = [wait(0, 100, 60, 100, share=30), wait(1, 100, 60, 100, share=30)]
    written(tmp_path, 1, 0.1, row, streams=[stream(0, False, 0, 0)], waits=waits)
    (found,) = where.read(tmp_path, named).rows
    assert found.late_s == pytest.approx(0.04)
    assert found.winnable_s == pytest.approx(0.02)


@pytest.mark.parametrize(
    ("computed_ms", "winnable_s"),
    [
        ((60, 60), 0.06),  # two messages that are waited for one after the other behind one computation
        ((60, 30), 0.06),  # the second was started in the middle of it: the first one takes what came before
        ((30, 60), 0.06),
        ((60, 0), 0.05),
        ((20, 60), 0.06),
        ((20, 20), 0.02),
    ],
)
def test_what_was_computed_hides_one_wait_alone(
    tmp_path: Path, computed_ms: tuple[int, int], winnable_s: float
) -> None:
    """Rank 1 computes until 60 ms, and waits twice for 50 ms; its partner waited all the time."""
    written(tmp_path, 0, 0.2, streams=[stream(1, True, 0, 0)])
    alone = sum(min(50, computed) for computed in computed_ms)  # as the profiler says
    row = operation(0.12, 0.1, alone / 1000, count=2)
    starts = [60 - computed for computed in computed_ms]
    waits = [wait(at, 60 + 50 * at, 50, computed_ms[at], call=at, outside=60) for at in (0, 1)]
    written(tmp_path, 1, 0.2, row, streams=[stream(0, False, *starts)], waits=waits)
    (found,) = where.read(tmp_path, named).rows
    assert found.winnable_s == pytest.approx(winnable_s)


def most_hidden(waits: list[tuple[int, int, int]]) -> int:
    """One unit of computation after the other hides one of the wait that must end first (EDF, which is optimal)."""
    left, hidden = [most for _, _, most in waits], 0
    for time in range(max(end for _, end, _ in waits)):
        open_ = [at for at, (begin, end, _) in enumerate(waits) if begin <= time < end and left[at]]
        if open_:
            left[min(open_, key=lambda at: waits[at][1])] -= 1
            hidden += 1
    return hidden


def test_no_division_of_a_computation_hides_more_than_the_one_that_is_made() -> None:
    chance = random.Random(1)
    for _ in range(2000):
        windows = [(begin, begin + chance.randint(1, 8)) for begin in chance.choices(range(12), k=chance.randint(1, 6))]
        waits = [(begin, end, chance.randint(1, end - begin)) for begin, end in sorted(windows, key=lambda one: one[1])]
        computation = Computation()
        assert sum(computation.take(*wait_) for wait_ in waits) == most_hidden(waits), waits


@pytest.mark.parametrize("blocks", [False, True])
def test_what_the_partner_computed_counts_too(tmp_path: Path, blocks: bool) -> None:
    """Rank 1 waits at once, for 60 ms; rank 0 sends at 10 ms, and computes until 50 before it waits for its send."""
    written(tmp_path, 0, 0.1, streams=[stream(1, True, 10, waits_ms=(50,))])
    changed = {"completion": None, "inside_s": 0.06, "waited_s": 0.0, "winnable_s": 0.0} if blocks else {}
    row = operation(0.0, 0.06, 0.0, count=1) | changed
    written(tmp_path, 1, 0.1, row, streams=[stream(0, False, 0)], waits=[wait(0, 0, 60, 0)])
    found = where.read(tmp_path, named)
    assert (found.rows[0].late_s, found.rows[0].winnable_s) == pytest.approx((0.01, 0.04))
    assert found.rows[0].cure == "progress of its partner"
    assert found.blocking == []


@pytest.mark.parametrize(("others_ms", "winnable_s"), [((20, 15), 0.025), ((0, 30), 0.02), ((45, 40), 0.035)])
def test_a_partner_that_waits_for_something_else_does_not_compute(
    tmp_path: Path, others_ms: tuple[int, int], winnable_s: float
) -> None:
    """As above; meanwhile rank 0 was in another call that waited, from so many ms on for so long."""
    elsewhere = wait(0, *others_ms, 0)
    elsewhere[1] = -1
    written(tmp_path, 0, 0.1, operation(0, 0, 0), streams=[stream(1, True, 10, waits_ms=(50,))], waits=[elsewhere] * 2)
    row = operation(0.0, 0.06, 0.0, count=1)
    written(tmp_path, 1, 0.1, row, streams=[stream(0, False, 0)], waits=[wait(0, 0, 60, 0)])
    found = {row.rank: row for row in where.read(tmp_path, named).every}
    assert found[1].winnable_s == pytest.approx(winnable_s)


def collective(function: str, start_ms: int, waits_ms: int, size: int = 2) -> dict[str, Any]:
    at = {"starts": [start_ms * MS], "completing": [waits_ms * MS]}
    return {"collective": function, "group": 2**63, "size": size, **at}


@pytest.mark.parametrize(
    ("function", "start_ms", "waits_ms", "late_s", "winnable_s"),
    [
        ("MPI_Iallreduce", 0, 40, 0.0, 0.06),  # the 100 ms that this rank computed could have moved it
        ("MPI_Iallreduce", 90, 100, 0.0, 0.01),  # both had begun for 10 ms of them alone
        ("MPI_Iallreduce", 120, 150, 0.02, 0.03),  # and 30 of the other one's
        ("MPI_Ialltoallv_c", 130, 130, 0.03, 0.0),
        ("MPI_Reduce_scatter_block_init", 170, 170, 0.06, 0.0),
        ("MPI_Ibcast", 120, 150, 0.0, 0.06),  # whom of them it waits for depends on its algorithm
    ],
)
def test_a_collective_operation_waits_for_the_last_to_call_it(
    tmp_path: Path, function: str, start_ms: int, waits_ms: int, late_s: float, winnable_s: float
) -> None:
    """Rank 1 starts it at 0 ms, computes until 100, waits until 160; rank 2 was there from the beginning."""
    row = operation(0.1, 0.06, 0.06, count=1)
    written(tmp_path, 0, 0.1, streams=[collective(function, start_ms, waits_ms, 3)])
    written(tmp_path, 1, 0.1, row, streams=[collective(function, 0, 100, 3)], waits=[wait(0, 100, 60, 100)])
    written(tmp_path, 2, 0.1, streams=[collective(function, 0, 0, 3)])
    found = where.read(tmp_path, named)
    assert (found.rows[0].late_s, found.rows[0].winnable_s) == pytest.approx((late_s, winnable_s))
    assert found.known == 1.0


@pytest.mark.parametrize(
    "changed",
    [
        {"numbers_receives": False},
        {"streams": [stream(3, False, 0)]},
        {"streams": [collective("MPI_Ibarrier", 0, 100)]},  # of which the other process says nothing
    ],
)
def test_whose_partner_is_not_known_could_win_all_of_its_wait(tmp_path: Path, changed: dict[str, Any]) -> None:
    written(tmp_path, 0, 0.1, streams=[stream(1, True, 150)])
    row = operation(0.01, 0.06, 0.01, count=1)
    written(tmp_path, 1, 0.1, row, **({"streams": [stream(0, False, 0)], "waits": [wait(0, 100, 60, 10)]} | changed))
    found = where.read(tmp_path, named)
    assert (found.rows[0].late_s, found.known) == (0.0, 0.0)
    assert found.rows[0].winnable_s == pytest.approx(0.06)
    assert where.sentence(found).endswith(" It is not known what the partners did meanwhile: all that was waited is in "
                                          "the bound.")  # fmt: skip
    assert "began late" not in where.sentence(found)


def test_of_what_was_waited_the_share_is_told_whose_partners_are_not_known(tmp_path: Path) -> None:
    written(tmp_path, 0, 0.1, streams=[stream(1, True, 0)])
    known = wait(0, 100, 60, 100, share=30)
    waits = [known, [known[0], 1, *known[2:]]]
    written(
        tmp_path, 1, 0.1, operation(0.2, 0.06, 0.06), streams=[stream(0, False, 0), stream(3, False, 0)], waits=waits
    )
    assert "Next to nothing was waited for partners that began late. Of 50 % of what was waited it is not known" in (
        where.sentence(where.read(tmp_path, named))
    )


def test_clocks_that_were_compared_are_one_clock(tmp_path: Path) -> None:
    """Rank 1's is behind, and loses a thousandth: it receives from 0 ms on, computes until 100, waits until 160."""
    written(tmp_path, 0, 0.1, streams=[stream(1, True, 2150)], host="a", clock_error_ns=0)
    row = operation(0.1, 0.06, 0.06, count=1)
    apart = {"began_ns": -8 * MS, "pace": 1.001, "host": "b", "clock_error_ns": 40_000}
    streams, waits = [stream(0, False, 2000)], [wait(0, 2100, 60, 100)]
    written(tmp_path, 1, 0.1, row, streams=streams, waits=waits, **apart)
    found = where.read(tmp_path, named)
    assert found.rows[0].late_s == pytest.approx((2150 + 8 - 1.001 * 2100) / 1000)
    assert "The clocks of 2 machines were compared, to 40 µs." in where.sentence(found)
    written(tmp_path, 1, 0.1, row, streams=streams, waits=waits, **apart | {"clock_error_ns": None})
    assert "were not compared: they are taken as they are set" in where.sentence(where.read(tmp_path, named))
