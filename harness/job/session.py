# SPDX-License-Identifier: BSD-3-Clause
"""A session: one folder below results/ with everything that a run left, and the session.json that says what it was.

It says what was asked for, with what it was measured and how it ended. It stands below the checks: a check reads there
what it is to do, and writes it itself where ReFrame was started without ./bench.
"""

from __future__ import annotations

import contextlib
import datetime
import fcntl
import json
import os
import platform
import secrets
import shutil
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from importlib import metadata
from pathlib import Path
from typing import IO, Any, Literal

from harness import __version__
from harness.base import machine, paths, validate
from harness.base.errors import Failure, UsageError, meant
from harness.base.mpis import MPIS
from harness.base.paths import IN_CLONE, PACKED_FROM, ROOT, results_dir
from harness.job import records, verify
from harness.job.plan import PLAN, Gate, Plan, Rounds
from harness.job.program import Program
from harness.job.records import Folders, RecordFile
from harness.job.search import Search

FILE = paths.FACTS
REASON = "the job was killed during this launch"
STOPPING_S = 20.0  # what a killed ./bench left running has stopped after this
State = Literal["running", "complete", "incomplete", "interrupted"]


@dataclass(frozen=True)
class Asked:
    """Enough to ask for the same again, beside the studies, the system, the MPIs and the scale.

    `config`: the system's file; `partition`: which of a site's, if it has several; `all_mpis`: every study on all MPIs,
    not only on those that its scale names; `gate`: of a comparison of sides; `program`: of the study that runs somebody
    else's; `mpi_environment`: variables of the MPI for every launch.
    """

    __pydantic_config__ = validate.MODEL

    variants: list[str]
    settings: dict[str, str]
    seed: int
    nodes: int
    config: str
    partition: str = ""
    all_mpis: bool = True
    slowdown: float = 1.0
    gate: Gate | None = None
    program: Program | None = None
    mpi_environment: dict[str, str] = field(default_factory=dict)
    search: Search | None = None

    @property
    def rounds(self) -> Rounds | None:
        """Of the sides that are compared; None where variants of a study are run."""
        compared = self.search or self.gate
        return compared.in_rounds() if compared else None


@dataclass(frozen=True)
class Resumed:
    """`differences`: what was not as in the first run, where that was forced."""

    __pydantic_config__ = validate.MODEL

    time: str
    differences: list[str]


@dataclass(frozen=True)
class Git:
    __pydantic_config__ = validate.MODEL

    commit: str
    dirty: bool


@dataclass(frozen=True)
class Costs:
    """What ./bench engine-costs was asked for, beside its study."""

    __pydantic_config__ = validate.MODEL

    parts: list[str]
    launches: int


@dataclass
class Facts:
    """A session.json. `expected`: the launches that were planned; `identity`: what must be the same in a resumed run;
    `work_of`: the session whose calibration it took; `origin`: drawn when it was made, tells it from others of its name
    wherever its folder is; `emulated`: on processors that are; `simulated`: nothing was
    measured, a model predicted: its files with their SHA-256. Times are in ISO 8601, UTC.
    """

    __pydantic_config__ = validate.MODEL

    session: str
    created: str
    state: State
    schema: Literal[1] = 1
    finished: str | None = None
    command: list[str] = field(default_factory=list)
    scale: str = ""
    studies: list[str] = field(default_factory=list)
    system: str = ""
    mpi_names: list[str] = field(default_factory=list)
    request: Asked | None = None
    expected: list[str] = field(default_factory=list)
    identity: dict[str, str] = field(default_factory=dict)
    spack: dict[str, Any] | None = None
    mpis: dict[str, dict[str, str]] = field(default_factory=dict)
    git: Git | None = None
    version: str = ""
    machine: dict[str, Any] = field(default_factory=dict)
    reframe: str = ""
    python: str = ""
    network: str = ""
    network_measured: dict[str, float] = field(default_factory=dict)
    emulated: bool = False
    simulated: dict[str, str] = field(default_factory=dict)
    work_of: str | None = None
    origin: str = ""
    resumed: list[Resumed] = field(default_factory=list)
    costs: Costs | None = None


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

    def take_work(self, model: Session) -> None:
        """Take the calibration of `model`: sessions that are compared do the same work."""
        kept = sorted(model.folders.calibration.glob("*.json"))
        for path in kept:
            shutil.copy(path, self.folders.calibration)
        self.facts.work_of = (model.facts.work_of or model.name) if kept else None
        self.save()

    def resume(self, differences: list[str]) -> None:
        """Go on with it, though these are not as they were."""
        with self.alone():
            self.facts.resumed.append(Resumed(utc_now().isoformat(), differences))
            self.facts.state = "running"
            self.save()

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
    """A clone's, or what the installed package was made of."""
    packed = ROOT / PACKED_FROM
    state = machine.commit_state(ROOT) if IN_CLONE else json.loads(packed.read_text()) if packed.is_file() else None
    return Git(**state) if state else None


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


def create(hint: str, facts: Mapping[str, Any]) -> Session:
    """Make a new session folder, named after the time and `hint`. UsageError where results cannot be written.

    `facts`: those of Facts that are not the same for all sessions on this machine.
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


def facts_of(folder: Path) -> Facts:
    """What the session of this folder says of itself."""
    return validate.read(Facts, folder / FILE, paths.of_today)


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
        found = [folder for folder in paths.sessions_of(path) if (folder / FILE).is_file()]
        if found:
            return [Session(folder.resolve(), facts_of(folder)) for folder in found]
    if name == "latest":
        raise UsageError(f"There is no session in {results_dir()} yet: ./bench demo makes one.")
    known = ", ".join(names()[-5:]) or "none"
    raise UsageError(f"There is no session '{name}' in {results_dir()}. {meant(name, names())}The newest are: {known}.")


def salvage(folders: Folders) -> int:
    """Make record files of what is still in scratch when nothing of this session runs any more: of launches that were
    cut off, whose finished points are good if they were what they said they were. Returns how many.

    Raises OSError where a record cannot be written; its leftovers stay then, for the next time.
    """
    saved = 0
    for scratch in sorted(path for path in folders.scratch.glob("*") if path.is_dir()):
        target = folders.records / f"{scratch.name}.jsonl"
        left = records.read(scratch / "record.jsonl")
        if left.points and left.header is not None and not target.exists() and _verify(scratch / PLAN, left):
            left.end = (left.end or {"ranks": [], "elapsed_s": 0.0}) | {"status": "interrupted", "reason": REASON}
            records.write(target, left)
            saved += 1
        shutil.rmtree(scratch, ignore_errors=True)
    return saved


def _verify(plan_file: Path, left: RecordFile) -> bool:
    """Condemn what the runner would have condemned; False if it cannot be told, for lack of the plan."""
    identity = (left.header or {}).get("context", {}).get("launch")
    try:
        plan = Plan.load(plan_file)
        launch = next(launch for launch in plan.launches if launch.identity == identity)
    except (UsageError, StopIteration):
        return False
    verify.condemn(plan, launch, left)
    return True
