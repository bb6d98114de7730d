# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of made-up processes become a table with what can be won at most, worst first."""

from __future__ import annotations

import json
import random
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any
from xml.etree import ElementTree

import pytest

from analysis import where
from analysis.errors import UsageError
from analysis.partner_waits import Computation
from analysis.report.where_page import RANKS, page, timeline

LINES = {("/app", 16): "halo() app.c:7", ("/app", 32): "halo() app.c:9", ("/app", 48): "main() app.c:20"}


def named(addresses: Iterable[where.Address]) -> dict[where.Address, str]:
    return {address: LINES[address] for address in addresses if address in LINES}


def site(call: str, offset: int) -> dict[str, Any]:
    return {"call": call, "file": "/app", "offset": offset, "symbol": "halo"}


def operation(computed: float, waited: float, winnable: float, **changed: Any) -> dict[str, Any]:
    row = {
        "start": site("MPI_Irecv", 16), "completion": site("MPI_Waitall", 32), "count": 10, "bytes": 10 << 22,
        "inside_s": 0.001, "computed_s": computed, "waited_s": waited, "winnable_s": winnable, "then_computed_s": 0.0,
    }  # fmt: skip
    return row | changed


def blocking(inside: float, then: float) -> dict[str, Any]:
    start = site("MPI_Allreduce", 48)
    return operation(0, 0, 0, start=start, completion=None, bytes=80, inside_s=inside, then_computed_s=then)


def written(folder: Path, rank: int, inside: float, *operations: dict[str, Any], **changed: Any) -> None:
    profile = {"version": where.VERSION, "rank": rank, "world_size": 2, "host": "h", "elapsed_s": 10.0,
               "inside_s": inside, "operations": list(operations), "began_ns": 0, "pace": 1.0,
               "clock_error_ns": None, "numbers_receives": True, "streams": [], "waits": []} | changed  # fmt: skip
    (folder / f"profile.h.{100 + rank}.json").write_text(json.dumps(profile))


def test_the_rank_that_could_win_most_speaks_for_a_site_and_for_the_program(tmp_path: Path) -> None:
    written(tmp_path, 1, 5.0, operation(4.0, 3.0, 3.0), blocking(0.1, 0.05))
    written(tmp_path, 0, 2.0, operation(4.0, 1.0, 1.0), blocking(0.2, 0.3))
    found = where.read(tmp_path, named)
    assert [rank.rank for rank in found.ranks] == [0, 1]
    (row,) = found.rows
    assert (row.rank, row.winnable_s, row.each) == (1, 3.0, "10 x 4 MB")
    assert replace(row, count=3, bytes=1000).each == "3 x 333 B"
    assert (str(row.start), str(row.completion)) == ("MPI_Irecv halo() app.c:7", "MPI_Waitall halo() app.c:9")
    (block,) = found.blocking
    assert (block.rank, block.cure) == (0, "a nonblocking call")
    said = where.document(found)
    assert said.startswith(
        "At most 3 s of 10 s (30 %, rank 1) can be won by progress, nine tenths of it at 1 call site: "
        "MPI_Waitall halo() app.c:9."
    )
    assert (
        "| 3 s | MPI_Irecv halo() app.c:7 | MPI_Waitall halo() app.c:9 | 10 x 4 MB | 4 s | 3 s | 0 | progress | 1 |"
        in said
    )
    assert "| 200 ms | 0 | MPI_Allreduce main() app.c:20 | 10 x 8 B | 200 ms | 0 |" in said


def test_a_setting_of_the_mpis_own_is_named_first(tmp_path: Path) -> None:
    """Open MPI's eager limit, for messages of 64 KB to 1 MB between nodes over TCP, and for nothing else."""
    setting = "OMPI_MCA_btl_tcp_eager_limit"

    def said(size: int, transport: str | None = "ob1, tcp", other_host: str = "h2") -> str:
        row = operation(4.0, 3.0, 3.0, bytes=10 * size)
        changed = {"transport": transport} if transport is not None else {}
        written(tmp_path, 0, 2.0, row, operation(1.0, 1.0, 1.0), **changed)
        written(tmp_path, 1, 2.0, row, host=other_host, **changed)
        return where.sentence(where.read(tmp_path, named))

    assert said(256 << 10).endswith(f"with {setting}=524288: try that first, without an engine.")
    assert f"{setting}=131072:" in said(64 << 10)
    assert f"{setting}=2097152:" in said(1 << 20)
    for nothing in (
        said(32 << 10),
        said(4 << 20),
        said(256 << 10, "ucx, tcp"),
        said(256 << 10, "ob1, /dev/infiniband/uverbs0, tcp"),
        said(256 << 10, other_host="h"),
        said(256 << 10, None),
    ):
        assert setting not in nothing


