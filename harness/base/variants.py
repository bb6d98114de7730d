# SPDX-License-Identifier: BSD-3-Clause
"""What a variant's name means for a launch, and which settings the engine has. Standard library only.

Four settings need no engine; every other variant is a preset of the engine, optionally with settings of its own:
`adaptive:burst=5:slice_us=200`. `@FILE` among them stands for the settings in a file. Presets and settings are read
from the engine's sources, which are there wherever the harness is; a built progress-info is not.
"""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from harness.base import process, settings_file
from harness.base.errors import UsageError, meant, there_are
from harness.base.paths import ROOT
from harness.base.validate import in_bytes, parse_list

PRESETS_FILE = ROOT / "progress_engine" / "presets.json"


SEVERAL = "settings are separated by ':', as in 'adaptive:key=value:key=value'"
LIMIT = "limit"
WRONG_USE, ANSWER_LIMIT_S = 2, 30.0  # the status of progress-run for settings that cannot be, and how long it has
WITHOUT_ENGINE = {
    "bare": "the MPI as it is",
    "bare-multiple": "the MPI as it is, initialised with MPI_THREAD_MULTIPLE",
    "mpi-async": "the MPI's own progress thread, where it has one",
    LIMIT: "the best that an engine could do: a thread moves the message over TCP, or the partner is always inside MPI",
}


@dataclass(frozen=True)
class Recipe:
    """How to launch a variant: the command put before the program on each rank, environment, workload options."""

    prefix: list[str] = field(default_factory=list)
    environment: dict[str, str] = field(default_factory=dict)
    workload_options: list[str] = field(default_factory=list)

    def line(self, launcher: Sequence[str], program: Sequence[str]) -> list[str]:
        """The command line of a launch, the only one that there is. `launcher`: with its options; empty: none."""
        return [*launcher, *self.prefix, *program, *self.workload_options]

    def within(self, variables: Mapping[str, str]) -> Recipe:
        """With these variables: of the launcher, and set anew on every rank, whatever the launcher passes on."""
        if not variables:
            return self
        named = [f"{name}={value}" for name, value in sorted(variables.items())]
        return replace(self, prefix=["env", *named, *self.prefix], environment=self.environment | dict(variables))


def presets() -> dict[str, str]:
    """The engine's presets: name -> what it is for."""
    table: dict[str, dict[str, str]] = json.loads(PRESETS_FILE.read_text())
    return {name: preset["summary"] for name, preset in table.items()}


def with_settings(name: str, settings: Sequence[str]) -> str:
    """`name` with more of the engine's settings."""
    return ":".join([name, *settings])


def require_engine(name: str) -> None:
    """UsageError where no engine runs, which could report."""
    if name.partition(":")[0] in WITHOUT_ENGINE:
        raise UsageError(f"Variant {name} runs without the engine, so there is no report: choose adaptive, say.")


def known() -> dict[str, str]:
    """Every variant: name -> what it is."""
    return WITHOUT_ENGINE | presets()


def check(name: str) -> str:
    """`name`, with the settings of a file in place of its @FILE; or UsageError with the names there are."""
    preset, *settings = _read_in(name).split(":")
    variants = known()
    if preset not in variants and re.fullmatch(r"\w+=.*", preset):
        raise UsageError(f"There is no variant called '{preset}'; if it is a variant's setting: {SEVERAL}.")
    if preset not in variants:
        raise UsageError(f"There is no variant called '{preset}'. {there_are(preset, variants)}")
    if settings and preset in WITHOUT_ENGINE:
        raise UsageError(f"Variant '{name}': {preset} runs without the engine and has no settings.")
    if not all("=" in setting and not re.search(r",\s*\w+=", setting) for setting in settings):
        raise UsageError(f"Variant '{name}': {SEVERAL}.")
    pairs = (setting.partition("=") for setting in settings)
    return with_settings(preset, [f"{key}={in_bytes(key, value)}" for key, _, value in pairs])


def choose_variants(text: str | None) -> list[str]:
    """The variants named, each known."""
    return [check(name) for name in parse_list(text)]


def _read_in(name: str) -> str:
    """What a session holds of a file are its settings: the file itself may be another one tomorrow."""
    preset, *settings = name.split(":")
    found: list[str] = []
    for setting in settings:
        if not setting.startswith("@"):
            found.append(setting)
            continue
        named, read = settings_file.of_engine(Path(setting[1:]))
        if named and named != preset:
            raise UsageError(f"Variant '{name}': {setting[1:]} is of variant {named}, not of {preset}.")
        found += read
    return with_settings(preset, found)


