# SPDX-License-Identifier: BSD-3-Clause
"""What real races of settings find: `python -m harness.sessions.real_races FILE`.

On two virtual nodes: overlap of messages of 256 KB to 32 MB from both sides, on each of the three MPIs, and of 256 KB
to 8 MB on one of them with packets of 1500 bytes and at 10 Gb/s; miniFE, as a program of one's own, for its whole time,
with --check; and ten races of copies of the default (A/A), none of which may have a winner: settings of the engine with
their own defaults, written with zeros before them, which every launch is verified to have run with.

How long they are: in simulated races a good value of 18 leads after 42 launches in the median
(docs/measured/tuning-races.md). That is one block, whose six settings try 18 values. MPICH and the engine have about
70, so a race has to have four blocks. By the estimate of a launch (3 s with 32 MB, 1.3 s with 8 MB, less than 2 s of
miniFE) 20 minutes hold them for each MPI, and 10 minutes with smaller messages or miniFE, beside a confirmation that is
looked at three times. A copy becomes a winner by its confirmation alone, so more blocks would prove no more: 5 minutes
with small messages hold a block or two, and all three looks.

After each race the table is written to FILE, as Markdown; FILE.jsonl has a line a race, FILE.races the session of each,
with all its samples. A second call goes on behind the last race, and with one that was stopped, if the commit is the
same. A race that came to no verdict is told of and tried again by the next call.

Measure on a machine that does nothing else: two and a half hours in all. `--only WORDS` takes the kinds whose names
hold these words, `--count N` as many races of each; `--minutes M` gives each race as much; `--minutes-in-all N` begins
no race later.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shlex
import signal
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from harness.base import engine_settings, git, process, turns, variants
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.base.paths import ROOT
from harness.base.steps import say
from harness.sessions import real, space
from harness.sessions.real import Done
from harness.sessions.session import FILE as FACTS
from harness.setup import build
from harness.sites import systems
from harness.vcluster import cluster as virtual

SYSTEM, VARIANT = "vcluster", "adaptive"
GRACE_S = 60.0  # for a race that is told to stop: it keeps what was finished
SET_UP_S, LONGER = 1800.0, 3.0  # the longest for its builds, and of its minutes: what hangs is waited for
MINUTES, SHORTER, OF_COPIES = 20.0, 10.0, 5.0
WRONG_USE = 2  # the status of a session that cannot be gone on with
SPACE = "space.yaml"  # in a race's folder
ZEROS = (1, 2, 3)
POINTS = ("--study=overlap-ratio", "--set=pattern=both", "--set=comp_over_comm=1.0", "--objective=efficiency")
# On nodes of one core the default's is 1.09 to 1.10 at the smallest messages, and no setting keeps 1.05.
TUNED = ("--space=engine,mpi", "--subject-to=inflation<=1.15")
OVERLAP = (*POINTS, "--set=size_bytes=262144,2097152,33554432", *TUNED)
SMALLER = (*POINTS, "--set=size_bytes=262144,8388608", *TUNED)
COPIES = (*POINTS, "--set=size_bytes=262144", f"--space={SPACE}")
# As many solves in every launch, whatever the time is; iterations and residual of all of them are the result. Both are
# the same to the last bit under all settings: a sum over two ranks has one addition, so it has one order, and within a
# rank no order depends on when a message comes. Of more ranks the residual would depend on the MPI's algorithm.
MINIFE = ("solve", "--point=nx=64,ny=64,nz=64,mode=overlapped")
SOLVES = ("--warmup=0", "--min-samples=3", "--max-samples=3", "--time-box-s=600")
RESULT = r'"(?:iterations|true_residual)": *\[[^]]*\]'
OWN = ("--space=engine,mpi", "--objective=time", "-n", "2", f"--check={RESULT}")


@dataclass(frozen=True)
class Kind(real.Kind):
    """`options`: of ./bench tune; `rate`, `mtu`: of the nodes' network; `own`: a program of one's own is tuned;
    `copies`: of the default, so that no winner is right."""

    mpi: str
    options: Sequence[str]
    minutes: float = MINUTES
    rate: str = "1gbit"
    mtu: int = 65000
    own: bool = False
    copies: bool = False

    @property
    def network(self) -> str:
        return f"{self.rate}, MTU {self.mtu}"


KINDS = (
    *(Kind(f"overlap, {MPIS[name].title}", 1, name, OVERLAP) for name in WHEEL_MPIS),
    Kind("overlap, MTU 1500", 1, "mpich", SMALLER, SHORTER, mtu=1500),
    Kind("overlap, 10 Gb/s", 1, "mpich", SMALLER, SHORTER, rate="10gbit"),
    Kind("miniFE, whole time", 1, "mpich", OWN, SHORTER, own=True),
    Kind("copies of the default (A/A)", 10, "mpich", COPIES, OF_COPIES, copies=True),
)


def copies() -> dict[str, dict[str, list[str]]]:
    """A space of settings of the engine that are all its default: the same numbers in other words."""
    of_preset = json.loads(variants.PRESETS_FILE.read_text())[VARIANT]["settings"]
    defaults = {one.key: of_preset.get(one.key, one.initial) for one in engine_settings.settings()}
    return {"engine": {name: [f"{'0' * zeros}{defaults[name]}" for zeros in ZEROS] for name in space.ENGINE}}


def command(kind: Kind, seed: int) -> list[str]:
    """./bench tune as it is called for a race, with paths from the race's folder and the repository's."""
    words = ["tune", f"--system={SYSTEM}", f"--mpi={kind.mpi}", f"--variant={VARIANT}", f"--minutes={kind.minutes:g}"]
    words += [f"--seed={seed}", *kind.options]
    if kind.own:
        program = MPIS[kind.mpi].build_dir / "bin" / "minife"
        words += ["--", str(program), *MINIFE, *SOLVES]
    return words


def run(kind: Kind, folder: Path, number: int) -> Done | None:
    """The race of this number of its kind, with its session in `folder`; None if it came to no verdict."""
    folder.mkdir(parents=True, exist_ok=True)
    if kind.copies:
        (folder / SPACE).write_text(json.dumps(copies()) + "\n")
    if kind.own:
        build.ensure(MPIS[kind.mpi], "minife")
    words = command(kind, number)
    shown = " ".join(["./bench", *(shlex.quote(word.replace(f"{ROOT}/", "")) for word in words)])
    if unfinished(folder, kind.minutes):
        words = ["tune", "--resume", "latest"]
    with _nodes(kind) as network:
        ended = _tune(words, folder, kind.minutes)
    session = (folder / "latest").resolve()
    told = session / "tuning" / "tuning.json"
    if ended != 0 or not told.is_file():
        how = "did not end" if ended is None else f"ended with status {ended}"
        say(f"{kind.name}: ./bench tune {how}; what it left is in {folder}")
    elif _network_of(session) != network:
        say(f"{kind.name}: its nodes died, and those that came after them had another network; it is in {folder}")
        ended = WRONG_USE
    else:
        kept = {"network": kind.network, "minutes": kind.minutes, "session": f"{folder.name}/{session.name}"}
        return {"kind": kind.name, "command": shown, **found(json.loads(told.read_text())), **kept}
    if ended == WRONG_USE:  # it cannot be gone on with: the next call begins anew
        (folder / "latest").unlink(missing_ok=True)
    return None


def _network_of(session: Path) -> str:
    """That of its last nodes, in words: what brings nodes up anew during a race does not know its network."""
    return str(json.loads((session / FACTS).read_text()).get("network", ""))


def found(told: dict[str, Any]) -> Done:
    """Of a race's tuning.json what the table shows."""
    verdict, tried = told["verdict"], told["settings"]
    failed = {name: one["out"] for name, one in tried.items() if one["out"].startswith("failed")}
    kept = {name: verdict[name] for name in ("sentence", "winner", "values", "gain", "rounds")}
    return {"verdict": "winner" if verdict["confirmed"] else "no winner", "tried": len(tried), "failed": failed} | kept


