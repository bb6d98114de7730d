# SPDX-License-Identifier: BSD-3-Clause
"""What the tables of real gates and of real races share: measurements whose right answer is known, kinds of them in
turn, a line of JSON each, a table that names where each ran, and a second call that goes on behind the last."""

from __future__ import annotations

import argparse
import itertools
import json
import math
import signal
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from harness.base import git, machine
from harness.base.errors import Failure, UsageError
from harness.base.paths import ROOT, require_clone
from harness.base.steps import say

STOPS = (signal.SIGTERM, signal.SIGHUP)
Done = dict[str, Any]  # a measurement: its kind, verdict, sentence, machine and commit, and what its table shows


@dataclass(frozen=True)
class Kind:
    """`count`: how many measurements there are to be."""

    name: str
    count: int


K = TypeVar("K", bound=Kind)


@dataclass
class Table:
    """FILE, as `draw` has it, and beside it FILE.jsonl. `where`: the machine and the commit of what is measured now."""

    file: Path
    draw: Callable[[Sequence[Done]], str]
    where: dict[str, str]
    done: list[Done] = field(default_factory=list)

    def add(self, found: Done) -> None:
        self.done.append(found | self.where)
        with _lines_of(self.file).open("a") as stream:
            stream.write(json.dumps(self.done[-1]) + "\n")
        self.file.write_text(self.draw(self.done))


def _lines_of(file: Path) -> Path:
    return file.with_name(f"{file.name}.jsonl")


def read(file: Path) -> list[Done]:
    """What earlier calls measured; UsageError where that cannot be read."""
    kept = _lines_of(file)
    if not kept.exists():
        return []
    try:
        return [dict(json.loads(line)) for line in kept.read_text().splitlines()]
    except (OSError, ValueError, TypeError) as error:
        raise UsageError(f"{kept} cannot be gone on with: {error}.") from error


def planned(kinds: Sequence[K], done: Sequence[Done]) -> Iterator[K]:
    """What is still to be measured: one of each kind in turn."""
    left = {kind.name: kind.count - sum(one["kind"] == kind.name for one in done) for kind in kinds}
    for turn in itertools.count():
        here = [kind for kind in kinds if left[kind.name] > turn]
        if not here:
            return
        yield from here


def options(doc: str) -> argparse.ArgumentParser:
    """The command line that both have."""
    parser = argparse.ArgumentParser(description=doc.partition("\n")[0])
    parser.add_argument("file", type=Path)
    parser.add_argument("--only", default="")
    parser.add_argument("--count", type=int, default=0)
    parser.add_argument("--minutes-in-all", type=float, default=math.inf)
    return parser


def asked(parser: argparse.ArgumentParser, words: Sequence[str] | None) -> argparse.Namespace:
    """What was asked for; ends with status 2 where no commit can be named."""
    require_clone("A table of real measurements")
    arguments = parser.parse_args(words)
    if git.dirty(ROOT):
        parser.error("the table names its commit, and this checkout has changes: commit them, or put FILE elsewhere")
    return arguments


def chosen(kinds: Sequence[K], arguments: argparse.Namespace) -> list[K]:
    found = [replace(one, count=arguments.count or one.count) for one in kinds if arguments.only in one.name]
    if not found:
        raise UsageError(f"--only '{arguments.only}' is in no kind's name: {'; '.join(one.name for one in kinds)}.")
    return found


def where(system: str) -> dict[str, str]:
    """Machine and commit of what is measured now."""
    facts = machine.facts()
    here = f"{facts['cpu_model']}, {facts['cpus']} CPUs, kernel {facts['kernel']}, system {system}"
    return {"machine": here, "commit": git.commit_of(ROOT, "HEAD")[:12]}


def places(done: Sequence[Done]) -> list[str]:
    """How many ran where, a line each."""
    counts = Counter((one["machine"], one["commit"]) for one in done)
    return [f"- {count} on {machine}, commit {commit}." for (machine, commit), count in counts.items()]


def measure(
    plan: Iterable[K],
    run: Callable[[K], Done | None],
    table: Table,
    minutes: float,
    waits: Callable[[K], str] = lambda _: "",
) -> int:
    """Run the plan, no measurement later than after so many minutes; 1 if one came to no verdict, which is told of and
    tried again by the next call. `waits`: why one cannot be run yet; empty if it can."""
    started, failed = time.monotonic(), 0
    for kind in plan:
        if time.monotonic() - started > 60 * minutes:
            break
        if why := waits(kind):
            say(f"{kind.name}: {why}")
            continue
        say(f"{len(table.done) + 1}: {kind.name} ...")
        found = run(kind)
        if found is None:
            failed += 1
            continue
        table.add(found)
        say(f"{found['verdict']}: {found['sentence']}")
    return 1 if failed else 0


def status(main: Callable[[], int]) -> int:
    """How a call ends: what is wrong is a sentence. Told to stop, or with its terminal gone, it ends as by Ctrl-C: what
    is being measured is stopped before its nodes are. Under nohup a terminal that goes ends nothing."""
    heard = [number for number in STOPS if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, _stop) for number in heard}
    try:
        return main()
    except (UsageError, Failure) as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except KeyboardInterrupt:
        say("stopped; the same call goes on")
        return 1
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
