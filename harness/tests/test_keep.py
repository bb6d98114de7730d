# SPDX-License-Identifier: BSD-3-Clause
"""A session that is kept is one file: with its samples, without a path of this machine, read as its folder was."""

from __future__ import annotations

import json
import lzma
import os
import tarfile
from pathlib import Path
from typing import Any

import pytest

from analysis.records.load import load
from analysis.report.report import named
from harness.base import paths
from harness.base.errors import UsageError
from harness.base.paths import ROOT
from harness.cli import main
from harness.job import session as sessions
from harness.tests.sessions import refused

DEMO = ROOT / "results" / "reference" / "demo"
LAUNCHES = ["fft.vcluster.mpich.000.bare", "nas.vcluster.mpich.000.bare"]
RECORDS = [f"records/{name}.jsonl" for name in LAUNCHES]


@pytest.fixture(autouse=True)
def _unpacked(results: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paths, "UNPACKED", results.with_name("unpacked"))


@pytest.fixture
def session(tmp_path: Path) -> Path:
    """A session with everything that a run may leave."""
    folder = tmp_path / "results" / "s"
    for name in ("records", "logs", "figures", "calibration", "nodes", "gate", "tuning", "costs"):
        (folder / name).mkdir(parents=True)
    facts = {
        "session": "s", "created": "2026-11-27T00:00:00", "state": "complete", "studies": ["fft", "nas"],
        "expected": LAUNCHES, "machine": {"build": f"{ROOT}/build/mpich", "root": str(ROOT)},
    }  # fmt: skip
    (folder / "session.json").write_text(json.dumps(facts))
    for name in RECORDS:
        (folder / name).write_text(f'{{"program": "{ROOT}/build/mpich/bin/{name}"}}\n')
    for study in ("fft", "nas"):
        for name in (f"{study}.vcluster.json", f"{study}.vcluster.mpich.calibration.jsonl"):
            (folder / "calibration" / name).write_text("{}\n")
    for name in ("gate/gate.md", "tuning/tuned-mpi.env", "costs/core.json", "report.html", "logs/a"):
        (folder / name).write_text(f"of {ROOT}/build")
    return folder


def change(session: Path, **facts: object) -> None:
    file = session / "session.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | facts))


def kept(folder: Path) -> list[str]:
    return sorted(str(file.relative_to(folder)) for file in folder.rglob("*") if file.is_file())


def test_samples_stay_and_paths_become_relative(session: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["keep", "s"]) == 0
    file = session.with_name("s.tar.xz")
    assert capsys.readouterr().out == f"{file}\n"
    folder = paths.folder_of(file)
    calibrated = [f"calibration/{study}.vcluster.json" for study in ("fft", "nas")]  # not what it was calibrated by
    theirs = [*calibrated, "costs/core.json", "gate/gate.md", *RECORDS, "session.json", "tuning/tuned-mpi.env"]
    assert kept(folder) == theirs
    assert json.loads((folder / "session.json").read_text())["machine"] == {"build": "build/mpich", "root": "."}
    assert not any(str(ROOT) in (folder / name).read_text() for name in theirs)


def test_the_same_session_makes_the_same_file(session: Path, tmp_path: Path) -> None:
    for name in ("a", "b"):
        assert main(["keep", "s", "--out", str(tmp_path / name / "s.tar.xz")]) == 0
        os.utime(session / RECORDS[0], (0, 0))
    assert (tmp_path / "a/s.tar.xz").read_bytes() == (tmp_path / "b/s.tar.xz").read_bytes()


def test_points_that_failed_are_kept_only_where_that_is_asked_for(session: Path) -> None:
    change(session, state="incomplete")
    assert "is incomplete: only a complete session is kept; with points that failed, --failed" in refused("keep", "s")
    assert main(["keep", "s", "--failed"]) == 0
    assert sessions.load(str(session.with_name("s.tar.xz"))).facts.state == "incomplete"


def test_some_studies_alone(session: Path) -> None:
    assert main(["keep", "s", "--study", "nas"]) == 0
    facts = sessions.load(str(session.with_name("s.tar.xz"))).facts
    assert (facts.studies, facts.expected) == (["nas"], LAUNCHES[1:])
    left = [name for name in kept(paths.folder_of(session.with_name("s.tar.xz"))) if "fft" in name or "nas" in name]
    assert left == ["calibration/nas.vcluster.json", *RECORDS[1:]]


def test_times_have_the_clocks_digits_and_nothing_else_changes(session: Path) -> None:
    line: dict[str, Any] = {
        "point": {"size_s": 1 / 3},
        "samples": {"latency_s": [7.859999999991485e-07, 2.5e-10], "mflops": [1 / 3]},
    }
    (session / RECORDS[0]).write_text(json.dumps(line | {"noise": {"steal_s": 0.010000000000000116}}) + "\n")
    assert main(["keep", "s"]) == 0
    line["samples"]["latency_s"] = [7.86e-07, 2.5e-10]
    there = paths.folder_of(session.with_name("s.tar.xz")) / RECORDS[0]
    assert json.loads(there.read_text()) == line | {"noise": {"steal_s": 0.01}}


