# SPDX-License-Identifier: BSD-3-Clause
"""The MPIs, and the builds for them: the engine and the workloads once for each ABI, out of tree and incremental
(CMakePresets.json). Each MPI's PyPI wheel goes into a folder of its own below .mpi, so that no two ever see each other.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from harness.base import process
from harness.base.errors import UsageError
from harness.base.mpis import MPIS, Mpi
from harness.base.paths import BUILD_DIR, ROOT, VENV
from harness.base.process import Step, has_stamp, run_step, run_steps, say, setup_lock, write_stamp
from harness.setup import environment

CMAKE = str(VENV / "bin" / "cmake")
AT_ONCE = 3  # a compiler takes half a gigabyte, and each build has two at least
LOOK_LIMIT_S = 30.0
WITHOUT = "configured_without.stamp"  # in a build's folder: the packages of "all targets" that were not here
ENGINE = ("progress_engine/all",)
WITHOUT_OFFLOAD = ("engine_to_preload",)
OF_ENGINE = {*ENGINE, *WITHOUT_OFFLOAD, "progress_profile"}
OF_DEMO = {*WITHOUT_OFFLOAD, "microbench"}  # what needs the packages of each build alone
PREBUILT = ROOT / "prebuilt"  # what a wheel brings (./bench wheel); pip puts the engine and its tools into a prefix


@dataclass(frozen=True)
class Abi:
    """Which several MPIs have beside their own: what the wrapper of one has made runs on all. `library`: its soname."""

    wrapper: str
    library: str


ABIS = {"standard-abi": Abi("mpicc_abi", "libmpi_abi.so.1")}  # by preset; the wrapper is MPICH's


def engine(offload: bool) -> tuple[str, ...]:
    """The targets of the engine; without `offload` for launches of which none asks for safety=offload."""
    return ENGINE if offload else WITHOUT_OFFLOAD


def build_variables(mpi: Mpi | None, root: Path = ROOT) -> dict[str, str]:
    """What a build of the sources in `root` has beside the environment of the call."""
    # cmake and ninja come with .venv: a distribution's may be too old for the presets
    path = os.pathsep.join([str(VENV / "bin"), os.environ.get("PATH", os.defpath)])
    # relative paths are the same for each MPI: what includes no mpi.h, generated headers or not, is compiled once
    cache = {
        "CCACHE_DIR": str(BUILD_DIR / "ccache"),
        "CCACHE_BASEDIR": str(root),
        "CCACHE_DEPEND": "1",  # which headers a source reads says the compiler: no run of the preprocessor
        "CCACHE_SLOPPINESS": "pch_defines,time_macros",  # without them it caches nothing that has precompiled headers
    }
    return (mpi.environment() if mpi else {}) | {"PATH": path} | cache


TOOLS = ("mpicc", "mpicxx", "mpic++", "mpiCC", "mpif77", "mpif90", "mpifort", "mpiexec", "mpirun")


def ensure_mpis(*mpis: Mpi) -> None:
    """Have `mpis` here, with their tools under plain names: wheels are installed side by side; UsageError if one is a
    Debian package that is not here."""
    for mpi in mpis:
        if not mpi.wheels and not mpi.installed():
            raise UsageError(f"{mpi.title} is not installed: sudo apt-get install {' '.join(mpi.packages)}")
    if any(map(_lacks, mpis)):
        with setup_lock(), ThreadPoolExecutor() as pool:
            list(pool.map(_install, {mpi.name: mpi for mpi in mpis if _lacks(mpi)}.values()))
    for mpi in mpis:
        _give_plain_names(mpi)


def _lacks(mpi: Mpi) -> bool:
    return bool(mpi.wheels) and not (mpi.installed() and has_stamp(_stamp(mpi), " ".join(mpi.wheels)))


def _stamp(mpi: Mpi) -> Path:
    return mpi.prefix / "overlap-bench.stamp"


def _install(mpi: Mpi) -> None:
    wanted = " ".join(mpi.wheels)
    shutil.rmtree(mpi.prefix, ignore_errors=True)
    run_step(f"{mpi.title}: folder", [sys.executable, "-m", "venv", "--without-pip", str(mpi.prefix)])
    environment.install(f"{mpi.title}: {wanted}", mpi.prefix, mpi.wheels, about_s=5)
    write_stamp(_stamp(mpi), wanted)


def _give_plain_names(mpi: Mpi) -> None:
    """mpicc for mpicc.mpich, and so on; what an MPI lacks is refused, or another's on PATH would be taken for it.

    Scripts, because these programs look at the name by which they are called.
    """
    for folder in ("bin", "lib"):
        (mpi.plain / folder).mkdir(parents=True, exist_ok=True)
    for name in TOOLS:
        tool = mpi.bin / f"{name}{mpi.suffix}"
        if not tool.exists():
            _replace(mpi.plain / "bin" / name, f"#!/bin/sh\necho '{mpi.title} has no {name}.' >&2\nexit 2\n")
        elif mpi.suffix:
            _replace(mpi.plain / "bin" / name, f'#!/bin/sh\nexec {tool} "$@"\n')
    for name, pattern in mpi.loaded_as.items():
        for library in mpi.prefix.glob(pattern):
            link = mpi.plain / "lib" / name
            if not link.exists():
                link.unlink(missing_ok=True)
                link.symlink_to(library)


def _replace(script: Path, text: str) -> None:
    if not has_stamp(script, text):
        write_stamp(script, text)
        script.chmod(0o755)


def _up_to_date(folder: str, targets: Sequence[str], environment: dict[str, str]) -> bool:
    command = [str(VENV / "bin" / "ninja"), "-C", folder, "-n", *targets]
    look = process.answer(command, None, dict(os.environ) | environment)
    return look.status == 0 and "no work to do" in look.out


@dataclass(frozen=True)
class Build:
    """Some targets of a preset of CMakePresets.json, with an MPI."""

    preset: str
    mpi: Mpi
    targets: Sequence[str] = ("all",)

    @property
    def folder(self) -> Path:
        return BUILD_DIR / self.preset

    @property
    def environment(self) -> dict[str, str]:
        return build_variables(self.mpi)

    def is_prebuilt(self) -> bool:
        """Whether the package brings all of it. What was once configured here stays a build."""
        programs = PREBUILT / self.preset / "bin"
        wanted = {*self.targets} - OF_ENGINE - {"all"}
        brought = PREBUILT.exists() if self.preset in ABIS else programs.exists()
        return brought and all((programs / one).exists() for one in wanted) and not _configured(self.folder, ROOT)

    def take_prebuilt(self) -> None:
        """Have the programs where a build would put them: there they find the MPI, which the package does not bring."""
        files = metadata.files("overlap-bench") or ()
        (tool,) = (Path(str(one.locate())).resolve() for one in files if one.name == "progress-run")
        stamp, text = self.folder / "prebuilt.stamp", f"{tool} {(PREBUILT / 'stamp').read_text()}"
        if has_stamp(stamp, text):
            return
        for place in (Path(self.preset, "bin"), Path("lib")):
            shutil.rmtree(BUILD_DIR / place, ignore_errors=True)
            if (PREBUILT / place).exists():
                shutil.copytree(PREBUILT / place, BUILD_DIR / place)
        for name in ("bin/progress-run", "bin/progress-info", "lib/progress_engine"):
            link = self.folder / name
            link.parent.mkdir(parents=True, exist_ok=True)
            link.unlink(missing_ok=True)
            link.symlink_to(tool.parents[1] / name)
        write_stamp(stamp, text)

    def configuration(self) -> Step:
        # the presets have these below the sources, where an installed package has nothing to write
        wrapper = ABIS[self.preset].wrapper if self.preset in ABIS else self.mpi.compiler
        places = ["-B", str(self.folder), f"-DMPI_C_COMPILER={self.mpi.bin / wrapper}"]
        command = [CMAKE, "--fresh", "--preset", self.preset, *places]
        return Step(f"configuring build/{self.preset}", command, self.environment)

    def compilation(self, beside: int) -> Step:
        """`beside`: how many are built at the same time."""
        jobs = ["--parallel", str(max(2, len(os.sched_getaffinity(0)) // beside + 1))] if beside > 1 else []
        command = [CMAKE, "--build", str(self.folder), *jobs, "--target", *self.targets]
        return Step(f"building build/{self.preset}", command, self.environment, 60)


def build_presets(builds: Sequence[Build]) -> None:
    """Configure (the first time) and build them: one MPI's and those with a sanitizer, then the other MPIs'.

    Most sources see no MPI: once they are compiled for one, the compiler's cache has them for the others. With a
    sanitizer all are compiled anew. Several at the same time leave no CPU idle, as the longest source of each would.
    """
    if ready := [one for one in builds if one.is_prebuilt()]:
        with setup_lock():
            for one in ready:
                one.take_prebuilt()
    builds = [one for one in builds if one not in ready]
    if not builds:
        return
    if PREBUILT.exists():
        asked = {f"{target} of {one.preset}" for one in builds for target in one.targets if target not in OF_ENGINE}
        say(f"not all of this is in the wheel, so it is built here: {', '.join(sorted(asked)) or builds[0].preset}")
    few = all(OF_DEMO.issuperset(one.targets) for one in builds)
    needed = ("build", *(() if few else ("all targets",)))
    alike = [one for one in builds if one.preset in MPIS or one.preset in ABIS]
    stages = ([one for one in builds if one not in alike[1:]], alike[1:])
    at_once = [stage[start : start + AT_ONCE] for stage in stages for start in range(0, len(stage), AT_ONCE)]
    with setup_lock():
        anew = [one for one in builds if not _configured(one.folder, ROOT)]
        if anew:
            environment.ensure_packages(*needed)
        for one in anew:
            one.folder.mkdir(parents=True, exist_ok=True)
            write_stamp(one.folder / WITHOUT, " ".join(environment.missing_packages("all targets")))
        run_steps([one.configuration() for one in anew])
        for some in at_once:
            left = [one for one in some if not _up_to_date(str(one.folder), one.targets, one.environment)]
            if left:
                environment.ensure_packages(*needed)
                run_steps([one.compilation(len(left)) for one in left])
        _side_by_side()


def _side_by_side() -> None:
    """Each MPI's progress-run finds the engines of ABIS, as in a prefix into which all are installed."""
    for preset, abi in ABIS.items():
        for mpi in MPIS.values():
            link = mpi.build_dir / "lib" / "progress_engine" / abi.library
            if (BUILD_DIR / preset / "lib").exists() and mpi.build_dir.exists() and not link.is_symlink():
                link.parent.mkdir(parents=True, exist_ok=True)
                link.symlink_to(Path("../../..", preset, "lib"))


