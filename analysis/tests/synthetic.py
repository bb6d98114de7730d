# SPDX-License-Identifier: BSD-3-Clause
"""Writes sessions that obey the schema and whose truth is known: what the analysis finds can be checked against it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from analysis.metrics.times import LIMIT

Array = npt.NDArray[np.float64]
MB = 1 << 20
WITHOUT_ENGINE = ("bare", "bare-multiple", "mpi-async", LIMIT)


@dataclass(frozen=True)
class Behaviour:
    """How a variant behaves on an MPI: its overlap efficiency at any point, and its compute inflation."""

    efficiency: float
    inflation: float = 1.0
    standing_cost: float = 1.0
    fails: str | None = None  # status of all its points, with a reason


USUAL = {
    "bare": Behaviour(0.05, 1.01),
    "mpi-async": Behaviour(-0.2, 1.97, 1.5),
    "off": Behaviour(0.05, 1.01),
    "thread": Behaviour(-0.3, 1.9, 1.8),
    "idle": Behaviour(0.26, 1.05),
    "adaptive": Behaviour(0.93, 1.05),
}
LIMITED = {**USUAL, "limit": Behaviour(0.95, 1.04)}


@dataclass
class Synthetic:
    """A session to be written. Times in seconds; spreads are relative standard deviations."""

    mpis: dict[str, dict[str, Behaviour]] = field(default_factory=lambda: {"mpich": USUAL})
    study: str = "overlap-ratio"
    patterns: Sequence[str] = ("both",)
    sizes: Sequence[int] = (4 * MB,)
    comp_over_comm: Sequence[float] = (0.25, 1.0, 4.0)
    comp_s: Sequence[float] | None = None  # send-time's absolute computation times, instead of comp_over_comm
    launches: int = 6
    samples: int = 20
    launch_spread: float = 0.005
    sample_spread: float = 0.01
    bytes_per_s: float = 120e6
    latency_s: float = 50e-6
    ack_s: float = 30e-6
    slowdown: float = 1.0
    seed: int = 1
    machine: str = "Example CPU"
    nodes: dict[str, dict[str, Any]] | None = None  # what the compute nodes say; None: what the login node says
    ranks: int = 2  # a node each; the second half of them receives
    wakes: dict[int, float] = field(default_factory=lambda: {500: 0.1, 2000: 0.0})  # of limit: what each costs it

    def write(self, session: Path) -> Path:
        """Writes session.json and the records under `session`, which it returns."""
        rng = np.random.default_rng(self.seed)
        records = session / "records"
        records.mkdir(parents=True, exist_ok=True)
        (session / "session.json").write_text(json.dumps(provenance(session.name, self), indent=1))
        here = provenance(session.name, self)["machine"]
        login = {host: here for host in map(host_of, range(self.ranks))}
        for host, facts in (login if self.nodes is None else self.nodes).items():
            (session / "nodes").mkdir(exist_ok=True)
            (session / "nodes" / f"{host}.json").write_text(json.dumps({"host": host, **facts}))
        for mpi, variants in self.mpis.items():
            order = 0
            for repetition in range(self.launches):
                for variant, behaviour in variants.items():
                    name = f"{self.study}.vcluster.{mpi}.{order:03d}.{variant}"
                    context = {
                        "session": session.name,
                        "launch": name,
                        "study": self.study,
                        "system": "vcluster:compute",
                        "mpi": mpi,
                        "variant": variant,
                        "repetition": repetition,
                        "order": order,
                        "scale": "test",
                        "network": "made up",
                    }
                    write_lines(records / f"{name}.jsonl", self.launch_lines(context, behaviour, rng))
                    order += 1
        return session

    def points(self) -> list[dict[str, Any]]:
        second = (
            [("comp_s", value) for value in self.comp_s]
            if self.comp_s is not None
            else [("comp_over_comm", value) for value in self.comp_over_comm]
        )
        return [
            {"pattern": pattern, "size_bytes": size, name: value}
            for pattern in self.patterns
            for size in self.sizes
            for name, value in second
        ]

    def truth(self, point: dict[str, Any], behaviour: Behaviour) -> tuple[float, float, float]:
        """comm, comp (the reference), total of a point."""
        comm = self.latency_s + point["size_bytes"] / self.bytes_per_s
        comp = point["comp_s"] if "comp_s" in point else point["comp_over_comm"] * comm
        efficiency = behaviour.efficiency - self.wakes.get(point.get("wake_us", 0), 0.0)
        return comm, comp, (comp + comm - efficiency * min(comp, comm)) * self.slowdown

    def launch_lines(
        self, context: dict[str, Any], behaviour: Behaviour, rng: np.random.Generator
    ) -> list[dict[str, Any]]:
        lines: list[dict[str, Any]] = [header(context, self.ranks)]
        shift = float(np.exp(rng.normal(0, self.launch_spread)))
        points = self.points()
        if context["variant"] == LIMIT:
            points = [point | {"wake_us": wake} for point in points for wake in self.wakes]
        for point in points:
            point["work_units"] = round(1000 * point.get("comp_over_comm", point.get("comp_s", 0) * 100))
            if behaviour.fails:
                lines.append({"point": point, "rank": 0, "status": behaviour.fails, "reason": "made up", "samples": {}})
                continue
            lines += [self._rank(point, rank, behaviour, shift, rng) for rank in range(self.ranks)]
        return [*lines, end(context["variant"], ranks=self.ranks)]

    def _rank(
        self, point: dict[str, Any], rank: int, behaviour: Behaviour, shift: float, rng: np.random.Generator
    ) -> dict[str, Any]:
        comm, comp, total = self.truth(point, behaviour)
        role = "sender" if 2 * rank < self.ranks else "receiver"
        computes = point["pattern"] in ("both", role)

        def spread() -> Array:
            return np.exp(rng.normal(0, self.sample_spread, self.samples))

        def draw(value: float, drawn: Array | None = None) -> list[float]:
            return [round(float(x), 9) for x in value * shift * (spread() if drawn is None else drawn)]

        # The parts of a step vary together and make up the whole but for the acknowledgement: as in a step that was
        # measured, no part is longer than the step.
        of_step = spread()
        inside = min(comp * behaviour.inflation, total) if computes else 0.0
        post = min(20e-6, total - inside)
        samples = {
            "comm_s": draw(comm + self.ack_s / shift),
            "comp_s": draw(comp * behaviour.standing_cost * computes),
            "total_s": [value + self.ack_s for value in draw(total, of_step)],
            "comp_in_s": draw(inside, of_step),
            "post_s": draw(post, of_step),
            "wait_s": draw(total - inside - post, of_step),
            "ack_s": [self.ack_s] * self.samples,
            "cpu_s": draw(total),
        }
        noise = {"steal_s": 0.0, "softirq_s": 0.001, "involuntary_switches": 2}
        return {
            "point": point,
            "rank": rank,
            "role": role,
            "status": "ok",
            "samples": samples,
            "warmup": 2,
            "converged": True,
            "noise": noise,
        }


def host_of(rank: int) -> str:
    return f"vc{rank + 1}"


def header(context: dict[str, Any], ranks: int = 2) -> dict[str, Any]:
    places = [
        {"rank": rank, "host": host_of(rank), "cpus_allowed": [rank], "clock_resolution_s": 1e-9}
        for rank in range(ranks)
    ]
    return {
        "header": {
            "schema": 5,
            "context": context,
            "workload": {"name": "overlap", "version": "0.1.0"},
            "quantities": {"total_s": {"unit": "s", "better": "lower", "leading": True}},
            "arguments": [],
            "mpi_library": f"{context.get('mpi', 'none')} 0.0 (made up)",
            "thread_level": {"asked": "single", "provided": "single"},
            "world_size": ranks,
            "ranks": places,
            "start_time": "2026-11-21T09:00:00Z",
        }
    }


def end(variant: str, status: str = "ok", ranks: int = 2) -> dict[str, Any]:
    engine = None
    if variant not in WITHOUT_ENGINE:
        engine = {"version": "0.1.0", "preset": variant, "active": variant != "off", "reason": "", "settings": {}}
    places = [
        {
            "rank": rank,
            "cpus_observed": [rank],
            "interface_bytes": {"eth0": {"received": 10**8, "sent": 10**8}},
            "engine": engine,
        }
        for rank in range(ranks)
    ]
    return {"end": {"status": status, "elapsed_s": 1.5, "ranks": places}}


def provenance(name: str, session: Synthetic) -> dict[str, Any]:
    return {
        "schema": 1,
        "session": name,
        "created": "2026-11-21T09:00:00Z",
        "finished": "2026-11-21T09:05:00Z",
        "state": "complete",
        "command": ["./bench", "run", session.study],
        "scale": "test",
        "studies": [session.study],
        "system": "vcluster",
        "network": "made up: nothing was sent",
        "git": {"commit": "0" * 40, "dirty": False},
        "machine": {"cpu_model": session.machine, "sockets": 1, "cores": 2, "threads_per_core": 1, "kernel": "0.0"},
        "mpis": {mpi: {"version": "0.0", "library": f"{mpi} 0.0 (made up)"} for mpi in session.mpis},
        "reframe": "4.10.4",
        "python": "3.11.7",
        "expected": [],
    }


def write_lines(path: Path, lines: Sequence[dict[str, Any]]) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def empty_session(folder: Path, **facts: Any) -> Path:
    """A session of these facts to which launches are written; one that is there stays."""
    (folder / "records").mkdir(parents=True, exist_ok=True)
    (folder / "session.json").write_text(json.dumps({"session": folder.name, "machine": {}} | facts))
    return folder


def write_launch(
    folder: Path,
    study: str,
    variant: str,
    launch: str,
    lines: Sequence[dict[str, Any]],
    mpi: str = "mpich",
    **head: Any,
) -> None:
    """A launch of this study; points of `lines` are of rank 0 and ok where they say nothing else. `head`: more of the
    header; a `context` is added to what is known."""
    context = {"study": study, "system": "s", "mpi": mpi, "variant": variant, "launch": launch}
    first = header(context | head.pop("context", {}))
    first["header"] |= head
    known = [{"rank": 0, "status": "ok", "samples": {}, **line} if "point" in line else line for line in lines]
    last = [] if "end" in known[-1] else [end(variant)]
    write_lines(folder / "records" / f"{launch}.jsonl", [first, *known, *last])


def edited(session: Path, files: str = "*", count: int | None = None) -> Iterator[list[dict[str, Any]]]:
    """The lines of each of these record files, or of the first so many; written as a loop's body leaves them."""
    for file in sorted((session / "records").glob(files))[:count]:
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        yield lines
        write_lines(file, lines)


def changed_points(session: Path, files: str = "*", count: int | None = None, **changed: Any) -> Path:
    """The session with these fields in every point line of these files; those of `point` and `noise` are added."""
    for lines in edited(session, files, count):
        for line in lines:
            if "point" in line:
                added = changed.keys() & {"point", "noise"}
                line.update(changed | {name: {**line.get(name, {}), **changed[name]} for name in added})
    return session
