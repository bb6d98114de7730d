# SPDX-License-Identifier: BSD-3-Clause
"""A session: one folder below results/ with everything that a run left, and the session.json that says what it was."""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import platform
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import IO, Any

from harness import __version__
from harness.base import archive, git, machine, validate
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS
from harness.base.paths import ROOT, results_dir
from harness.job.folders import Folders
from harness.job.salvage import salvage
from harness.sessions.facts import Facts, Git, State

FILE = archive.FACTS
STOPPING_S = 20.0  # what a killed ./bench left running has stopped after this


def utc_now() -> datetime.datetime:
    return datetime.datetime.now(datetime.timezone.utc)


def _lock(file: IO[str]) -> bool:
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


@dataclass
class Session:
    """A session's folder and its facts. `save` writes them whole."""

    path: Path
    facts: Facts

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def folders(self) -> Folders:
        return Folders(self.path)

    def save(self) -> None:
        partial = self.path / f"{FILE}.part"
        try:
            partial.write_text(json.dumps(asdict(self.facts), indent=1) + "\n")
            partial.replace(self.path / FILE)
        except OSError:
            with contextlib.suppress(OSError):
                partial.unlink(missing_ok=True)
            raise

    @contextlib.contextmanager
    def alone(self, wait_s: float = STOPPING_S) -> Iterator[int]:
        """Keep this session to one run at a time; gives the lock's descriptor.

        Whatever inherits the descriptor keeps the lock: what a killed ./bench left running has still to stop.
        """
        with (self.path / "lock").open("w") as lock:
            deadline = time.monotonic() + wait_s
            while not _lock(lock):
                if time.monotonic() >= deadline:
                    raise Failure(f"Session {self.name} is being run by another ./bench: wait for it.")
                time.sleep(0.1)
            yield lock.fileno()

    def tidy(self) -> None:
        """Settle what a killed ./bench left, if nobody runs the session: only a held lock means running."""
        with contextlib.suppress(OSError, Failure), self.alone(wait_s=0):
            salvage(self.folders)
            if self.facts.state == "running":
                self.finish("interrupted")

    def finish(self, state: State) -> None:
        """Write down how the session ended."""
        self.facts.state, self.facts.finished = state, utc_now().isoformat(timespec="seconds")
        self.save()


def _git() -> Git | None:
    commit, dirty = git.ask(ROOT, "rev-parse", "HEAD"), git.dirty(ROOT)
    if commit.status != 0 or dirty is None:
        return None
    return Git(commit.out.strip(), dirty=dirty)


def mpi_facts(names: list[str]) -> dict[str, Any]:
    """Which release of each of these MPIs is here, and where, as far as the harness installs them."""
    facts: dict[str, Any] = {}
    for name in names:
        mpi = MPIS.get(name)
        facts[name] = {"version": "; ".join(mpi.wheels or mpi.packages), "prefix": str(mpi.prefix)} if mpi else {}
    return facts


def provenance() -> dict[str, Any]:
    """What is true of this machine and this checkout, whatever is run."""
    return {
        "git": _git(),
        "version": __version__,
        "machine": machine.facts(),
        "reframe": metadata.version("ReFrame-HPC"),
        "python": platform.python_version(),
    }


def create(hint: str, facts: Mapping[str, Any], files: Mapping[str, str] | None = None) -> Session:
    """Make a new session folder, named after the time and `hint`. UsageError where results cannot be written.

    `facts`: those of Facts that are not the same for all sessions on this machine. `files`: name -> text of what it
    cannot be resumed without; they are there before session.json is, which makes the folder a session.
    """
    base = results_dir()
    stem = f"{utc_now():%Y%m%d-%H%M%S}-{hint}"
    try:
        base.mkdir(parents=True, exist_ok=True)
        path = _make_folder(base, stem)
        now, mpis = utc_now().isoformat(timespec="seconds"), mpi_facts(facts.get("mpi_names", []))
        own = {"mpis": mpis, "origin": secrets.token_hex(4), **facts, **provenance()}
        session = Session(path, Facts(path.name, now, "running", **own))
        session.folders.make()
        for name, text in (files or {}).items():
            (path / name).write_text(text)
        session.save()
        _point_latest(path)
    except OSError as error:
        raise UsageError(
            f"The results folder {base} cannot be written ({error.strerror}): make it writable or name another one in "
            f"OVERLAP_BENCH_RESULTS."
        ) from error
    return session


def _make_folder(base: Path, stem: str) -> Path:
    for suffix in ("", *(f"-{n}" for n in range(2, 100))):
        with contextlib.suppress(FileExistsError):
            (base / f"{stem}{suffix}").mkdir()
            return base / f"{stem}{suffix}"
    raise Failure(f"There are 99 sessions called {stem} in {base} already.")


def _point_latest(path: Path) -> None:
    """results/latest -> the session; replaced at once, so that it always points somewhere."""
    link = path.parent / f".latest.{os.getpid()}"
    link.unlink(missing_ok=True)
    link.symlink_to(path.name)
    link.replace(path.parent / "latest")


def any_yet() -> bool:
    """Whether "latest" names a session."""
    return (results_dir() / "latest" / FILE).is_file()


def names() -> list[str]:
    """Of the sessions that there are, the newest last."""
    return sorted(entry.name for entry in results_dir().glob("2*") if (entry / FILE).exists())


def load(name: str) -> Session:
    """A session by its name, its path, or "latest". UsageError if there is none, or an archive has several."""
    first, *others = _named(name)
    if others:
        raise UsageError(f"{name} holds {1 + len(others)} sessions: name one of them, such as {name}/{first.name}.")
    return first


def load_all(names: Iterable[str]) -> list[Session]:
    """The same for several, each of which may be an archive of several. UsageError for one that is none."""
    return [session for name in names for session in _named(name)]


def _named(name: str) -> list[Session]:
    for path in (Path(name), ROOT / name, results_dir() / name):
        found = [folder for folder in archive.sessions_of(path) if (folder / FILE).is_file()]
        if found:
            return [Session(folder.resolve(), validate.read(Facts, folder / FILE)) for folder in found]
    if name == "latest":
        raise UsageError(f"There is no session in {results_dir()} yet: ./bench demo makes one.")
    known = ", ".join(names()[-5:]) or "none"
    raise UsageError(f"There is no session '{name}' in {results_dir()}. The newest are: {known}.")
