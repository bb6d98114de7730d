# SPDX-License-Identifier: BSD-3-Clause
"""The engine of a commit of this repository, built once in a folder of its own below .bench/gate."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from harness.base import git, process
from harness.base.errors import UsageError
from harness.base.mpis import Mpi
from harness.base.paths import ROOT, STATE_DIR, require_clone
from harness.base.steps import has_stamp, say, setup_lock, write_stamp
from harness.setup import build

BUILD_LIMIT_S = 900.0


def built(revision: str, mpi: Mpi) -> Path:
    """The progress-run of a commit, built for `mpi` below .bench/gate. UsageError if it does not build."""
    require_clone("An arm that is a commit")
    commit = git.commit_of(ROOT, revision)
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
    packed = git.ask(ROOT, "archive", f"--output={archive}", commit)
    unpacked = process.answer(["tar", "-xf", str(archive), "-C", str(partial)], git.LIMIT_S)
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
