# SPDX-License-Identifier: BSD-3-Clause
"""The sides of a gate, from the words in which they are asked for: an engine, the MPI, and what they run under.

adaptive:burst=5             this checkout's engine under a variant with settings
settings:FILE                the same with those of a file (harness.base.settings_file), variables of the MPI among them
prefix:DIR[,VARIANT]         an installed engine: DIR/bin/progress-run
modules:"A B"[,VARIANT]      the engine that these modules bring, with all variables that they set
spack:ENVIRONMENT[,VARIANT]  the engine that a Spack environment has installed
commit:REVISION[,VARIANT]    the engine of a commit of this repository, built in a folder of its own
mpi:NAME[,VARIANT]           another MPI of the system, with engine and programs built for it

Behind the comma settings:FILE may stand as well.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from harness.base import machine, process, settings_file, variants
from harness.base.errors import UsageError
from harness.base.mpis import Mpi
from harness.base.paths import ROOT, STATE_DIR, require_clone
from harness.base.process import has_stamp, say, setup_lock, write_stamp
from harness.setup import build

DEFAULT_VARIANT = "adaptive"
FORMS = (
    "a variant (adaptive:burst=5), settings:FILE, or one of prefix:DIR, modules:'A B', spack:ENVIRONMENT, "
    "commit:REVISION and mpi:NAME, with ,VARIANT or ,settings:FILE behind it"
)
SPACK_LIMIT_S = 120.0
PACKAGE = "progress-engine"
SETTINGS = "settings:"
BUILD_LIMIT_S = 900.0
MODULES_LIMIT_S = 60.0
NO_MODULES = 97  # a status that neither bash nor module has
# What a shell sets for itself, and modules for their own bookkeeping, which grows with each of them.
OF_SHELL = ("_", "SHLVL", "PWD", "OLDPWD", "BASH_FUNC_", "__Lmod", "__LMOD", "_LM", "LMOD_")
OF_MODULES = ("LOADEDMODULES", "_LMFILES_")
SOURCES = ("prefix", "modules", "spack", "commit", "mpi")


@dataclass(frozen=True)
class Source:
    """What was asked for. `kind` and `where` empty: this checkout's own engine. `environment`: variables of a settings
    file."""

    kind: str
    where: str
    variant: str
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Ready:
    """What a side runs with: `progress_run` empty: the system's own; `environment`: on all of its ranks."""

    progress_run: str = ""
    environment: dict[str, str] = field(default_factory=dict)


def parse(text: str) -> Source:
    """The words of a side; UsageError with the forms there are if they are none."""
    kind, _, rest = text.partition(":")
    if kind in SOURCES:
        where, _, under = rest.partition(",")
        if not where.strip():
            raise UsageError(f"Side '{text}': what stands behind {kind}: is empty; {FORMS} is wanted.")
        return Source(kind, where.strip(), *_under(under or DEFAULT_VARIANT))
    try:
        return Source("", "", *_under(text))
    except UsageError as error:
        raise UsageError(f"Side '{text}': {error} A side is {FORMS}.") from error


def named(text: str) -> str:
    """The words of a side with a commit's whole name in place of a revision, which is another commit's tomorrow."""
    source = parse(text)
    if source.kind != "commit":
        return text
    require_clone("A side that is a commit")
    _, comma, under = text.partition(",")
    commit = machine.commit_of(ROOT, source.where)
    if commit == machine.commit_of(ROOT, "HEAD") and machine.dirty(ROOT):
        say(f"Side '{text}': the working tree has changes that are in no commit, and they are not in this side.")
    return f"commit:{commit}{comma}{under}"


def _under(text: str) -> tuple[str, dict[str, str]]:
    """A variant, or the one of a settings file with the file's variables."""
    if not text.startswith(SETTINGS):
        return variants.check(text), {}
    found = settings_file.read(Path(text.removeprefix(SETTINGS)).expanduser())
    return variants.check(variants.with_settings(found.preset or DEFAULT_VARIANT, found.engine)), found.environment


def ready(source: Source, mpi: Mpi | None) -> Ready:
    """What a side runs with, built where it has to be; UsageError if it cannot be had. `mpi`: of those that the harness
    provides; None: a site's own."""
    if source.kind == "prefix":
        return Ready(_in_prefix(source, Path(source.where).expanduser().resolve()), source.environment)
    if source.kind == "spack":
        return Ready(_in_prefix(source, _spack_prefix(source.where)), source.environment)
    if source.kind == "modules":
        found = modules(source.where.split())
        engine = found.program("progress-run")
        if not engine and source.variant.partition(":")[0] not in variants.WITHOUT_ENGINE:
            say(f"Side 'modules:{source.where}': they bring no progress-run: it is this checkout's engine that runs.")
        return Ready(engine, found.environment | source.environment)
    if source.kind == "commit":
        if mpi is None:
            raise UsageError(
                f"Side 'commit:{source.where}': engines are built here for the MPIs of ./bench list alone; build it "
                f"for the site's, and give prefix:DIR."
            )
        return Ready(str(built(source.where, mpi)), source.environment)
    return Ready(environment=source.environment)