def unfinished(folder: Path, minutes: float) -> bool:
    """Whether a race of this commit and of as many minutes was begun here: that one is gone on with."""
    try:
        facts = json.loads((folder / "latest" / FACTS).read_text())
    except (OSError, ValueError):
        return False
    commit, race = (facts.get("git") or {}).get("commit"), (facts.get("request") or {}).get("race") or {}
    return bool(commit == git.commit_of(ROOT, "HEAD") and race.get("minutes") == minutes)


def _tune(words: Sequence[str], folder: Path, minutes: float) -> int | None:
    """Its status, None where it does not end; its sessions come into `folder`. Told to stop, it has time to."""
    environment = dict(os.environ) | {"OVERLAP_BENCH_RESULTS": str(folder), "PYTHONPATH": str(ROOT)}
    whole = [sys.executable, "-m", "harness", *words]
    how: dict[str, Any] = {"env": environment, "cwd": folder}
    with process.group(whole, signal.SIGINT, GRACE_S, tie=signal.SIGINT, **how) as race:
        return process.wait_for(race, SET_UP_S + LONGER * 60 * minutes)


@contextlib.contextmanager
def _nodes(kind: Kind) -> Iterator[str]:
    """Two virtual nodes with the network of this kind, for as long as the body runs; the network in words."""
    if reason := systems.virtual_supported():
        raise Failure(reason)
    with turns.alone("real races"):
        _none_up()
        cluster = virtual.up(rate=kind.rate, mtu=kind.mtu, tied=True)
    try:
        yield cluster.network_description
    finally:
        cluster.down()


