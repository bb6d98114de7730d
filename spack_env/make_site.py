# SPDX-License-Identifier: BSD-3-Clause
"""Writes a site's packages.yaml: a fabric's template, and safe externals for what this machine has.

A site is a folder sites/NAME: packages.yaml, the shims of its MPIs, and the environments as they are used there, with
their locks. None of it is in git.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.base.errors import UsageError
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from spack_env import externals, mpis, shims
from spack_env.externals import External

HERE = ROOT / "spack_env"
TEMPLATES = HERE / "templates"
SITES = HERE / "sites"
HEADER = "# SPDX-License-Identifier: BSD-3-Clause\n# Written by ./bench spack site; edit it, or make it anew.\n"

# A site must not say which MPI: that is what the environments are for.
CRAY = "cray-mpich"
WHEELS = "pypi"  # the template with the MPIs that ./bench installs


@dataclass(frozen=True)
class SpackSite:
    """What was written and found. `left_out`: why something that looks like an MPI is not in it."""

    folder: Path
    found: list[External]
    left_out: list[str]

    @property
    def name(self) -> str:
        return self.folder.name


def templates() -> list[str]:
    return sorted(path.stem for path in TEMPLATES.glob("*.yaml"))


def make(name: str, template: str, prefixes: Iterable[Path] = ()) -> SpackSite:
    """Look at this machine and write the site `name`. `prefixes`: MPIs that are not on PATH."""
    if not name.replace("-", "").replace("_", "").isalnum():
        raise UsageError(f"A site's name is made of letters, digits, - and _, not '{name}'.")
    if template not in templates():
        raise UsageError(f"There is no template '{template}'. There are: {', '.join(templates())}.")
    folder = SITES / name
    folder.mkdir(parents=True, exist_ok=True)
    found, left_out = _mpis(folder / "shims", template, prefixes)
    found += [*externals.compilers(), *externals.tools(), *externals.libraries()]
    packages = merge(yaml.safe_load((TEMPLATES / f"{template}.yaml").read_text())["packages"], found)
    (folder / "packages.yaml").write_text(HEADER + yaml.safe_dump({"packages": packages}, sort_keys=True, width=100))
    return SpackSite(folder, found, left_out)


def merge(template: Mapping[str, Any], found: Iterable[External]) -> dict[str, Any]:
    """The template's packages with the externals that were found; an external of the template gives way to a found one.

    An MPI that is found is used as it is: what is built beside it would not be what the site's users run.
    """
    packages: dict[str, Any] = {name: dict(entry) for name, entry in template.items()}
    listed: dict[str, list[dict[str, Any]]] = {}
    for external in found:
        listed.setdefault(external.package, []).append(external.entry())
    for package, entries in listed.items():
        entry = packages.setdefault(package, {})
        entry["externals"] = entries
        if package in MPI_PACKAGES:
            entry["buildable"] = False
            entry.pop("variants", None)  # the template's are for building it
    return packages


MPI_PACKAGES = {package for package, _ in mpis.KINDS} | {CRAY}


def _mpis(folder: Path, template: str, prefixes: Iterable[Path]) -> tuple[list[External], list[str]]:
    found: list[External] = []
    left_out: list[str] = []
    candidates = [*_given(prefixes), *(_wheels() if template == WHEELS else mpis.on_path())]
    for candidate in candidates:
        if isinstance(candidate, str):
            left_out.append(candidate)
        elif candidate.package not in {external.package for external in found}:
            found.append(shims.external(candidate, folder))
        else:
            left_out.append(f"{candidate.mpicc}: another {candidate.package} was found before it, so it is left out")
    return [*found, *_cray()], left_out


def _given(prefixes: Iterable[Path]) -> Iterator[mpis.Found]:
    for prefix in prefixes:
        wrapper = prefix / "bin" / "mpicc"
        if not os.access(wrapper, os.X_OK):
            raise UsageError(f"{prefix} is no MPI's prefix: there is no program bin/mpicc in it.")
        answer = mpis.identify(wrapper)
        if isinstance(answer, str):
            raise UsageError(answer + ".")
        yield answer


def _wheels() -> Iterator[mpis.Found | str]:
    """The MPIs that ./bench itself installs from PyPI; never Debian's beside them."""
    for mpi in MPIS.values():
        if mpi.wheels and mpi.installed():
            needed = mpi.environment() if mpi.family == "intel" else {}
            yield mpis.identify(mpi.mpicc, needed)


def _cray() -> Iterator[External]:
    """Cray's MPI says by its module where it is; its wrappers are the compilers themselves."""
    prefix, version = os.environ.get("CRAY_MPICH_DIR"), os.environ.get("CRAY_MPICH_VERSION")
    if prefix and version:
        modules = {"modules": [f"cray-mpich/{version}"]}
        yield External(CRAY, f"{CRAY}@{version} +wrappers", prefix, "its module is loaded (CRAY_MPICH_DIR)", modules)
