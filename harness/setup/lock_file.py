# SPDX-License-Identifier: BSD-3-Clause
"""What uv.lock has for this Python and machine, as a requirements file with hashes, which uv and pip install alike.

PYTHON lock_file.py uv.lock [GROUP]

Not by `uv sync` or `uv export`: uv itself is installed from uv.lock, by pip, and where uv does not work pip installs
all. And `uv sync` downloads from where uv.lock was made, not from the index that uv or pip is configured with here.

It is run by the Python of .venv, whose pip brings what reads markers (PEP 508) and, for Python 3.10, TOML.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pip._vendor.packaging.markers import Marker

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib

Table = dict[str, Any]


def load(file: Path) -> Table:
    """All that uv.lock says."""
    return tomllib.loads(file.read_text(encoding="utf-8"))


def requirements(lock: Table, group: str = "", machine: Mapping[str, str] | None = None) -> list[str]:
    """The packages of a group of pyproject.toml, or of its `dependencies`, with all that these depend on, one a line.

    `machine`: values of markers that differ from those of this Python and machine.
    """
    (project,) = (package for package in lock["package"] if "editable" in package["source"])
    wanted = list(project["dev-dependencies"][group] if group else project["dependencies"])
    found: dict[tuple[str, str, str], Table] = {}
    while wanted:
        one = wanted.pop()
        if "marker" in one and not Marker(one["marker"]).evaluate(dict(machine or {})):
            continue
        package = _package(lock, one)
        for extra in ("", *one.get("extra", ())):
            key = (package["name"], package["version"], extra)
            if key not in found:
                found[key] = package
                wanted += package.get("optional-dependencies", {})[extra] if extra else package.get("dependencies", ())
    return [_line(package) for (_, _, extra), package in sorted(found.items()) if not extra]


def _package(lock: Table, one: Table) -> Table:
    """Where uv.lock has several versions, it says which is meant."""
    (package,) = (
        package
        for package in lock["package"]
        if package["name"] == one["name"] and one.get("version", package["version"]) == package["version"]
    )
    return dict(package)


def _line(package: Table) -> str:
    archives = [*package.get("wheels", ()), *([package["sdist"]] if "sdist" in package else [])]
    hashes = sorted({archive["hash"] for archive in archives})
    return " --hash=".join([f"{package['name']}=={package['version']}", *hashes])


if __name__ == "__main__":
    print("\n".join(requirements(load(Path(sys.argv[1])), "".join(sys.argv[2:]))))