def ensure_abi_of(program: str) -> None:
    """Have the engine that a program needs whose MPI library is one of ABIS."""
    needed = process.answer(["readelf", "--dynamic", program], LOOK_LIMIT_S).out
    if wanted := [preset for preset, abi in ABIS.items() if f"[{abi.library}]" in needed]:
        ensure_mpis(MPIS["mpich"])
        build_presets([Build(preset, MPIS["mpich"], (*ENGINE, "progress_profile")) for preset in wanted])


def build_simulator(targets: Sequence[str] = ("simulate",)) -> None:
    """Configure (the first time) and build the simulator: a project of its own, which needs SimGrid and no MPI."""
    _build_with_simgrid("simulated", ROOT / "simulator", [], targets)


def build_smpi(targets: Sequence[str]) -> None:
    """Configure (the first time) and build these workloads for SMPI: without the engine, which does not know it."""
    options = ["OVERLAP_BENCH_SMPI=ON", "MPI_C_COMPILER=smpicc", "OVERLAP_BENCH_TESTS=OFF"]
    as_for_others = ["CMAKE_BUILD_TYPE=Release", "OVERLAP_BENCH_FAST_BUILD=ON"]
    _build_with_simgrid("smpi", ROOT / "workloads", options + as_for_others, targets)


def _build_with_simgrid(name: str, source: Path, options: Sequence[str], targets: Sequence[str]) -> None:
    environment.ensure_packages("build", "all targets", "simulator")
    variables = build_variables(None)
    folder = BUILD_DIR / name
    with setup_lock():
        if not _configured(folder, source):
            configure = [CMAKE, "--fresh", "-G", "Ninja", "-S", str(source), "-B", str(folder)]
            configure += [f"-D{one}" for one in options]
            run_step(f"configuring build/{name}", configure, variables)
        if not _up_to_date(str(folder), targets, variables):
            command = [CMAKE, "--build", str(folder), "--target", *targets]
            run_step(f"building build/{name}", command, variables, 60)


