# SPDX-License-Identifier: BSD-3-Clause
"""What is said of a user's own program, on made-up records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from analysis.catalogue import draw_all
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.studies.program import document, told, unusable
from analysis.tests.synthetic import end, header, write_lines

TIMES = (10.0, 10.02, 9.99, 10.01, 9.98, 10.03)


def session(
    folder: Path,
    ratio: float,
    pending_s: float | None,
    spread: float = 0.0,
    printed: bool = False,
    reasons: dict[str, str] | None = None,
    others: Sequence[str] = (),
    status: str = "failed",
) -> Evidence:
    """Six launches of bare and adaptive, which takes `ratio` of the time, as `others` do; `reasons`: why a variant's
    failed."""
    (folder / "records").mkdir(parents=True)
    (folder / "session.json").write_text(json.dumps({"session": folder.name, "machine": {}}))
    quantity = "printed_time" if printed else "whole_s"
    for repetition, seconds in enumerate(TIMES):
        factors = dict.fromkeys(("adaptive", *others), ratio + spread * (-1) ** repetition)
        for variant, factor in {"bare": 1.0, **factors}.items():
            launch = f"own.{repetition}.{variant}"
            head = header({"study": "own-program", "system": "s", "mpi": "mpich", "variant": variant, "launch": launch})
            head["header"]["workload"] = {"name": "app", "version": None}
            head["header"]["quantities"] = {quantity: {"unit": "s", "better": "lower", "leading": True}}
            line = {"point": {}, "rank": 0, "status": "ok", "samples": {quantity: [seconds * factor]}}
            last = end(variant)
            last["end"]["elapsed_s"] = 10.0
            for rank in last["end"]["ranks"]:
                rank["engine"] = rank["engine"] and rank["engine"] | {"pending_while_computing_s": pending_s}
            if reason := (reasons or {}).get(variant):
                line |= {"status": status, "reason": reason, "samples": {}}
                last["end"] |= {"status": status, "reason": reason}
            write_lines(folder / "records" / f"{launch}.jsonl", [head, line, last])
    return Evidence(load([folder]))


def said(evidence: Evidence) -> str:
    return next(line for line in document(evidence).splitlines() if line.startswith("adaptive"))


@pytest.mark.parametrize(
    ("ratio", "pending_s", "spread", "words"),
    [
        (0.8, 2.5, 0.0, "adaptive helps (8 s instead of 10 s, 20 % shorter ("),
        (1.1, 0.0, 0.0, "adaptive costs (11 s instead of 10 s, 10 % longer ("),
        (1.0, 0.05, 0.0, "adaptive has nothing to do here: leave it off ("),
        (1.0, 2.5, 0.0, "adaptive makes no difference: leave it off ("),
        (0.994, 0.0, 0.0, "adaptive has nothing to do here: leave it off ("),
        (1.012, 2.5, 0.0, "adaptive makes no difference: leave it off ("),
        (0.988, 2.5, 0.0, "adaptive makes no difference: leave it off ("),
        (1.0, 2.5, 0.3, "adaptive may help or cost: more launches can tell ("),
        (1.0, None, 0.3, "adaptive may help or cost: more launches can tell ("),
    ],
)
def test_the_verdict(tmp_path: Path, ratio: float, pending_s: float | None, spread: float, words: str) -> None:
    sentence = said(session(tmp_path / "s", ratio, pending_s, spread))
    if spread:  # launches of two kinds: no interval holds them
        assert sentence.startswith(("adaptive cannot be judged", words))
    else:
        assert sentence.startswith(words)
    if pending_s == 2.5:
        assert "operations were pending while it computed for 2.5 s, 25.0 % of the whole time" in sentence
    if pending_s is None:
        assert "what was pending while it computed is not known" in sentence


def test_the_intervals_of_several_variants_hold_at_the_same_time(tmp_path: Path) -> None:
    """Of seven one would look better by chance each sixth time."""
    ((_, (alone,)),) = told(session(tmp_path / "alone", 0.998, 2.5))
    ((_, several),) = told(session(tmp_path / "several", 0.998, 2.5, others=("thread", "timer", "idle", "offload")))
    assert len(several) == 5
    assert alone.cell.ratio is not None
    for one in several:
        assert one.cell.ratio is not None
        assert one.cell.ratio.low < alone.cell.ratio.low < alone.cell.ratio.high < one.cell.ratio.high
        assert "simultaneous over 5 points" in one.cell.ratio.kind


def test_sequences_of_launches_are_all_in_the_figure_with_its_verdict(tmp_path: Path) -> None:
    (drawn,) = draw_all(session(tmp_path / "s", 0.8, 2.5), "")
    assert drawn.name == "own_program"
    assert list(drawn.points["label"]) == ["app"]
    assert drawn.points["value"][0] == pytest.approx(0.8)
    assert drawn.found.startswith("adaptive helps (8 s instead of 10 s")


def test_a_time_that_the_program_prints_has_no_unit_of_ours(tmp_path: Path) -> None:
    text = document(session(tmp_path / "s", 0.8, 2.5, printed=True))
    assert "| variant | the time that it prints |" in text
    assert "adaptive helps (8.004 instead of 10" in text


@pytest.mark.parametrize("failed", [("bare",), ("bare", "adaptive"), ("adaptive",)])
def test_without_bare_there_is_nothing_to_compare_with(tmp_path: Path, failed: Sequence[str]) -> None:
    evidence = session(tmp_path / "s", 0.8, 2.5, reasons=dict.fromkeys(failed, "app: exit status 3; last words: no"))
    if "bare" in failed:
        assert unusable(evidence) == "app: exit status 3; last words: no"
        assert draw_all(evidence, "") == []
    else:
        assert unusable(evidence) == ""
        assert said(evidence) == "adaptive: rejected, failed: app: exit status 3; last words: no."


def test_a_variant_that_this_mpi_does_not_have_is_not_called_rejected(tmp_path: Path) -> None:
    evidence = session(tmp_path / "s", 0.8, 2.5, reasons={"adaptive": "it has no thread of its own"}, status="skipped")
    assert said(evidence) == "adaptive: skipped: it has no thread of its own."
