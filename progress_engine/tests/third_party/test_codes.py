# SPDX-License-Identifier: BSD-3-Clause
"""The table of docs/measured/third-party-codes.md says what the data says, and the data what the records say."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import MPIS
from harness.job import records
from harness.job.records import RecordFile
from progress_engine.tests.third_party import codes
from progress_engine.tests.third_party.codes import DOCUMENT, ON, Launch, collect, from_record, load, missing, table
from progress_engine.tests.third_party.runs import VARIANTS, between
from workloads.apps.table import CASES


def launch(variant: str, status: str = "ok", reason: str = "", commit: str = "abc") -> Launch:
    return Launch("2026-01-01", commit, "lammps-melt", "debian-openmpi", variant, status, 1.5, reason)


def test_the_document_is_of_the_data() -> None:
    assert between(DOCUMENT) == table(load())


def test_every_case_and_variant_exists() -> None:
    assert set(ON) <= set(CASES)
    assert set(ON.values()) <= set(MPIS)
    assert set(codes.MOST_USED) < set(VARIANTS)


def test_what_hung_differed_or_was_not_run_is_said() -> None:
    found = [launch("adaptive")] * 3 + [launch("adaptive", "timeout", "did not end within 60 s")]
    text = table([*found, launch("off", "failed", "its result is not that of bare")])
    assert "| 3 same, 1 hung |" in text
    assert "| 1 **wrong** |" in text
    assert "| not run |" in text
    assert "- lammps-melt, adaptive: did not end within 60 s\n" in text
    assert "5 launches, 2026-01-01; engine: abc.\n" in text


def test_what_was_launched_with_this_engine_is_not_launched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(codes, "engine_commit", lambda: "abc")
    bare = launch("bare", commit="")
    done = [*[launch("adaptive")] * 7, *[launch("offload", commit="old")] * 20, *[launch("off")] * 5, bare]
    assert missing("lammps-melt", ["bare", "off", "adaptive", "offload", "idle"], done) == {
        4: ["bare"],
        13: ["adaptive"],
        20: ["offload"],
        5: ["idle"],
    }
    assert missing("openfoam-cavity", ["bare"], done) == {5: ["bare"]}


@pytest.mark.parametrize(
    ("status", "reason", "said"),
    [
        ("ok", "", ("ok", "")),
        ("timeout", "did not end", ("timeout", "did not end")),
        ("skipped", "none", None),
        ("failed", "not run: the batch job died", None),
        ("failed", "died", ("failed", "died")),
    ],
)
def test_a_launch_is_what_its_record_says(
    tmp_path: Path, status: str, reason: str, said: tuple[str, str] | None
) -> None:
    header = records.empty_header({"variant": "idle", "mpi": "debian-mpich"}, [], "2026-01-01")
    line: dict[str, Any] = {"point": {}, "rank": 0, "status": "ok", "samples": {"whole_s": [2.0]}}
    points = [line] if status == "ok" else [records.unmeasured({}, status, reason)]
    folder = tmp_path / "20260101-session" / "records"
    folder.mkdir(parents=True)
    (tmp_path / "latest").symlink_to(folder.parent.name)
    records.write(folder / "r.jsonl", RecordFile(header, points, {"status": status, "elapsed_s": 2.345, "ranks": []}))
    found = from_record("scalapack-lu", folder / "r.jsonl")
    assert collect("scalapack-lu", tmp_path) == ([found] if found else []), "each once"
    assert (found and (found.status, found.reason)) == said
    assert found is None or (found.variant, found.mpi, found.seconds) == ("idle", "debian-mpich", 2.35)
    (folder / "cut.jsonl").write_text((folder / "r.jsonl").read_text().splitlines()[0])
    assert from_record("scalapack-lu", folder / "cut.jsonl") is None
