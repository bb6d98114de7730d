# SPDX-License-Identifier: BSD-3-Clause
"""Profiles of made-up processes become a table with what can be won at most, worst first."""

from __future__ import annotations

import json
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
