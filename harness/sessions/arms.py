# SPDX-License-Identifier: BSD-3-Clause
"""The arms of a gate, from the words in which they are asked for: an engine and the variant under which it runs.

adaptive:burst=5             this checkout's engine under a variant with settings
settings:FILE                the same with the settings of a file (KEY = VALUE lines, `variant = NAME` among them)
prefix:DIR[,VARIANT]         an installed engine: DIR/bin/progress-run
commit:REVISION[,VARIANT]    the engine of a commit of this repository, built in a folder of its own
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from harness.base import process, variants
from harness.base.errors import UsageError
from harness.base.mpis import Mpi
from harness.base.paths import ROOT, STATE_DIR, require_clone
from harness.base.steps import has_stamp, say, setup_lock, write_stamp
from harness.setup import build

DEFAULT_VARIANT = "adaptive"
FORMS = "a variant (adaptive:burst=5), settings:FILE, prefix:DIR[,VARIANT] or commit:REVISION[,VARIANT]"
GIT_LIMIT_S = 120.0
BUILD_LIMIT_S = 900.0
SOURCES = ("prefix", "commit")


@dataclass(frozen=True)
class Source:
    """What was asked for. `kind` and `where` empty: this checkout's own engine."""

    kind: str
    where: str
    variant: str


def parse(text: str) -> Source:
    """The words of an arm; UsageError with the forms there are if they are none."""
    head, _, rest = text.partition(":")
    if head == "settings":
        return Source("", "", of_file(Path(rest)))
    if head in SOURCES:
        where, _, variant = rest.partition(",")
        if not where:
            raise UsageError(f"Arm '{text}': one of {FORMS} is wanted.")
        return Source(head, where, variants.check(variant or DEFAULT_VARIANT))
    try:
        return Source("", "", variants.check(text))
    except UsageError as error:
        raise UsageError(f"Arm '{text}': {error} An arm is {FORMS}.") from error


def of_file(path: Path) -> str:
    """The variant with the settings that a file of KEY = VALUE lines has; UsageError if it cannot be read."""
    try:
        lines = path.read_text().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"The settings file {path} cannot be read: {error}.") from error
    preset, settings = DEFAULT_VARIANT, []
    for number, line in enumerate(lines, 1):
        said = line.partition("#")[0].strip()
        key, equals, value = (part.strip() for part in said.partition("="))
        if said and not (equals and key and value):
            raise UsageError(f"The settings file {path}, line {number}: KEY = VALUE is wanted.")
        if key == "variant":
            preset = value
        elif said:
            settings.append(f"{key}={value}")
    return variants.check(variants.with_settings(preset, settings))


def progress_run(source: Source, mpi: Mpi) -> str:
    """The progress-run of an arm, built where it has to be; empty: the system's own. UsageError if there is none."""
    if source.kind == "prefix":
        found = Path(source.where).expanduser().resolve() / "bin" / "progress-run"
        if not found.is_file():
            raise UsageError(f"Arm 'prefix:{source.where}': there is no {found}.")
        return str(found)
    if source.kind == "commit":
        return str(built(source.where, mpi))
    return ""


def commit_of(revision: str) -> str:
    """The full name of a commit of this repository; UsageError if there is none."""
    require_clone("An arm that is a commit")
    asked = ["git", "-C", str(ROOT), "rev-parse", "--verify", "--quiet", "--end-of-options", f"{revision}^{{commit}}"]
    found = process.answer(asked, GIT_LIMIT_S)
    if found.status != 0:
        raise UsageError(f"Arm 'commit:{revision}': this repository has no such commit.")
    return found.out.strip()


def built(revision: str, mpi: Mpi) -> Path:
    """The progress-run of a commit, built for `mpi` below .bench/gate. UsageError if it does not build."""
    commit = commit_of(revision)
    folder = STATE_DIR / "gate" / commit[:16]
    tree, stamp = folder / "build" / mpi.name, folder / f"{mpi.name}.built"
    with setup_lock():
        if has_stamp(stamp, commit):
            return tree / "bin" / "progress-run"
        if not (folder / "CMakeLists.txt").is_file():
            _check_out(commit, folder, revision)
        say(f"building the engine of {commit[:12]} for {mpi.title} ...")
        target = ["--target", "progress_engine/all"]
        configure = ["cmake", "-S", str(folder), "--preset", mpi.name, "-B", str(tree)]
        for command in ([*configure, f"-DMPI_C_COMPILER={mpi.mpicc}"], ["cmake", "--build", str(tree), *target]):
            _step(command, revision, mpi, folder)
        write_stamp(stamp, commit)
    return tree / "bin" / "progress-run"


def _check_out(commit: str, folder: Path, revision: str) -> None:
    """The files of a commit, and no worktree: git then knows nothing of it that would have to be taken back."""
    partial = folder.with_name(f"{folder.name}.part")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    archive = partial / "sources.tar"
    packed = process.answer(["git", "-C", str(ROOT), "archive", f"--output={archive}", commit], GIT_LIMIT_S)
    unpacked = process.answer(["tar", "-xf", str(archive), "-C", str(partial)], GIT_LIMIT_S)
    if packed.status != 0 or unpacked.status != 0:
        raise UsageError(
            f"Arm 'commit:{revision}': it cannot be checked out: {packed.last_line or unpacked.last_line}."
        )
    archive.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    partial.replace(folder)


def _step(command: list[str], revision: str, mpi: Mpi, folder: Path) -> None:
    done = process.answer(command, BUILD_LIMIT_S, dict(os.environ) | build.environment(mpi), cwd=folder, merged=True)
    log = folder / f"{mpi.name}.log"
    log.write_text(done.out)
    if done.status != 0:
        why = f"ended with status {done.status}" if done.status is not None else done.last_line
        raise UsageError(f"Arm 'commit:{revision}' does not build for {mpi.title}: {command[0]} {why}, see {log}.")
