# SPDX-License-Identifier: BSD-3-Clause
"""Writes a site's packages.yaml: a fabric's template, and safe externals for what this machine has.

A site is a folder sites/NAME: packages.yaml, the shims of its MPIs, and the environments as they are used there, with
their locks. None of it is in git.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.base.errors import UsageError, there_are
from harness.base.mpis import MPIS
from harness.base.paths import ROOT
from spack_env import externals, mpi_environments
from spack_env.externals import External
from spack_env.mpi_environments import Found

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
        raise UsageError(f"There is no template '{template}'. {there_are(template, templates())}")
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


MPI_PACKAGES = {package for package, _ in mpi_environments.KINDS} | {CRAY}


def _mpis(folder: Path, template: str, prefixes: Iterable[Path]) -> tuple[list[External], list[str]]:
    found: list[External] = []
    left_out: list[str] = []
    candidates = [*_given(prefixes), *(_wheels() if template == WHEELS else mpi_environments.on_path())]
    for candidate in candidates:
        if isinstance(candidate, str):
            left_out.append(candidate)
        elif candidate.package not in {external.package for external in found}:
            found.append(external(candidate, folder))
        else:
            left_out.append(f"{candidate.mpicc}: another {candidate.package} was found before it, so it is left out")
    return [*found, *_cray()], left_out


def _given(prefixes: Iterable[Path]) -> Iterator[mpi_environments.Found]:
    for prefix in prefixes:
        wrapper = prefix / "bin" / "mpicc"
        if not os.access(wrapper, os.X_OK):
            raise UsageError(f"{prefix} is no MPI's prefix: there is no program bin/mpicc in it.")
        answer = mpi_environments.identify(wrapper)
        if isinstance(answer, str):
            raise UsageError(answer + ".")
        yield answer


def _wheels() -> Iterator[mpi_environments.Found | str]:
    """The MPIs that ./bench itself installs from PyPI; never Debian's beside them."""
    for mpi in MPIS.values():
        if mpi.wheels and mpi.installed():
            needed = mpi.environment() if mpi.family == "intel" else {}
            yield mpi_environments.identify(mpi.mpicc, needed)


def _cray() -> Iterator[External]:
    """Cray's MPI says by its module where it is; its wrappers are the compilers themselves."""
    prefix, version = os.environ.get("CRAY_MPICH_DIR"), os.environ.get("CRAY_MPICH_VERSION")
    if prefix and version:
        modules = {"modules": [f"cray-mpich/{version}"]}
        yield External(CRAY, f"{CRAY}@{version} +wrappers", prefix, "its module is loaded (CRAY_MPICH_DIR)", modules)


# MPIs as Spack externals that cannot be mistaken for one another.
#
# Two MPIs that share a prefix, as a distribution's do in /usr, are one to Spack: it takes the mpicc of that prefix, and
# a build "with MPICH" links Open MPI and ends with status 0. An MPI that does not have a prefix to itself, in the
# layout that Spack's recipe expects, gets one: a folder of one-line scripts and links (a shim).

SYSTEM_PREFIXES = ("/", "/usr", "/usr/local")
SYSTEM_LIBRARIES = ("/lib", "/lib64", "/usr/lib", "/usr/lib64", "/usr/local/lib")
PROGRAMS = (
    "mpicc", "mpicc_abi", "mpicxx", "mpic++", "mpif77", "mpif90", "mpifort", "mpifc",
    "mpiexec", "mpiexec.hydra", "mpirun", "hydra_pmi_proxy", "ompi_info", "prterun", "prte", "prted", "mpichversion",
)  # fmt: skip
INTEL = "intel-oneapi-mpi"


def external(found: Found, folder: Path) -> External:
    """The entry of packages.yaml for an MPI; writes its shim below `folder` if it needs one."""
    prefix, how = _own_prefix(found), f"{found.mpicc} compiles with its mpi.h"
    if prefix is None:
        prefix = folder / found.label
        _write(found, prefix)
        how += "; it has a prefix of its own in the site's shims"
    return External(found.package, _spec(found), str(prefix), how)


def _spec(found: Found) -> str:
    """The version, and the variants that are facts of this build."""
    if found.package == INTEL:
        return f"{INTEL}@{found.version} {'+generic-names' if found.mpicc.name == 'mpicc' else '~generic-names'}"
    fortran = {"mpich", "openmpi"} & {found.package}
    return f"{found.package}@{found.version}" + (f" {'+' if found.fortran else '~'}fortran" if fortran else "")


def _own_prefix(found: Found) -> Path | None:
    """The MPI's prefix if it has one to itself that Spack's recipe understands.

    Spack puts the whole bin folder first on PATH, so another MPI's programs in it count, and a Python's.
    """
    if found.environment or found.mpicc.name not in ("mpicc", "mpiicx"):
        return None
    if found.package == INTEL:
        layout = Path("mpi") / ".".join(found.version.split(".")[:2])
        above = found.prefix.parent.parent
        return above if found.prefix.relative_to(above) == layout else None
    shared = str(found.prefix.resolve()) in SYSTEM_PREFIXES or (found.prefix / "bin" / "python3").exists()
    return None if shared else found.prefix


def _write(found: Found, prefix: Path) -> None:
    shutil.rmtree(prefix, ignore_errors=True)
    root = prefix / "mpi" / ".".join(found.version.split(".")[:2]) if found.package == INTEL else prefix
    (root / "bin").mkdir(parents=True)
    for name in PROGRAMS:
        if program := found.program(name):
            _script(root / "bin" / name, program, found)
    _link_folders(found, root)
    if found.package == INTEL:  # what Spack reads a oneAPI package's environment from
        (root / "env").mkdir()
        lines = [f"export {name}={shlex.quote(value)}" for name, value in found.environment.items()]
        (root / "env" / "vars.sh").write_text("\n".join([f"export PATH={root}/bin:$PATH", *lines]) + "\n")


def _script(path: Path, program: Path, found: Found) -> None:
    """A script rather than a link: many wrappers look for their settings beside the name that they are called by."""
    lines = [f"export {name}={shlex.quote(value)}" for name, value in found.environment.items()]
    path.write_text("\n".join(["#!/bin/sh", *lines, f'exec {shlex.quote(str(program))} "$@"']) + "\n")
    path.chmod(0o755)


def _link_folders(found: Found, root: Path) -> None:
    """include and lib. Of a system's library folder only the MPI's own libraries: the rest would hide others'."""
    flags = found.flags()
    for folder in (Path(flag[2:]) for flag in flags if flag.startswith("-I")):
        if (folder / "mpi.h").exists():
            (root / "include").symlink_to(folder)
            break
    libraries = [flag[2:] for flag in flags if flag.startswith("-l") and "mpi" in flag]
    (root / "lib").mkdir()
    for folder in dict.fromkeys(_library_folders(flags)):
        for library in libraries:
            for file in sorted(folder.glob(f"lib{library}*.so*")):
                if not (root / "lib" / file.name).exists():
                    (root / "lib" / file.name).symlink_to(file)


def _library_folders(flags: list[str]) -> list[Path]:
    given = [Path(flag[2:]) for flag in flags if flag.startswith("-L")]
    return [folder for folder in [*given, *map(Path, SYSTEM_LIBRARIES)] if os.access(folder, os.R_OK)]
