# SPDX-License-Identifier: BSD-3-Clause
"""Keep a session in the repository, with every sample, as what a page or a notebook rests on:

    .venv/bin/python -m harness.sessions.keep results/latest results/reference/fft [--drawn] [--failed] [STUDY ...]

Copied are its facts, calibration, nodes and records, of the named studies if any are named, and what a gate, a race of
./bench tune, ./bench engine-costs or `analysis.benchmarks.beside --keep` left there; with --drawn its figures and
report, too; with --failed also a session with points that failed, where that is a finding. Paths in this checkout
become relative, so that nothing tells where it was.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from pathlib import Path

from harness.base.errors import UsageError
from harness.base.paths import ROOT

KEPT = ("session.json", "calibration", "nodes", "records", "gate", "tuning", "costs", "windows.csv")
DRAWN = ("figures", "report.html")
TEXTS = (".json", ".jsonl", ".html", ".csv", ".svg", ".md", ".txt", ".xml", ".conf", ".env", "")


def keep(session: Path, folder: Path, drawn: bool = False, studies: tuple[str, ...] = (), failed: bool = False) -> None:
    """Copy it to a new folder; UsageError where there is no whole session or the folder exists."""
    facts = session / "session.json"
    if not facts.is_file():
        raise UsageError(f"{session} is no session: it has no session.json.")
    wanted = ("complete", "incomplete") if failed else ("complete",)
    if (state := json.loads(facts.read_text())["state"]) not in wanted:
        but = "; with points that failed, --failed keeps it" if state == "incomplete" else ""
        raise UsageError(f"{session} is {state}: only a complete session is kept{but}.")
    if folder.exists():
        raise UsageError(f"{folder} exists: remove it first, or name another folder.")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as beside:
        copy = Path(beside) / folder.name
        copy.mkdir()
        for name in (*KEPT, *(DRAWN if drawn else ())):
            if (session / name).is_dir():
                shutil.copytree(session / name, copy / name)
            elif (session / name).exists():
                shutil.copy(session / name, copy / name)
        if studies:
            _only(copy, studies)
        for file in copy.rglob("*"):
            if file.is_file() and file.suffix in TEXTS:
                file.write_text(file.read_text().replace(f"{ROOT}/", "").replace(str(ROOT), "."))
        copy.rename(folder)


def _only(copy: Path, studies: tuple[str, ...]) -> None:
    """Leave these studies' launches alone: their names begin with the study's."""
    facts = json.loads((copy / "session.json").read_text())
    if unknown := set(studies) - set(facts["studies"]):
        raise UsageError(
            f"The session has no study {', '.join(sorted(unknown))}: it has {', '.join(facts['studies'])}."
        )
    for record in (copy / "records").iterdir():
        if record.name.partition(".")[0] not in studies:
            record.unlink()
    facts["studies"] = [name for name in facts["studies"] if name in studies]
    facts["expected"] = [name for name in facts["expected"] if name.partition(".")[0] in studies]
    (copy / "session.json").write_text(json.dumps(facts, indent=1) + "\n")


def main(arguments: list[str]) -> int:
    """Status 2 where what was asked for cannot be."""
    parser = argparse.ArgumentParser(description="Keep a session in the repository.")
    parser.add_argument("session", type=Path, metavar="SESSION")
    parser.add_argument("folder", type=Path, metavar="FOLDER", help="a new one")
    parser.add_argument("studies", nargs="*", metavar="STUDY", help="these only")
    parser.add_argument("--drawn", action="store_true", help="with its figures and its report")
    parser.add_argument("--failed", action="store_true", help="though points failed")
    asked = parser.parse_args(arguments)
    try:
        keep(asked.session.resolve(), asked.folder, asked.drawn, tuple(asked.studies), asked.failed)
    except UsageError as error:
        print(f"keep: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
