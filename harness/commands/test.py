# SPDX-License-Identifier: BSD-3-Clause
"""./bench test: all tests, and what was skipped."""

from __future__ import annotations

import contextlib
import os
import resource
import tempfile
import time
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from harness.base import process
from harness.base.errors import Failure, UsageError
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.base.paths import BUILD_DIR, ROOT, STATE_DIR, VENV, python, require_clone
from harness.setup import build, environment
from harness.setup.build import ensure_mpis


@dataclass(frozen=True)
class UnitTests:
    """A preset of CMakePresets.json: what of it is built, and the label of the unit tests that are run."""

    preset: str
    targets: tuple[str, ...]
    label: str = "unit"


# Each test once, where it finds most: threads and memory that changes hands are the engine's. They take a minute to
# build, with a sanitizer two, and show mistakes of those who change the code: they wait for --sanitizers (CI). The
# libraries that programs of MPI would load take even longer.
WORKLOADS = UnitTests("mpich", ("workloads_unit_tests",))
ASAN = UnitTests("asan", ("engine_tests",))
TSAN = UnitTests("tsan", ("engine_core_tests",), "unit-core")
# With --full MPI programs run under the library that has each sanitizer, too (test_hazards.py, test_sanitizers.py).
BOTH = (
    WORKLOADS,
    UnitTests("asan", ("engine_tests", "workloads_unit_tests", *build.ENGINE)),
    UnitTests("tsan", ("engine_tests", *build.ENGINE)),
)


class Scope(NamedTuple):
    """What an option runs. `groups`: the runs of pytest, each by its marks; of two the second runs one by one. `whole`:
    with everything that any test needs, and many examples of random input."""

    groups: dict[str, str]
    left_out: str
    whole: bool = False


DEFAULT, FAST, FULL, LONG = "", "--fast", "--full", "--long"
SCOPES = {
    DEFAULT: Scope({"tests": "not (full or alone or long)"}, "what takes long (it runs with --full and --long)"),
    FAST: Scope(
        {"tests": "not (mpi or vcluster or slurm or spack or slow or alone or full or long)"},
        "all tests with MPIs, virtual nodes and ThreadSanitizer (--fast)",
    ),
    FULL: Scope(
        {"tests side by side": "not long and not alone", "tests alone": "not long and alone"},
        "what takes hours (it runs with --long)",
        whole=True,
    ),
    LONG: Scope({"tests side by side": "long and not alone", "tests alone": "long and alone"}, "", whole=True),
}
INTERRUPTED, NO_TESTS = 2, 5  # pytest's statuses; itself it is not here unless ./bench test has installed it


@dataclass
class Times:
    """Seconds of each part, in the order in which they came, and those of CPU time, which others do not lengthen."""

    wall_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    cpu_s: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    @contextlib.contextmanager
    def of(self, part: str) -> Iterator[None]:
        wall, cpu = time.monotonic(), _cpu_s()
        try:
            yield
        finally:
            self.wall_s[part] += time.monotonic() - wall
            self.cpu_s[part] += _cpu_s() - cpu

    def __str__(self) -> str:
        parts = [f"{part} {wall:.0f} s ({self.cpu_s[part]:.0f})" for part, wall in self.wall_s.items() if wall >= 0.5]
        return f"took {sum(self.wall_s.values()):.0f} s, in brackets of CPU time: {', '.join(parts)}"


