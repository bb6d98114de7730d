# SPDX-License-Identifier: BSD-3-Clause
"""What may include what in the engine's sources, and that files which pages and comments name are there."""

from __future__ import annotations

import re
from graphlib import TopologicalSorter
from pathlib import Path

from harness.base.paths import ROOT

SOURCES = ROOT / "progress_engine" / "src"

# Folder -> those that its files may include, beside its own. Drawn in docs/explanation/engine.md.
LAYERS: dict[str, set[str]] = {
    "platform": set(),
    "policy": {"platform"},
    "telemetry": {"platform"},
    "wait": {"platform"},
    "wakeup": {"platform"},
    "core": {"platform", "policy", "telemetry", "wait", "wakeup"},
    "fabrics": {"platform", "policy", "wait"},
    "mpi": {"platform", "policy", "telemetry", "wait", "wakeup", "core", "fabrics"},
    "offload": {"platform", "policy", "telemetry", "wait", "core", "mpi"},
    "profile": {"platform", "telemetry", "mpi"},
}
# The border between the two libraries: all that offload sees of the interposer. The last two are generated.
BORDER = {"offload", "status", "mpi_header", "abi", "progress", "quirks", "mpi_handles", "routes"}


def includes() -> dict[str, set[str]]:
    """File -> the files that it includes, as they are named in #include."""
    files = [path for path in SOURCES.rglob("*.?pp") if path.parent != SOURCES]
    return {
        str(path.relative_to(SOURCES)): set(re.findall(r'^#include "(\w+/[^"]+)"', path.read_text(), re.MULTILINE))
        for path in files
    }


def folder(file: str) -> str:
    return file.partition("/")[0]


def test_folders_include_only_what_is_below_them() -> None:
    for file, included in includes().items():
        wrong = {
            name for name in included if folder(name) not in {*LAYERS[folder(file)], folder(file), "progress_engine"}
        }
        assert not wrong, f"{file} must not include {sorted(wrong)}"
    generated = (SOURCES / "generator" / "generate.py").read_text()
    assert '#include "offload/' not in generated, "nor may the wrappers"


def test_offload_sees_only_the_border() -> None:
    for file, included in includes().items():
        if folder(file) == "offload":
            seen = {Path(name).stem for name in included if folder(name) == "mpi"}
            assert seen <= BORDER, f"{file} includes {sorted(seen - BORDER)} of the interposer"


def test_nothing_includes_itself_in_a_circle() -> None:
    tuple(TopologicalSorter(includes()).static_order())  # raises CycleError
    tuple(TopologicalSorter(LAYERS).static_order())


def test_epoll_has_one_owner() -> None:
    users = {file for file in includes() if re.search(r"\bepoll_\w+\(|SYS_epoll", (SOURCES / file).read_text())}
    assert users == {"wait/event_source.cpp"}


# Made by the build.
GENERATED = {"interposed.cpp", "mpi_handles.hpp", "profiled.cpp", "routes.hpp", "routes.cpp", "presets_json.hpp"}
PAGES = ("explanation/engine", "explanation/doorbell", "explanation/events", "explanation/offload", "reference/hazards")
SOURCE_FILE = r"\b((?:\w+/)*\w+\.(?:[ch]pp|py))\b"


def test_files_that_pages_and_comments_name_are_there() -> None:
    there = {f"/{path.relative_to(ROOT)}" for folder in ("progress_engine", "workloads", "harness", "analysis", "docs")
             for path in (ROOT / folder).rglob("*.*p*")}  # fmt: skip
    texts = {page: re.findall(r"`(.*?)`", (ROOT / "docs" / f"{page}.md").read_text()) for page in PAGES}
    for path in (ROOT / "progress_engine").rglob("*.?pp"):
        texts[str(path)] = re.findall(r"//(.*)", path.read_text())
    for where, parts in texts.items():
        named = {name for part in parts for name in re.findall(SOURCE_FILE, part) if Path(name).name not in GENERATED}
        gone = {name for name in named if not any(file.endswith(f"/{name}") for file in there)}
        assert not gone, f"{where} names {sorted(gone)}"
