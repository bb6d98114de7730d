# SPDX-License-Identifier: BSD-3-Clause
"""When each claim's wording was first written and when it was last changed, read off the project's own git history.

    .venv/bin/python -m analysis.claims.history

writes history.json beside this file; run it whenever a claim is added or its wording changes (a test says so). Times
are those of commits; what is not committed yet has the time of this run and no commit. A claim is followed through
changes by its statement or its number, within its study. That the code behind a measure changed is not seen here.
"""

from __future__ import annotations

import dataclasses
import datetime
import functools
import io
import json
import os
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from analysis.catalogue import CHAPTERS
from analysis.claims import wording
from analysis.claims.wording import Wording, digest

FILE = Path(__file__).with_name("history.json")
ROOT = Path(__file__).resolve().parents[2]
CLAIMS = ("analysis/claims", "analysis/studies")  # where they are, or were


@dataclass(frozen=True)
class Entry:
    """A claim's history. Times in ISO 8601 with their offset; commits are empty while not committed.

    `what` names the parts of the wording that the last change changed; nothing where it stands as first written.
    """

    study: str
    statement: str
    digest: str
    written: str
    written_commit: str
    changed: str
    changed_commit: str
    what: tuple[str, ...] = ()

    def words(self) -> str:
        """'written 2026-11-21 09:57, changed 2026-11-22 10:00 (margin)'"""
        changed = f", changed {_minute(self.changed)} ({', '.join(self.what)})" if self.what else ""
        return f"written {_minute(self.written)}{changed}"

    def after(self, measured: str) -> bool:
        """Whether the wording was first written or last changed after a session that began at `measured` (ISO 8601);
        False if that is no time."""
        try:
            return max(_time(self.written), _time(self.changed)) > _time(measured)
        except ValueError:
            return False


def _time(text: str) -> datetime.datetime:
    found = datetime.datetime.fromisoformat(text.replace("Z", "+00:00"))
    return found if found.tzinfo else found.replace(tzinfo=datetime.timezone.utc)


def _minute(text: str) -> str:
    """In UTC: '2026-11-21 09:57'."""
    return _time(text).astimezone(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M")


@functools.cache
def recorded() -> dict[tuple[str, str], Entry]:
    """The committed history: (study, statement) -> its entry."""
    entries = json.loads(FILE.read_text(encoding="utf-8"))
    found = [Entry(**{**entry, "what": tuple(entry["what"])}) for entry in entries]
    return {(entry.study, entry.statement): entry for entry in found}


@dataclass(frozen=True)
class Version:
    """A wording as a commit had it."""

    time: str
    commit: str
    study: str
    words: Wording


def versions() -> list[Version]:
    """Every wording of every commit that touched the claims, oldest first."""
    log = _git("log", "--format=%H %cI", "--", *CLAIMS).decode().splitlines()
    found = []
    for line in log:
        commit, time = line.split()
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(fileobj=io.BytesIO(_git("archive", commit, "analysis", "harness"))) as archive:
                archive.extractall(folder)
            environment = {**os.environ, "PYTHONPATH": folder}
            command = [sys.executable, wording.__file__]
            said = subprocess.run(command, env=environment, cwd=folder, capture_output=True, check=True, timeout=120)
        found += [Version(time, commit[:8], study, words) for study, words in json.loads(said.stdout)]
    return sorted(found, key=lambda version: _time(version.time))


def entry(study: str, words: Wording, known: Sequence[Version], now: str) -> Entry:
    """The history of one claim as it stands, from all versions, oldest first."""
    kin = [
        version
        for version in known
        if version.study == study and any(version.words[name] == words[name] for name in ("statement", "number"))
    ]
    mine = [version for version in kin if version.words == words]
    last = (mine or [Version(now, "", study, words)])[0]
    before = [version for version in kin if _time(version.time) < _time(last.time) and version.words != words]
    same = [version for version in before if version.words["statement"] == words["statement"]]
    first, *_ = [*before, last]
    what = _changes((same or before)[-1].words, words) if before else ()
    return Entry(
        study, words["statement"], digest(words), first.time, first.commit, last.time, last.commit, what
    )  # fmt: skip


def _changes(old: Wording, new: Wording) -> tuple[str, ...]:
    return tuple(name for name in sorted({*old, *new}) if old.get(name) != new.get(name))


def _git(*arguments: str) -> bytes:
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, check=True, timeout=120).stdout


def main() -> int:
    now = datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds")
    known = versions()
    entries = [dataclasses.asdict(entry(study, words, known, now)) for study, words in wording.of(CHAPTERS)]
    FILE.write_text(json.dumps(entries, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{FILE}: {len(entries)} claims, {sum(bool(found['what']) for found in entries)} of them changed since")
    return 0


if __name__ == "__main__":
    sys.exit(main())