def _cpu_s() -> float:
    """Of the programs that this one has started, once they have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test(
    fast: Annotated[bool, typer.Option("--fast", help="Only what takes seconds: no MPI, no virtual nodes.")] = False,
    full: Annotated[bool, typer.Option("--full", help="Also what takes an hour in all.")] = False,
    long: Annotated[
        bool,
        typer.Option(
            "--long",
            help="Only what takes hours: other people's test suites, emulated machines, images of other systems, jobs "
            "that Slurm ends, pages followed on a fresh clone, a bisection.",
        ),
    ] = False,
    sanitizers: Annotated[
        bool,
        typer.Option(
            "--sanitizers",
            "--races",
            help="Also the unit tests in C++, the engine's under sanitizers (memory, threads), as --full.",
        ),
    ] = False,
    select: Annotated[
        str, typer.Option("-k", metavar="WORDS", help="Only tests whose names match (pytest's -k).")
    ] = "",
) -> int:
    """Set up what the tests need and run them: Python, MPIs, nodes, unit tests in C++.

    Example: ./bench test --fast
    """
    require_clone("./bench test")
    asked = [name for name, so in {FAST: fast, FULL: full, LONG: long}.items() if so]
    scope = asked[0] if asked else DEFAULT
    asked += ["--sanitizers"] if sanitizers and not full else []
    if len(asked) > 1:
        raise UsageError(f"{asked[0]} and {asked[1]} exclude each other.")
    times = Times()
    with times.of("set-up"):
        _set_up(SCOPES[scope].whole)
    unit = () if select else unit_tests(scope, sanitizers)
    wanted = builds(scope, unit)
    with times.of("build"):
        ensure_mpis(*(one.mpi for one in wanted))
        build.build_presets(wanted)
    chosen = ["-k", select] if select else []
    reports = [STATE_DIR / f"tests-{number}.xml" for number, _ in enumerate(groups(scope), 1)]
    statuses: list[int] = []
    ends: list[int] = []
    for (title, group), report in zip(groups(scope).items(), reports, strict=True):
        with times.of(title), _in_the_background(() if ends else unit) as of_unit_tests:
            ends.append(process.attended(pytest([*group, *chosen], report), environment_of_tests(), ROOT))
        statuses += of_unit_tests
        if ends[-1] == INTERRUPTED:
            break
    statuses.append(verdict(ends))
    print(skipped(reports[: len(ends)], scope, bool(unit)))
    print(times)
    return 1 if any(statuses) else 0


def _set_up(whole: bool) -> None:
    environment.ensure_packages(*environment.PACKAGES_OF["test"], *(FULL_PACKAGES if whole else ()))
    if whole:
        with contextlib.suppress(Failure):  # not every machine has them: their tests say what is missing
            environment.ensure_packages("Debian's MPIs")
    for group in ("dev", *(FULL_GROUPS if whole else ())):
        environment.ensure_group(group)
    ensure_mpis(*(MPIS[name] for name in WHEEL_MPIS))


FULL_PACKAGES = ("full tests", "simulator", "instruction counts", "slurm accounting")
FULL_GROUPS = ("browser", "notebooks")  # reports are opened in a browser, notebooks run by Jupyter
# With --full a test measures the engine's costs while others wait for their turn: what it needs is built with all else.
EVERYTHING = ("all", "progress_profile")
MEASURED = (*EVERYTHING, "engine_benchmarks")
# On the other MPIs the applications run with --full, but for one that exchanges halos, on the other family's; each is
# asked for its variables.
SOME = (*build.ENGINE, "microbench", "mpi_variables")
HALOS = {"openmpi": ("himeno",)}


def builds(scope: str, unit: Iterable[UnitTests]) -> list[build.Build]:
    """What is built for each MPI, and with a sanitizer; MPICH's is the first, since it has most."""
    mpich, fast, whole = MPIS["mpich"], scope == FAST, SCOPES[scope].whole
    targets: dict[str, list[str]] = {mpich.name: list(build.ENGINE if fast else MEASURED if whole else EVERYTHING)}
    if not fast:
        others = {MPIS[name].built_with.name for name in WHEEL_MPIS} - {mpich.name}
        targets |= {name: list(EVERYTHING if whole else (*SOME, *HALOS.get(name, ()))) for name in sorted(others)}
        targets |= {preset: list(build.ENGINE) for preset in build.ABIS}
    if whole:  # the distribution's: of the same two families
        theirs = [name for name, mpi in MPIS.items() if not mpi.wheels and mpi.installed()]
        targets |= {name: [*build.ENGINE, "progress_profile", "microbench"] for name in theirs}
    for tests in unit:
        targets.setdefault(tests.preset, []).extend(tests.targets)
    return [build.Build(preset, MPIS.get(preset, mpich), some) for preset, some in targets.items()]