def test_efficiencies_are_those_of_pop_by_hand(tmp_path: Path) -> None:
    written(tmp_path, 0, 2.0)
    written(tmp_path, 1, 6.0)
    assert where.read(tmp_path, named).efficiencies() == pytest.approx(
        {"parallel efficiency": 0.6, "load balance": 0.75, "communication efficiency": 0.8}
    )


def test_who_waits_at_once_is_told_to_start_earlier(tmp_path: Path) -> None:
    written(tmp_path, 0, 3.0, operation(0.01, 3.0, 0.01))
    found = where.read(tmp_path, named)
    assert found.rows[0].cure == "start it earlier, or wait later"
    assert "an engine is not worth having here" in where.sentence(found)


MS = 1_000_000
THREAD = 0x7F00_0000_1000
SIZE = {"tag": 7, "size": 2}


def stream(peer: int, sends: bool, *starts_ms: int, waits_ms: tuple[int, ...] | None = None) -> dict[str, Any]:
    """Its calls block, unless it is said when it waited for them."""
    waits = starts_ms if waits_ms is None else waits_ms
    at = {"starts": [start * MS for start in starts_ms], "completing": [wait * MS for wait in waits]}
    return {"peer": peer, "sends": sends, **SIZE, **at}


def wait(
    number: int, begin: int, time: int, computed: int, call: int = 1, share: int | None = None, outside: int = 100
) -> list[int]:
    """[row, stream, number, call, begin, time, share, computed, thread, outside], times in ms."""
    times = (begin, time, time if share is None else share, computed)
    return [0, 0, number, call, *(one * MS for one in times), THREAD, outside * MS]


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