def polls(name: str) -> bool:
    """Whether an engine polls under this variant, so that it can be paused: not `off`, nor `offload`."""
    preset, *settings = name.split(":")
    table = json.loads(PRESETS_FILE.read_text())
    own = dict(setting.partition("=")[::2] for setting in settings)
    return preset in table and (table[preset]["settings"] | own)["points"] != "none"


def recipe(name: str, progress_run: Path, async_progress: Mapping[str, str]) -> Recipe | str:
    """How to launch variant `name`, or the sentence why this MPI cannot run it.

    `async_progress` is the environment that switches on the MPI's own progress thread, empty where it has none.
    """
    preset, *settings = check(name).split(":")
    if preset == "bare":
        return Recipe()
    if preset == "bare-multiple":
        return Recipe(workload_options=["--thread-level", "multiple"])
    if preset == LIMIT:
        return Recipe(workload_options=["--thread-level", "funneled"])
    if preset == "mpi-async":
        if not async_progress:
            return "this MPI has no progress thread of its own"
        return Recipe(environment=dict(async_progress))
    options = [option for setting in settings for option in ("--set", setting)]
    return Recipe(prefix=[str(progress_run), "--variant", preset, *options, "--"])


SOURCE = ROOT / "progress_engine" / "src" / "policy" / "settings.cpp"  # the table that progress-info prints
TABLE = re.compile(r"new std::vector<Setting>\{\n(.*?)\n  \};\n", re.DOTALL)
ROW = re.compile(r"^      (\w+)(?:<[^>]*>)?\(", re.MULTILINE)
ARGUMENT = re.compile(r'((?:"(?:[^"\\]|\\.)*"\s*)+)|(-?\d+)')
NUMBER = "number"
# What each function of the table takes, in its order.
TAKES = {
    NUMBER: ("key", "unit", "minimum", "maximum", "initial", "meaning"),
    "flag": ("key", "initial", "meaning"),
    "text": ("key", "meaning"),
    "choice": ("key", "choices", "initial", "meaning"),
    "polling_points": ("key", "choices", "initial", "meaning"),
    "doorbells": ("key", "choices", "initial", "meaning"),
}


@dataclass(frozen=True)
class Setting:
    """A row of the engine's table. `kind`: the function that makes it."""

    kind: str
    key: str
    meaning: str
    initial: str = ""
    unit: str = ""
    minimum: str = ""
    maximum: str = ""
    choices: str = ""


@functools.cache
def settings() -> tuple[Setting, ...]:
    """Every row, in the order of the table. ValueError where the sources are written in another way."""
    found = TABLE.search(SOURCE.read_text())
    if not found:
        raise ValueError(f"{SOURCE}: no table of settings in all_settings().")
    body = found[1]
    starts = list(ROW.finditer(body))
    ends = [*(start.start() for start in starts[1:]), len(body)]
    return tuple(_row(start[1], body[start.end() : end]) for start, end in zip(starts, ends, strict=True))


def _row(kind: str, text: str) -> Setting:
    values = ["".join(json.loads(part) for part in re.findall(r'"(?:[^"\\]|\\.)*"', words)) if words else number
              for words, number in ARGUMENT.findall(text)]  # fmt: skip
    return Setting(kind=kind, **dict(zip(TAKES[kind], values, strict=True)))


def numeric() -> dict[str, tuple[int, int]]:
    """The settings that are numbers, which are those that can be swept: key -> its smallest and its largest value."""
    return {one.key: (int(one.minimum), int(one.maximum)) for one in settings() if one.kind == NUMBER}


def check_settings(names: Iterable[str], programs: Path) -> None:
    """UsageError with what progress-run says of these variants' settings, rather than in each launch of a session."""
    for name in names:
        how = recipe(name, programs / "progress-run", {})
        if ":" not in name or isinstance(how, str):
            continue
        done = process.answer([*how.prefix, "true"], ANSWER_LIMIT_S)
        if done.status == WRONG_USE:
            why = done.err.strip().removeprefix("progress-run: ")
            unknown = re.match(r"unknown setting '(\w+)'", why)
            near = meant(unknown[1], (one.key for one in settings())) if unknown else ""
            raise UsageError(f"Variant '{name}': {near}{why}")
