# SPDX-License-Identifier: BSD-3-Clause
"""Traces of a session: where a probe goes, and what is said where there can be none."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import Failure
from harness.base.mpis import MPIS
from harness.sessions import traced

SOURCE = """
int main(void) { return 0; }
__attribute__((naked)) void computes(void) { __asm__(".byte 0x0f,0x0b,0x90,0x0f,0x0b,0x90"); }
"""


@pytest.mark.skipif(not (shutil.which("cc") and shutil.which("readelf")), reason="no compiler")
def test_a_probe_goes_where_the_function_begins_in_the_file(tmp_path: Path) -> None:
    source, program = tmp_path / "a.c", tmp_path / "a"
    source.write_text(SOURCE)
    subprocess.run(["cc", "-fcf-protection=none", "-o", program, source], check=True)
    offset = traced.offset_in_file(program, "computes")
    assert program.read_bytes()[offset:].startswith(b"\x0f\x0b\x90\x0f\x0b\x90")
    with pytest.raises(Failure, match="has no function absent"):
        traced.offset_in_file(program, "absent")


def test_who_is_not_root_is_told(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    monkeypatch.setattr("harness.setup.build.ensure", lambda *_: None)
    build = MPIS["mpich"].build_dir / "bin" / "microbench"
    monkeypatch.setattr(Path, "is_file", lambda path: path == build)
    assert traced.main(["overlap-ratio"]) == 2
    assert "run this with sudo" in capsys.readouterr().err


def test_lost_events_are_counted(tmp_path: Path) -> None:
    for cpu, missed in enumerate((3, 4)):
        (tmp_path / "per_cpu" / f"cpu{cpu}").mkdir(parents=True)
        (tmp_path / "per_cpu" / f"cpu{cpu}" / "stats").write_text(f"entries: 9\noverrun: {missed}\ncommit overrun: 0\n")
    assert traced.lost(tmp_path) == 7