def _in_prefix(source: Source, prefix: Path) -> str:
    found = prefix / "bin" / "progress-run"
    if not found.is_file():
        raise UsageError(f"Side '{source.kind}:{source.where}': there is no {found}.")
    if not os.access(found, os.X_OK):
        raise UsageError(f"Side '{source.kind}:{source.where}': {found} cannot be run.")
    return str(found)


def _spack_prefix(environment: str) -> Path:
    """Where a Spack environment, by its name or its folder, has installed the engine."""
    asked = ["spack", "-e", environment, "location", "-i", PACKAGE]
    found = process.answer(asked, SPACK_LIMIT_S)
    if found.status != 0:
        raise UsageError(f"Side 'spack:{environment}': no {PACKAGE} is installed there: {found.last_line}")
    return Path(found.out.strip().rpartition("\n")[2])  # warnings may stand before it


def built(revision: str, mpi: Mpi) -> Path:
    """The progress-run of a commit, built once for `mpi` in a folder of its own below .bench/gate. UsageError where it
    does not build."""
    require_clone("A side that is a commit")
    commit = machine.commit_of(ROOT, revision)
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
    packed = machine.ask_git(ROOT, "archive", f"--output={archive}", commit)
    unpacked = process.answer(["tar", "-xf", str(archive), "-C", str(partial)], machine.GIT_LIMIT_S)
    if packed.status != 0 or unpacked.status != 0:
        raise UsageError(
            f"Side 'commit:{revision}': it cannot be checked out: {packed.last_line or unpacked.last_line}."
        )
    archive.unlink()
    shutil.rmtree(folder, ignore_errors=True)
    partial.replace(folder)


def _step(command: list[str], revision: str, mpi: Mpi, folder: Path) -> None:
    done = process.answer(
        command, BUILD_LIMIT_S, dict(os.environ) | build.build_variables(mpi), cwd=folder, merged=True
    )
    log = folder / f"{mpi.name}.log"
    log.write_text(done.out)
    if done.status != 0:
        why = f"ended with status {done.status}" if done.status is not None else done.last_line
        raise UsageError(f"Side 'commit:{revision}' does not build for {mpi.title}: {command[0]} {why}, see {log}.")


@dataclass(frozen=True)
class Loaded:
    """The variables that modules add or change. `path`: the PATH without them."""

    environment: dict[str, str]
    path: str = ""

    def program(self, name: str) -> str:
        """Where they have this program; empty: they bring none."""
        found, before = (shutil.which(name, path=path) for path in (self.environment.get("PATH", self.path), self.path))
        return found if found and found != before else ""


def modules(names: Sequence[str]) -> Loaded:
    """What `module load` of these changes in the environment (Lmod or Environment Modules). UsageError with what
    `module` says where one fails.

    They are unloaded first, since one that the caller has loaded already would bring nothing.
    """
    asked = " ".join(map(shlex.quote, names))
    without = _login_environment(
        f"if command -v module >/dev/null; then for one in {asked}; do module unload $one || :; done; fi"
    )
    with_them = _login_environment(
        f"command -v module >/dev/null || exit {NO_MODULES}; for one in {asked}; do module load $one || exit 1; done"
    )
    changed = {name: text for name, text in with_them.items() if without.get(name) != text}
    kept = {name: text for name, text in changed.items() if not name.startswith(OF_SHELL + OF_MODULES)}
    return Loaded(kept, without.get("PATH", ""))


def _login_environment(before: str) -> dict[str, str]:
    """Of a login shell behind these commands."""
    ended = process.answer(["bash", "-lc", f"{{ {before}; }} >&2; exec env -0"], MODULES_LIMIT_S)
    if ended.status == NO_MODULES:
        raise UsageError("A side with modules: there is no command `module` in a login shell here.")
    if ended.status != 0:
        raise UsageError(f"A side with modules: {ended.last_line or f'the shell ended with status {ended.status}'}")
    pairs = (entry.partition("=") for entry in ended.out.split("\0") if "=" in entry)
    return {name: text for name, _, text in pairs}