@pytest.mark.parametrize(
    ("facts", "arguments", "sentence"),
    [
        ({}, ("--study", "himeno"), "has no study himeno: it has fft, nas."),
        ({"state": "interrupted"}, (), "is interrupted: only a complete session is kept."),
        ({"state": "running"}, ("--failed",), "is running: only a complete session is kept."),
        ({}, ("--out", "kept.zip"), "kept.zip: a name is wanted that ends in .tar.xz."),
        ({}, ("--out", "results/there.tar.xz"), "there.tar.xz exists: remove it first, or name another file."),
        ({}, ("--out", "results/s/session.json/x.tar.xz"), "x.tar.xz cannot be written ("),
    ],
)
def test_mistakes_are_a_sentence_and_leave_nothing(
    session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, facts: Any, arguments: Any, sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    change(session, **facts)
    session.with_name("there.tar.xz").write_text("")
    before = kept(tmp_path)
    assert sentence in refused("keep", "s", *arguments)
    assert kept(tmp_path) == before


def test_a_kept_session_is_read_by_file_folder_and_name(session: Path, tmp_path: Path) -> None:
    assert main(["keep", "s"]) == 0
    moved = session.rename(tmp_path / "elsewhere")
    for name in ("s", f"{session}", f"{session}.tar.xz"):
        assert sessions.load(name).facts.expected == sessions.load(str(moved)).facts.expected == LAUNCHES
    assert len(list((tmp_path / "unpacked").iterdir())) == 1, "unpacked once"


def test_a_report_names_a_kept_session_as_its_reader_does() -> None:
    of_several = paths.sessions_of(ROOT / "results/reference/overlap")[0].name
    for name in ("results/reference/demo", f"results/reference/overlap/{of_several}"):
        assert named(str(paths.folder_of(ROOT / name))) == name
    assert named("/elsewhere/demo") == "/elsewhere/demo"


def test_in_a_clone_that_cannot_be_written_a_kept_session_is_read_too(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """/sys is nobody's, not even root's."""
    monkeypatch.setattr(paths, "UNPACKED", Path("/sys/overlap-bench/kept"))
    assert main(["keep", "s"]) == 0
    read = [paths.folder_of(session.with_name("s.tar.xz")) for _ in range(2)]
    assert read[0] == read[1] and set(RECORDS) <= set(kept(read[0]))


def test_several_in_one_file_are_all_read_or_one_by_its_name(session: Path, tmp_path: Path) -> None:
    other = session.with_name("t")
    session.with_name("t").mkdir()
    (other / "session.json").write_text((session / "session.json").read_text().replace('"s"', '"t"'))
    assert main(["keep", "s", "t", "--out", str(tmp_path / "both.tar.xz")]) == 0
    assert [one.name for one in sessions.load_all([str(tmp_path / "both")])] == ["s", "t"]
    assert [facts["session"] for facts in load([tmp_path / "both"]).sessions] == ["s", "t"]
    assert sessions.load(str(tmp_path / "both" / "t")).name == "t"
    said = refused("compare", str(tmp_path / "both"), "s")
    assert f"both holds 2 sessions: name one of them, such as {tmp_path}/both/s." in said


def test_a_file_that_is_none_is_a_sentence(tmp_path: Path) -> None:
    empty = tmp_path / "empty.tar.xz"
    empty.write_bytes(lzma.compress(b""))
    outside = tmp_path / "outside.tar.xz"
    link = tmp_path / "link.tar.xz"
    cut = tmp_path / "cut.tar.xz"
    cut.write_bytes(DEMO.with_name("demo.tar.xz").read_bytes()[:5000])
    with tarfile.open(outside, "w:xz") as tar:
        tar.addfile(tarfile.TarInfo("outside/../../x"))
    with tarfile.open(link, "w:xz") as tar:
        member = tarfile.TarInfo("link/a")
        member.type, member.linkname = tarfile.SYMTYPE, "/etc/passwd"
        tar.addfile(member)
    (tmp_path / "text.tar.xz").write_text("x")
    for name in ("empty", "outside", "link", "cut", "text"):
        with pytest.raises(UsageError, match=rf"{name}\.tar\.xz is no kept session, or damaged"):
            paths.folder_of(tmp_path / f"{name}.tar.xz")
        assert not list((tmp_path / "unpacked").iterdir()), "nothing is left of it"


def test_each_that_is_committed_says_so_of_itself() -> None:
    """At most 16, each small; what they hold has no path of the machine that measured it."""
    files = sorted((ROOT / "results" / "reference").glob(f"*{paths.SUFFIX}"))
    assert 0 < len(files) <= 16
    assert sum(file.stat().st_size for file in files) < 5e6
    text = (ROOT / "results" / "reference" / "README.md").read_text()
    assert [file.name for file in files if f"`{file.name.removesuffix(paths.SUFFIX)}`" not in text] == []
