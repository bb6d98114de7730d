#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Draws which layer imports which into docs/explanation/architecture.md, as Mermaid; --check says whether it is so.

The layers are those of the contract "one direction" in pyproject.toml; grimp, on which import-linter stands, reads the
imports.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

import grimp
from importlinter import api

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "explanation" / "architecture.md"
BLOCK = re.compile(r"(?<=```mermaid\n).*?(?=```)", re.DOTALL)
LOWEST = "harness.base"  # all the others import it: its arrows would hide the rest


def layers() -> list[str]:
    """From the top; those of one layer one after the other."""
    contracts = api.read_configuration()["contracts_options"]
    lines = next(contract["layers"] for contract in contracts if contract["name"] == "one direction")
    return [name for line in lines for name in re.findall(r"[\w.]+", line)]


def graph() -> grimp.ImportGraph:
    """Without tests, which look at everything."""
    packages = api.read_configuration()["session_options"]["root_packages"]
    found = grimp.build_graph(*packages, cache_dir=None)
    for module in [name for name in found.modules if "tests" in name.split(".")]:
        found.remove_module(module)
    return found


def mermaid() -> str:
    """The picture, and what was counted for it."""
    found = graph()
    names = [name for name in layers() if name in found.modules]
    inside = {name: {name} | found.find_descendants(name) for name in names}
    arrows = [
        f"    {above} --> {below}"
        for above in names
        for below in names
        if below not in (above, LOWEST)
        and any(found.find_modules_directly_imported_by(module) & inside[below] for module in inside[above])
    ]
    return "\n".join(["flowchart TD", *arrows, ""])


def main(arguments: list[str]) -> int:
    text = PAGE.read_text()
    drawn = BLOCK.sub(mermaid(), text)
    if arguments != ["--check"]:
        PAGE.write_text(drawn)
    elif drawn != text:
        print(f"{PAGE.name} shows other imports: python .ci/import_graph.py draws them anew", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))
    sys.exit(main(sys.argv[1:]))
