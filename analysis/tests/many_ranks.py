# SPDX-License-Identifier: BSD-3-Clause
"""Sessions of many ranks, spread from the kept one of `./bench demo`.

They have MPICH's launches of bare and adaptive, six of each, at 4 MiB. Each rank has the records of one of the two that
were measured, on a node of its own; a launch stays one file.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from harness.base import paths

KEPT = paths.folder_of(Path(__file__).resolve().parents[2] / "results" / "reference" / "demo")
RECORDS = ("mpich.*.bare", "mpich.*.adaptive")
SIZE_BYTES = 4 << 20


def make(folder: Path, ranks: int) -> Path:
    """A session of so many ranks, half of them senders. `folder` is made, and returned."""
    (folder / "records").mkdir(parents=True)
    (folder / "nodes").mkdir()
    for file in sorted(one for pattern in RECORDS for one in (KEPT / "records").glob(f"*.{pattern}.jsonl")):
        with (folder / "records" / file.name).open("w") as stream:
            for line in map(json.loads, file.read_text().splitlines()):
                stream.writelines(json.dumps(each) + "\n" for each in _spread(line, ranks))
    described = [json.loads(file.read_text()) for file in sorted((KEPT / "nodes").iterdir())]
    for rank in range(ranks):
        facts = described[_measured(rank, ranks)] | {"host": _host(rank)}
        (folder / "nodes" / f"{_host(rank)}.json").write_text(json.dumps(facts))
    shutil.copy(KEPT / "session.json", folder)
    facts = json.loads((folder / "session.json").read_text())
    (folder / "session.json").write_text(json.dumps(facts | {"session": folder.name, "expected": []}))
    return folder


def _host(rank: int) -> str:
    return f"node-{rank:04d}"


def _measured(rank: int, ranks: int) -> int:
    """Whose record a rank has: the sender's, or the receiver's."""
    return int(2 * rank >= ranks)


def _spread(line: dict[str, Any], ranks: int) -> list[dict[str, Any]]:
    """The lines of all ranks in the place of one of two ranks' session."""
    for part in ("header", "end"):
        if part in line:
            of_two = line[part]["ranks"]
            of_all = [of_two[_measured(rank, ranks)] | {"rank": rank} for rank in range(ranks)]
            if part == "header":
                of_all = [one | {"host": _host(one["rank"])} for one in of_all]
            return [{part: line[part] | {"ranks": of_all} | ({"world_size": ranks} if part == "header" else {})}]
    if line["point"]["size_bytes"] != SIZE_BYTES:
        return []
    return [line | {"rank": rank} for rank in range(ranks) if _measured(rank, ranks) == line["rank"]]