def unit_tests(scope: str, sanitizers: bool = False) -> tuple[UnitTests, ...]:
    """Those in C++: the workloads', the engine's with sanitizers; with --full the workloads' with them, too."""
    return BOTH if scope == FULL else (WORKLOADS, ASAN, TSAN) if sanitizers else ()


def _workers() -> int:
    """Twice as many as there are CPUs: tests wait half of their time, for launches, nodes and timeouts."""
    return min(2 * len(os.sched_getaffinity(0)), 8)


def verdict(ends: list[int]) -> int:
    """The status for those of pytest: a group may have no test of the chosen names, but not every group."""
    told = [status for status in ends if status != NO_TESTS]
    return 0 if told and not any(told) else 1


def groups(scope: str) -> dict[str, list[str]]:
    """The runs of pytest, each by its options: tests side by side, then those that need the machine for themselves."""
    chosen = SCOPES[scope]
    side_by_side = [f"--numprocesses={_workers()}", "--dist=loadscope", "--no-loadscope-reorder"]
    examples = ["--hypothesis-profile=full"] if chosen.whole else []
    return {
        title: ["-m", marks, *examples, *(side_by_side if number == 0 else [])]
        for number, (title, marks) in enumerate(chosen.groups.items())
    }


def pytest(options: list[str], report: Path) -> list[str]:
    """With the longest tests at its end: they say what to shorten, where all take too long.

    A test that fails once has failed: it waits for events, so that a busy machine is no reason.
    """
    longest = ["--durations=12", "--durations-min=10"]
    return python("-m", "pytest", f"--junitxml={report}", "-q", *longest, *options)


def environment_of_tests() -> dict[str, str]:
    """Python may keep what it compiles: in each process pytest would make a quarter of a minute's work of the tests'
    own files, and these start hundreds."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


@contextlib.contextmanager
def _in_the_background(unit: Iterable[UnitTests]) -> Iterator[list[int]]:
    """The C++ unit tests while the body runs: they wait half of their time. What they say is printed after it, and
    their statuses are there."""
    statuses: list[int] = []
    with contextlib.ExitStack() as stack:
        started = []
        for tests in unit:
            said = stack.enter_context(tempfile.TemporaryFile())
            run = stack.enter_context(process.group(ctest(tests), stdout=said, stderr=said))
            started.append((tests, said, run))
        yield statuses
        for tests, said, run in started:
            statuses.append(run.wait())
            said.seek(0)
            print(f"C++ unit tests, build/{tests.preset}:\n{said.read().decode(errors='replace')}", flush=True)


def ctest(tests: UnitTests) -> list[str]:
    """Beside the tests in Python: on half of the CPUs."""
    command = [str(VENV / "bin" / "ctest"), "--test-dir", str(BUILD_DIR / tests.preset), "-L", tests.label]
    command += ["--parallel", str(max(1, len(os.sched_getaffinity(0)) // 2))]
    return [*command, "--output-on-failure", "--timeout", "300", "--no-tests=error"]


def skipped(reports: Iterable[Path], scope: str, unit: bool) -> str:
    """The last line: what was left out, and why. `unit`: whether unit tests in C++ ran."""
    cases = (case for report in reports for case in ET.parse(report).iter("skipped"))
    reasons = Counter(case.get("message") or "no reason given" for case in cases)
    words = [f"{count} x {reason}" for reason, count in sorted(reasons.items())]
    words += [SCOPES[scope].left_out] if SCOPES[scope].left_out else []
    words += [] if unit else ["the unit tests in C++ (--sanitizers, --full)"]
    return "skipped: " + ("; ".join(words) or "nothing")
