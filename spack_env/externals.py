# SPDX-License-Identifier: BSD-3-Clause
"""What a machine has that Spack need not build: tools, libraries, the compiler. As entries of packages.yaml.

A prefix of /usr is right for these: each is one library with one header, and Spack leaves /usr out of search paths.
MPIs are another matter (spack_env.mpi_environments).
"""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base import process

VERSION = re.compile(r"\d+(?:\.\d+)+[\w-]*")
ANSWER_TIMEOUT_S = 20

# package -> command that answers --version with its own
TOOLS = {
    "autoconf": "autoconf", "automake": "automake", "bison": "bison", "cmake": "cmake", "diffutils": "diff",
    "findutils": "find", "flex": "flex", "gawk": "gawk", "git": "git", "gmake": "make", "libtool": "libtool",
    "m4": "m4", "ninja": "ninja", "perl": "perl", "pkgconf": "pkgconf", "slurm": "sinfo", "tar": "tar",
}  # fmt: skip

# package -> its name in pkg-config's files
LIBRARIES = {
    "argobots": "argobots", "cli11": "CLI11", "fftw": "fftw3", "fmt": "fmt", "googletest": "gmock", "hwloc": "hwloc",
    "libfabric": "libfabric", "nlohmann-json": "nlohmann_json", "numactl": "numa", "pmix": "pmix",
    "rdma-core": "libibverbs", "ucx": "ucx",
}  # fmt: skip

# what pkg-config does not know: package -> (headers, the macro or macros of its version)
HEADERS = {
    # fibers are all that the workloads want of it
    "boost": (("boost/fiber/fiber.hpp", "boost/version.hpp"), ("BOOST_LIB_VERSION",)),
    "opa-psm2": (("psm2.h",), ("PSM2_VERNO_MAJOR", "PSM2_VERNO_MINOR")),
}

# what an external must be said to have, beside its version
VARIANTS = {"googletest": "+gmock", "boost": "+context+fiber", "fftw": "~mpi precision=double"}


@dataclass(frozen=True)
class External:
    """One entry of packages.yaml. `how` says in words where it was found."""

    package: str
    spec: str
    prefix: str
    how: str
    more: dict[str, Any] = field(default_factory=dict)

    def entry(self) -> dict[str, Any]:
        return {"spec": self.spec, "prefix": self.prefix, **self.more}


def answer(command: list[str]) -> str:
    """What a command prints; empty if it is not there, fails or hangs."""
    done = process.answer(command, ANSWER_TIMEOUT_S)
    return done.out if done.status == 0 else ""


def prefix_of(program: str) -> str:
    """The prefix of the bin folder in which a program was found, links not followed."""
    return str(Path(program).parent.parent)


def tools() -> Iterator[External]:
    """The build tools on PATH."""
    for package, command in TOOLS.items():
        program = shutil.which(command)
        found = VERSION.search(answer([program, "--version"])) if program else None
        if program and found:
            yield External(package, f"{package}@{found[0]}", prefix_of(program), f"on PATH as {program}")
    # Python says itself where it lives: what is on PATH may be a stand-in that chooses one of several.
    version, prefix = platform.python_version(), sys.base_prefix
    yield External("python", f"python@{version}", prefix, f"this one is running, from {prefix}")


def libraries() -> Iterator[External]:
    """The libraries that pkg-config knows, and those that only their header gives away."""
    for package, module in LIBRARIES.items():
        version = answer(["pkg-config", "--modversion", module]).strip()
        prefix = answer(["pkg-config", "--variable=prefix", module]).strip() or "/usr"
        if package == "rdma-core":  # pkg-config has libibverbs' own: 1.14.44.0 is part of rdma-core 44.0
            version = ".".join(version.split(".")[-2:])
        if version:
            yield External(package, _spec(package, version), prefix, f"pkg-config knows {module}")
    for package, (headers, names) in HEADERS.items():
        if version := header_version(headers, names):
            yield External(package, _spec(package, version), "/usr", f"the compiler finds {headers[0]}")


def _spec(package: str, version: str) -> str:
    return f"{package}@{version} {VARIANTS.get(package, '')}".strip()


def macros(compiler: str, headers: tuple[str, ...]) -> dict[str, str]:
    """The macros that are defined after `headers`, as this compiler sees them; none if it cannot read one of them."""
    language = "c++" if headers[0].endswith("hpp") else "c"
    included = [word for header in headers for word in ("-include", header)]
    text = answer([compiler, "-E", "-dM", "-x", language, *included, os.devnull])
    pairs = (line.removeprefix("#define ").partition(" ") for line in text.splitlines())
    return {name: value.strip().strip('"') for name, _, value in pairs}


def header_version(headers: tuple[str, ...], names: tuple[str, ...]) -> str:
    """A version from headers' macros: 1_74 and 2.1 and (2, 1) all become dotted."""
    compiler = shutil.which("cc") or shutil.which("gcc")
    defined = macros(compiler, headers) if compiler else {}
    if not all(name in defined for name in names):
        return ""
    values = (defined[name].replace("_", ".") for name in names)  # Boost writes 1_74
    return ".".join(str(int(value, 16)) if value.lower().startswith("0x") else value for value in values)


def compilers() -> Iterator[External]:
    """The GCC on PATH, as Spack describes a compiler."""
    languages = {"c": "gcc", "cxx": "g++", "fortran": "gfortran"}
    paths = {language: path for language, command in languages.items() if (path := shutil.which(command))}
    if not {"c", "cxx"} <= paths.keys():
        return
    version = answer([paths["c"], "-dumpfullversion"]).strip()
    spoken = ",".join({"cxx": "c++"}.get(language, language) for language in paths)
    yield External(
        "gcc",
        f"gcc@{version} languages='{spoken}'",
        prefix_of(paths["c"]),
        f"on PATH as {', '.join(paths.values())}",
        {"extra_attributes": {"compilers": paths}},
    )