def lines_to_read(folder: Path, ranks: int) -> int:
    """Lines of Python that run while it is read: unlike seconds, the same beside other work."""
    folder.mkdir()
    starts = range(50)
    for rank in range(ranks):
        streams = [stream((rank + way) % ranks, sends, *starts, waits_ms=tuple(starts))
                   for way in (-1, 1) for sends in (True, False)]  # fmt: skip
        waits = [[0, at % 4, at // 4, at, at * MS, MS, MS, MS, THREAD, at * MS] for at in range(100)]
        written(folder, rank, 1.0, operation(1, 1, 1), streams=streams, waits=waits)
    run = 0

    def count(_frame: FrameType, event: str, _value: object) -> Any:
        nonlocal run
        run += event == "line"
        return count

    before = sys.gettrace()
    sys.settrace(count)
    try:
        assert len(where.read(folder, named).ranks) == ranks
    finally:
        sys.settrace(before)
    return run


def test_reading_takes_as_long_as_there_are_ranks(tmp_path: Path) -> None:
    """Not longer for each."""
    some, many = (lines_to_read(tmp_path / str(ranks), ranks) for ranks in (10, 80))
    assert many < 1.25 * 8 * some


def test_what_nobody_can_name_has_its_file_and_offset(tmp_path: Path) -> None:
    nameless = {**site("MPI_Isend", 64), "symbol": None}
    written(tmp_path, 0, 3.0, operation(1, 1, 1, start=nameless), operation(1, 1, 0.5, start=None))
    first, second = where.read(tmp_path, named).rows
    assert str(first.start) == "MPI_Isend app (app+0x40)"
    assert second.start is None
    assert "| elsewhere |" in where.document(where.read(tmp_path, named))


def test_the_same_for_a_program(tmp_path: Path) -> None:
    written(tmp_path, 0, 3.0, operation(4.0, 3.0, 3.0), blocking(0.1, 0.05))
    data = json.loads(json.dumps(where.as_json(where.read(tmp_path, named))))
    assert data["nonblocking"][0]["winnable_s"] == 3.0
    assert data["nonblocking"][0]["start"] == {"call": "MPI_Irecv", "place": "halo() app.c:7", "region": ""}
    assert data["blocking"][0]["inside_s"] == 0.1
    assert data["ranks"][0]["winnable_s"] == 3.0


def test_the_timeline_has_each_wait_once_and_what_was_pending(tmp_path: Path) -> None:
    """In microseconds from the beginning of the first process: a call that completes two operations is one event."""
    row = operation(0.1, 0.06, 0.06)
    waits = [wait(0, 100, 60, 100, share=30), wait(1, 100, 60, 100, share=30)]
    receives = stream(0, False, 0, 0, waits_ms=(100, 100))
    written(tmp_path, 1, 0.1, row, streams=[receives], waits=waits, began_ns=3 * MS)
    written(tmp_path, 0, 0.1, streams=[stream(1, True, 10)], began_ns=1 * MS)
    found = where.read(tmp_path, named)
    events = timeline(found.profiles, found.names)["traceEvents"]
    (one,) = [event for event in events if event["ph"] == "X"]
    assert one["name"] == "MPI_Waitall halo() app.c:9"
    assert (one["pid"], one["ts"], one["dur"]) == (1, pytest.approx(102_000), pytest.approx(60_000))
    pending = [(event["ph"], event["ts"]) for event in events if event.get("cat") == "pending"]
    assert pending == [("b", pytest.approx(2_000)), ("e", pytest.approx(102_000))] * 2
    assert all(event["name"] == "from 0, tag 7" for event in events if event.get("cat") == "pending")


def test_the_page_has_the_answer_a_bar_a_rank_and_its_waits(tmp_path: Path) -> None:
    """In tenths of a per cent of the longest rank's time: rank 0 computed for 6 s of 10, waited 3 s that progress could
    win, and was 1 s in MPI besides."""
    row = operation(4.0, 3.0, 3.0)
    received = stream(1, False, 0, 0, waits_ms=(5000, 5000))
    written(tmp_path, 0, 4.0, row, streams=[received], waits=[wait(at, 5000, 3000, 4000, share=1500) for at in (0, 1)])
    written(tmp_path, 1, 1.0)
    made = page(where.read(tmp_path, named))
    tree = ElementTree.fromstring(made.partition("</head>")[2].removesuffix("</html>\n").removesuffix("</html>"))
    pictures = [svg for svg in tree.iter("svg") if svg.get("viewBox")]
    sums, waits = ([group.findall("rect") for group in svg.iter("g")] for svg in pictures)
    assert [(rect.get("class"), rect.get("x"), rect.get("width")) for rect in sums[0][1:]] == [
        ("computing", "0.0", "600.0"), ("winnable", "600.0", "300.0"), ("other", "900.0", "100.0")
    ]  # fmt: skip
    waited = waits[0][1]
    assert len(waits[1]) == 1, "rank 1 has only the bar's ground"
    assert (waited.get("x"), waited.get("width")) == ("500.0", "300.0")
    assert waited.findtext("title") == "MPI_Waitall halo() app.c:9: 3 s"
    assert "At most 3 s of 10 s (30 %, rank 0) can be won by progress" in made
    assert tree.findall(".//table/tbody/tr/td")[0].text == "3 s"
    assert "http" not in made, "it needs no other file"
    assert 'id="answer"' in made, "of which the documentation has a picture"


def test_the_page_compares_no_clocks_of_two_machines(tmp_path: Path) -> None:
    for rank, began_s in ((0, 0), (1, 3600)):
        row, received = operation(4.0, 3.0, 3.0), stream(1 - rank, False, 0, waits_ms=(5000,))
        at = {"host": f"h{rank}", "began_ns": began_s * 1000 * MS}
        written(tmp_path, rank, 4.0, row, streams=[received], waits=[wait(0, 5000, 3000, 4000)], **at)
    made = page(where.read(tmp_path, named))
    assert made.count('<rect class="wait" x="500.0"') == 2


def test_a_large_run_has_the_ranks_that_could_win_most(tmp_path: Path) -> None:
    for rank in range(RANKS + 5):
        written(tmp_path, rank, 1.0 + rank, operation(1.0 + rank, 1.0 + rank, 1.0 + rank), elapsed_s=100.0)
    made = page(where.read(tmp_path, named))
    assert ">rank 36<" in made and ">rank 4<" not in made
    assert "5 more ranks could win less; they are not drawn." in made


def test_a_long_table_is_cut_and_says_so(tmp_path: Path) -> None:
    many = [operation(1, 1, 1, start=site("MPI_Isend", 1000 + at)) for at in range(where.SHOWN + 3)]
    written(tmp_path, 0, 3.0, *many)
    said = where.document(where.read(tmp_path, named))
    assert said.count("| MPI_Isend ") == where.SHOWN
    assert "\n3 more." in said


def test_profiles_of_two_runs_are_not_mixed(tmp_path: Path) -> None:
    written(tmp_path, 0, 1.0)
    (tmp_path / "profile.h.100.json").rename(tmp_path / "profile.h.7.json")
    written(tmp_path, 0, 1.0)
    with pytest.raises(UsageError, match="several runs"):
        where.read(tmp_path, named)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [(None, "holds no profile"), ("{", "damaged"), ("[]", "damaged"),
     (json.dumps({"version": where.VERSION}), "damaged"),
     ('{"version": 99}', "is of version 99; this reads version 4")],
)  # fmt: skip
def test_what_is_no_profile_is_a_sentence(tmp_path: Path, text: str | None, sentence: str) -> None:
    if text is not None:
        (tmp_path / "profile.h.1.json").write_text(text)
    with pytest.raises(UsageError, match=sentence):
        where.read(tmp_path, named)
