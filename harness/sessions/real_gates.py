# SPDX-License-Identifier: BSD-3-Clause
"""What real gates say of arms whose difference is known: `python -m harness.sessions.real_gates FILE`.

Gates of the same engine twice, of a candidate whose whole time, computation or latency is made 5 % longer, of the same
commit built in another folder with a larger environment, and of nodes that something else keeps busy: one of them, also
with a slower candidate, and all of them. They run in turns, at most three minutes each, and half of that where the
candidate is not slower and nothing has to be shown: such a gate goes on to its end, and its false alarms are promised
for any length. After each the table is written to FILE, as Markdown; FILE.jsonl has a line a gate, and a second call
goes on behind its last. A gate that ended by itself with another status than a verdict's is told of and tried again by
the next call.

Only the gates on quiet nodes go into a store, FILE.store, which the gates on nodes that are all busy are held against:
they come once it has enough.

Measure on a machine that does nothing else: two hours in all. `--only WORDS` takes the kinds whose names hold
these words, `--count N` as many gates of each; `--minutes-in-all N` begins no gate later.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base import process
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from harness.base.steps import say
from harness.sessions import real
from harness.sessions.real import Done
from harness.setup import build
from harness.vcluster import cpus

VARIANT = "adaptive"
LIMIT_S = 900.0
VERDICTS = (0, 1, 3)
ENOUGH = 5  # earlier gates that say how the system is, without which a gate says nothing of it
RIGHT = """`right`: `node` where one node is busy and the candidate is not slower, `system` where all nodes are, `same`
where the candidate is the same commit, built in another folder; else `commit` where the candidate is slower, and
anything else where it is not."""
LARGER = {f"LARGER_ENVIRONMENT_{n}": "x" * 1000 for n in range(8)}
OVERLAP = ("overlap-ratio", "--set=size_bytes=1048576,4194304", "--set=comp_over_comm=1.0", "--set=pattern=both")
LATENCY = ("latency-flavours", "--set=size_bytes=1,1024")
# It computes for a seventh of its time, and that in a core's cache: a stencil's whole time, which is that of memory,
# differs by a fifth from launch to launch.
APPLICATION = ("fft", "--set=mode=blocking")


@dataclass(frozen=True)
class Kind(real.Kind):
    """`study` with its settings; the candidate's `slowdown`; `copy`: it is built elsewhere, with more variables;
    `busy`: the nodes that something else computes on. `told`: the verdict, if only one is right."""

    study: Sequence[str]
    slowdown: float = 1.0
    copy: bool = False
    busy: Sequence[str] = ()
    told: str = ""

    def minutes(self, most: float) -> float:
        """How long a gate may take: it ends early only where there is something to find; `same` has to be shown."""
        return most if self.slowdown > 1 or self.told == "same" else most / 2

    @property
    def remembered(self) -> bool:
        """Whether its gates are those of a quiet system."""
        return self.study == OVERLAP and not self.busy

    @property
    def needs_history(self) -> bool:
        return self.told == "system"

    def right(self, verdict: str) -> bool:
        """Whether this is what a gate should say; of what is not slower all but `commit` is."""
        return verdict == self.told if self.told else (verdict == "commit") == (self.slowdown > 1)


KINDS = (
    Kind("overlap, the same twice", 20, OVERLAP),
    Kind("overlap, computation 5 % slower", 20, OVERLAP, 1.05),
    Kind("latency, the same twice", 5, LATENCY),
    Kind("latency, 5 % longer", 5, LATENCY, 1.05),
    Kind("Fourier transforms, the same twice", 5, APPLICATION),
    Kind("Fourier transforms, the whole about 5 % longer (computation 40 %)", 5, APPLICATION, 1.4),
    Kind("overlap, built in another folder, with a larger environment", 3, OVERLAP, copy=True, told="same"),
    Kind("overlap, the same twice, a busy node", 3, OVERLAP, busy=("vc2",), told="node"),
    Kind("overlap, computation 50 % slower, a busy node", 3, OVERLAP, 1.5, busy=("vc2",), told="commit"),
    Kind("overlap, the same twice, all nodes busy", 3, OVERLAP, busy=("vc1", "vc2"), told="system"),
)


@contextlib.contextmanager
def _kept_busy(nodes: Sequence[str]) -> Iterator[None]:
    """A program that computes without end on every CPU of these virtual nodes, of which there are two."""
    of_node = cpus.split(2)
    with contextlib.ExitStack() as stack:
        for cpu in (cpu for node in nodes for cpu in of_node[node]):
            stack.enter_context(process.group(["taskset", "--cpu-list", str(cpu), "sh", "-c", "while :; do :; done"]))
        yield


def run(kind: Kind, arguments: argparse.Namespace, folder: Path, store: Path) -> Done | None:
    """One gate, its files in `folder`; None if it came to no verdict. `store`: of the gates on quiet nodes."""
    base = new = VARIANT
    if kind.copy:
        new = _built_elsewhere(folder)
    study, *settings = kind.study
    command = ["gate", f"--base={base}", f"--new={new}", f"--study={study}", *settings]
    command += [
        f"--system={arguments.system}",
        f"--mpi={arguments.mpi}",
        f"--minutes={kind.minutes(arguments.minutes):g}",
    ]
    command += [f"--inject-slowdown={kind.slowdown:g}"] if kind.slowdown > 1 else []
    own = folder / "store"  # no history decides, where none is needed
    if kind.needs_history:
        shutil.copytree(store, own)
    with _kept_busy(kind.busy):
        whole = [sys.executable, "-m", "harness", *command, f"--out={folder}", f"--store={own}"]
        done = process.answer(whole, LIMIT_S, cwd=ROOT)
    if done.status not in VERDICTS or not (folder / "gate.json").is_file():
        say(f"{kind.name}: status {done.status}: {done.last_line}")
        return None
    if kind.remembered:
        shutil.copytree(own, store, dirs_exist_ok=True)
    found = json.loads((folder / "gate.json").read_text())
    kept = ("verdict", "sentence", "rounds", "session", "points")
    return {"kind": kind.name, "command": " ".join(["./bench", *command])} | {name: found[name] for name in kept}


def _undisturbed(store: Path) -> int:
    """How many gates of the store had no slow node, whatever their verdict was."""
    return sum(not json.loads(path.read_text())["disturbed"] for path in store.glob("*.gate.json"))


def _built_elsewhere(folder: Path) -> str:
    """An arm with the engine of the same commit, built in another folder, and a larger environment."""
    settings = folder / "settings.conf"
    settings.write_text("".join(f"{name} = {text}\n" for name, text in {"variant": VARIANT, **LARGER}.items()))
    return f"commit:HEAD,settings:{settings}"


def table(done: Sequence[Done], kinds: Sequence[Kind] = KINDS) -> str:
    """Where they ran; of each kind how many said what, how many rounds they took, and the command; then every gate."""
    lines = ["# Real gates", "", *real.places(done), ""]
    lines += ["| arms | gates | right | verdicts | rounds (median) | command |", "|---|---|---|---|---|---|"]
    for kind in kinds:
        mine = [one for one in done if one["kind"] == kind.name]
        if mine:
            verdicts = [one["verdict"] for one in mine]
            said = ", ".join(f"{verdicts.count(name)} {name}" for name in dict.fromkeys(verdicts))
            rounds = sorted(one["rounds"] for one in mine)[len(mine) // 2]
            right = sum(map(kind.right, verdicts))
            lines.append(f"| {kind.name} | {len(mine)} | {right} | {said} | {rounds} | `{mine[-1]['command']}` |")
    lines += ["", RIGHT, ""]
    for number, one in enumerate(done, 1):
        lines.append(
            f"{number}. {one['kind']}: {one['verdict']} ({one['session']}, {one['commit']}). {one['sentence']}"
        )
    return "\n".join(lines) + "\n"


def main(words: Sequence[str] | None = None) -> int:
    parser = real.options(__doc__ or "")
    parser.add_argument("--system", default="vcluster")
    parser.add_argument("--mpi", default="mpich")
    parser.add_argument("--minutes", type=float, default=3.0)
    arguments = real.asked(parser, words)
    kinds = real.chosen(KINDS, arguments)
    store = arguments.file.with_name(f"{arguments.file.name}.store")
    result = real.Table(arguments.file, table, real.where(arguments.system), real.read(arguments.file))
    build.ensure(MPIS[arguments.mpi])

    def gate(kind: Kind) -> Done | None:
        with tempfile.TemporaryDirectory(prefix="bench-gates-") as folder:
            return run(kind, arguments, Path(folder), store)

    def waits(kind: Kind) -> str:
        early = kind.needs_history and _undisturbed(store) < ENOUGH
        return f"{ENOUGH} gates on quiet nodes are wanted first" if early else ""

    plan = sorted(real.planned(kinds, result.done), key=lambda kind: kind.needs_history)
    return real.measure(plan, gate, result, arguments.minutes_in_all, waits)


if __name__ == "__main__":
    sys.exit(real.status(main))
