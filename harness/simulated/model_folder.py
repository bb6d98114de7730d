# SPDX-License-Identifier: BSD-3-Clause
"""Where the simulator is, and with which files it predicts. Standard library only.

A model is a folder: platform.xml, SimGrid's description of the network, and a file MPI.json for each MPI that it knows
(results/schema/model.schema.json). OVERLAP_BENCH_MODEL names one of those that come with this repository, or a folder.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

from harness.base.errors import UsageError
from harness.base.paths import BUILD_DIR, ROOT

VARIABLE = "OVERLAP_BENCH_MODEL"
SHIPPED = ROOT / "simulator" / "models"
DEFAULT = "vcluster"
PLATFORM = "platform.xml"
BIN = BUILD_DIR / "simulated" / "bin"
PROGRAM = BIN / "simulate"
ASYNC_PROGRESS = {"SIMULATED_ASYNC_PROGRESS": "1"}  # what the MPI's own variable is on a real system


def folder() -> Path:
    """The model that is asked for, or UsageError."""
    asked = os.environ.get(VARIABLE) or DEFAULT
    found = next((path for path in (SHIPPED / asked, Path(asked)) if (path / PLATFORM).is_file()), None)
    if found is None:
        known = ", ".join(sorted(path.parent.name for path in SHIPPED.glob(f"*/{PLATFORM}")))
        raise UsageError(f"{VARIABLE}={asked}: a folder with {PLATFORM} is wanted, or one of {known}.")
    return found.resolve()


def mpis(model: Path) -> list[str]:
    """The MPIs that a model knows."""
    return sorted(path.stem for path in model.glob("*.json"))


def _read(model: Path, mpi: str, group: str, name: str) -> Any:
    try:
        entry = json.loads((model / f"{mpi}.json").read_text())[group][name]
        return entry["value"] if isinstance(entry, dict) else entry
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise UsageError(f"{model / mpi}.json is no model of an MPI: {error!r}.") from None


def has_own_thread(model: Path, mpi: str) -> bool:
    """Whether the MPI has a progress thread of its own, by its model."""
    return bool(_read(model, mpi, "async", "exists"))


def unit_s(model: Path, mpi: str) -> float:
    """What a unit of the benchmarks' work takes, by its model."""
    return float(_read(model, mpi, "computation", "unit_s"))


def bytes_per_s(model: Path) -> float | None:
    """The bandwidth of a host's link, where the platform is a cluster that names one."""
    try:
        clusters = ElementTree.parse(model / PLATFORM).iter("cluster")
    except (OSError, ElementTree.ParseError):
        return None
    found = [re.fullmatch(r"([\d.e+]+)([kMG]?)Bps", cluster.get("bw", "")) for cluster in clusters]
    return float(found[0][1]) * {"": 1, "k": 1e3, "M": 1e6, "G": 1e9}[found[0][2]] if found and found[0] else None


def host_names(model: Path) -> list[str]:
    """The hosts of the platform in the order of their ranks: each takes one."""
    try:
        tree = ElementTree.parse(model / PLATFORM)
    except ElementTree.ParseError as error:
        raise UsageError(f"{model / PLATFORM} is no XML: {error}.") from None
    names = [host.get("id", "") for host in tree.iter("host")]
    for cluster in tree.iter("cluster"):
        for part in cluster.get("radical", "").split(","):
            first, _, last = part.partition("-")
            numbers = range(int(first), int(last or first) + 1) if first.isdigit() else ()
            names += [f"{cluster.get('prefix', '')}{number}{cluster.get('suffix', '')}" for number in numbers]
    return names


def hosts(model: Path) -> int:
    """How many of them there are."""
    return len(host_names(model))


def files(model: Path) -> dict[str, str]:
    """What predicts: file -> SHA-256."""
    paths = [model / PLATFORM, *sorted(model.glob("*.json"))]
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}