def _configured(folder: Path, source: Path) -> bool:
    """Whether the folder is configured, with all packages that are here now, and for these sources: they may have moved
    since, which CMake refuses."""
    cache, without = folder / "CMakeCache.txt", folder / WITHOUT
    if not (folder / "build.ninja").exists() or not cache.exists():
        return False
    lacked = set(without.read_text().split()) if without.exists() else set()
    if lacked and lacked - {*environment.missing_packages("all targets")}:
        return False
    return f"CMAKE_HOME_DIRECTORY:INTERNAL={source.resolve()}\n" in cache.read_text()


def ensure(mpi: Mpi, *targets: str) -> None:
    """Have `mpi` installed, and the engine and the workloads (or only these `targets`) built for it."""
    ensure_each([(mpi, targets)])


def ensure_each(wanted: Sequence[tuple[Mpi, Sequence[str]]]) -> None:
    """The same for several MPIs."""
    ensure_mpis(*(one for mpi, _ in wanted for one in (mpi, mpi.built_with)))
    targets: dict[str, list[str]] = {}
    for mpi, some in wanted:
        targets.setdefault(mpi.built_with.name, []).extend(some or ("all",))
    build_presets([Build(name, MPIS[name], list(dict.fromkeys(some))) for name, some in targets.items()])