def _none_up() -> None:
    """UsageError where somebody has nodes up: they are theirs, and perhaps of another network."""
    if virtual.load():
        raise UsageError("Virtual nodes are up, and each race has its own: ./bench vcluster down takes them down.")


def table(done: Sequence[Done], kinds: Sequence[Kind] = KINDS) -> str:
    """Where they ran; of each kind how many races had a winner, and the command; then what every race found."""
    lines = ["# Real races of settings", "", *real.places(done), ""]
    lines += ["| race | network | minutes | races | with a winner | settings tried (median) | that failed | command |"]
    lines += ["|---|---|---|---|---|---|---|---|"]
    for kind in kinds:
        mine = [one for one in done if one["kind"] == kind.name]
        if mine:
            winners = sum(one["verdict"] == "winner" for one in mine)
            tried = sorted(one["tried"] for one in mine)[len(mine) // 2]
            failed = sum(len(one["failed"]) for one in mine)
            called = mine[-1]["command"].replace("|", "\\|")
            minutes = " or ".join(dict.fromkeys(f"{one['minutes']:g}" for one in mine))
            numbers = f"{minutes} | {len(mine)} | {winners} | {tried} | {failed}"
            lines.append(f"| {kind.name} | {kind.network} | {numbers} | `{called}` |")
    lines += ["", f"Of copies of the default no winner is right. Their `{SPACE}`: `{json.dumps(copies())}`.", ""]
    for number, one in enumerate(done, 1):
        lines.append(f"{number}. {one['kind']}: {one['sentence']} ({one['session']}, {one['commit']})")
        lines += [f"    - {name} {why}" for name, why in one["failed"].items()]
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    parser = real.options(__doc__ or "")
    parser.add_argument("--minutes", type=float, default=0.0)
    arguments = real.asked(parser, words)
    _none_up()
    file = arguments.file.absolute()
    result = real.Table(file, table, real.where(SYSTEM), real.read(file))

    def race(kind: Kind) -> Done | None:
        number = 1 + sum(one["kind"] == kind.name for one in result.done)
        name = re.sub(r"\W+", "-", kind.name).strip("-")
        return run(kind, file.with_name(f"{file.name}.races") / f"{name}-{number}", number)

    kinds = [replace(one, minutes=arguments.minutes or one.minutes) for one in real.chosen(KINDS, arguments)]
    return real.measure(list(real.planned(kinds, result.done)), race, result, arguments.minutes_in_all)


if __name__ == "__main__":
    sys.exit(real.status(main))
