# SPDX-License-Identifier: BSD-3-Clause
"""What is built once for all MPIs, for one, or not at all, since a wheel brings it."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base import mpis
from harness.base.mpis import MPIS
from harness.base.paths import BUILD_DIR, ROOT
from harness.setup import build, environment

WITHOUT_MPI = ("progress_engine_core", "workloads_core", "workloads_driver", "microbench_without_mpi")


def commands_without_mpi(name: str) -> set[str]:
    """How a build compiles what needs no MPI, its own folder left out: what the compiler's cache looks at."""
    folder = BUILD_DIR / name
    if not (folder / "compile_commands.json").exists():
        pytest.skip(f"build/{name} is not configured")
    entries = json.loads((folder / "compile_commands.json").read_text())
    found = [[one["command"] for one in entries if f"{target}.dir" in one["output"]] for target in WITHOUT_MPI]
    assert all(found)
    return {command.replace(str(folder), "") for some in found for command in some}


def test_what_needs_no_mpi_is_compiled_once_for_all() -> None:
    assert commands_without_mpi("openmpi") == commands_without_mpi("mpich")


def test_what_the_compilers_cache_has_for_the_others_is_built_first_and_the_others_share_the_cpus(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ran: list[list[str]] = []
    monkeypatch.setattr(build, "BUILD_DIR", tmp_path)
    monkeypatch.setattr(environment, "ensure_packages", lambda *_: None)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(16)))
    monkeypatch.setattr(build, "_up_to_date", lambda *_: False)
    monkeypatch.setattr(build, "run_steps", lambda some: ran.append([f"{one.title} {one.command[-1]}" for one in some]))
    build.build_presets([build.Build(name, MPIS[name]) for name in ("mpich", "openmpi", "intel-mpi")])
    _, first, others = ran
    assert [one.split()[1] for one in first] == ["build/mpich"] and not first[0].endswith(" 9")
    assert [one.split()[1] for one in others] == ["build/openmpi", "build/intel-mpi"]
    assert all("--parallel" in build.Build("x", MPIS["mpich"]).compilation(beside).command for beside in (2, 3))


@pytest.mark.parametrize(("needs", "built"), [("libmpi_abi.so.1", ["standard-abi"]), ("libmpi.so.12", [])])
def test_a_program_of_the_standards_abi_gets_its_engine(
    needs: str, built: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(build, "ensure_mpis", lambda *_: None)
    monkeypatch.setattr(build, "build_presets", lambda some: asked.extend(one.preset for one in some))
    for option, made in ((f"-shared -Wl,-soname,{needs}", needs), (f"-Wl,--no-as-needed {needs}", "program")):
        (tmp_path / "source.c").write_text("int main(void) { return 0; }\n")
        subprocess.run(["gcc", "source.c", *option.split(), "-o", made], check=True, cwd=tmp_path, timeout=60)
    build.ensure_abi_of(str(tmp_path / "program"))
    assert asked == built


def test_each_mpis_progress_run_finds_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (build, mpis):
        monkeypatch.setattr(module, "BUILD_DIR", tmp_path)
    for question in ("_configured", "_up_to_date"):
        monkeypatch.setattr(build, question, lambda *_: True)
    for name in ("mpich", "standard-abi"):
        (tmp_path / name / "lib").mkdir(parents=True)
    for _ in range(2):  # the link is there the second time
        build.build_presets([build.Build(name, MPIS["mpich"]) for name in ("mpich", "standard-abi")])
    found = tmp_path / "mpich" / "lib" / "progress_engine" / "libmpi_abi.so.1"
    assert found.resolve() == tmp_path / "standard-abi" / "lib"
    assert {path.name for path in tmp_path.iterdir()} == {"mpich", "standard-abi"}


def test_what_a_wheel_brings_is_taken_and_not_built(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What it does not bring is built, and said."""
    brought, made, prefix = tmp_path / "prebuilt", tmp_path / "build", tmp_path / "prefix"
    for file, text in {"stamp": "first", "lib/libcxx.so": "", "mpich/bin/microbench": "first"}.items():
        (brought / file).parent.mkdir(parents=True, exist_ok=True)
        (brought / file).write_text(text)
    file_of_pip = SimpleNamespace(name="progress-run", locate=lambda: prefix / "bin" / "progress-run")
    steps: list[str] = []
    monkeypatch.setattr(build, "setup_lock", contextlib.nullcontext)  # or another test's set-up is waited for, and said
    monkeypatch.setattr(build, "PREBUILT", brought)
    monkeypatch.setattr(build, "BUILD_DIR", made)
    monkeypatch.setattr(metadata, "files", lambda _: [file_of_pip])
    monkeypatch.setattr(environment, "ensure_packages", lambda *_: None)
    monkeypatch.setattr(build, "run_steps", lambda some: steps.extend(one.title for one in some))

    def ensure(preset: str, *targets: str) -> None:
        build.build_presets([build.Build(preset, MPIS["mpich"], targets)])

    for text in ("first", "second"):
        (brought / "mpich" / "bin" / "microbench").write_text(text)
        (brought / "stamp").write_text(text)
        for _ in range(2):
            ensure("mpich", *build.ENGINE, "microbench")
        assert (made / "mpich" / "bin" / "microbench").read_text() == text
    ensure("standard-abi", *build.ENGINE, "progress_profile")
    for name in ("bin/progress-run", "lib/progress_engine"):  # the hash of the engine is in a session's identity
        assert (made / "mpich" / name).readlink() == prefix / name
    assert (made / "lib" / "libcxx.so").exists() and steps == []
    assert capsys.readouterr().err == ""
    ensure("mpich", "ult")
    assert "not all of this is in the wheel, so it is built here: ult of mpich" in capsys.readouterr().err
    ensure("debian-mpich", *build.ENGINE)
    assert [one for one in steps if "building" in one] == ["building build/mpich", "building build/debian-mpich"]


def test_mpis_of_one_abi_share_a_build(monkeypatch: pytest.MonkeyPatch) -> None:
    """And have the MPI whose wrapper compiles it."""
    asked: list[build.Build] = []
    needed: set[str] = set()
    monkeypatch.setattr(build, "build_presets", asked.extend)
    monkeypatch.setattr(build, "ensure_mpis", lambda *some: needed.update(one.name for one in some))
    build.ensure_each([(MPIS["intel-mpi"], ["engine", "one"]), (MPIS["mpich"], ["engine", "other"])])
    assert [(one.preset, one.mpi.name, *one.targets) for one in asked] == [("mpich", "mpich", "engine", "one", "other")]
    asked.clear()
    build.ensure(MPIS["intel-mpi"], "engine")
    assert [one.preset for one in asked] == ["mpich"] and needed == {"mpich", "intel-mpi"}
    assert MPIS["intel-mpi"].build_dir == MPIS["mpich"].build_dir != MPIS["openmpi"].build_dir


@pytest.mark.mpi
def test_what_is_built_is_not_built_or_announced_again(capsys: pytest.CaptureFixture[str]) -> None:
    build.ensure(MPIS["mpich"], "progress-info")
    capsys.readouterr()
    build.ensure(MPIS["mpich"], "progress-info")
    assert capsys.readouterr().err == ""


def test_a_build_of_sources_that_have_moved_is_configured_again(tmp_path: Path) -> None:
    before, now, folder = (tmp_path / name for name in ("before", "now", "build"))
    for made in (before, now, folder):
        made.mkdir()
    assert not build._configured(folder, before)
    (folder / "build.ninja").touch()
    (folder / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={before}\n")
    assert build._configured(folder, before)
    assert not build._configured(folder, now)


def test_what_a_demo_builds_needs_few_packages_and_what_comes_later_has_the_folder_configured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[tuple[str, ...]] = []
    missing = ["libboost-fiber-dev", "libgtest-dev"]
    monkeypatch.setattr(build, "BUILD_DIR", tmp_path)
    monkeypatch.setattr(build, "_up_to_date", lambda *_: True)
    monkeypatch.setattr(environment, "ensure_packages", lambda *purposes: asked.append(purposes))
    monkeypatch.setattr(environment, "missing_packages", lambda *_: missing)
    steps: list[str] = []
    monkeypatch.setattr(build, "run_steps", lambda some: steps.extend(one.title for one in some))
    folder = tmp_path / "mpich"

    def built(*targets: str) -> None:
        build.build_presets([build.Build("mpich", MPIS["mpich"], targets)])
        (folder / "build.ninja").touch()
        (folder / "CMakeCache.txt").write_text(f"CMAKE_HOME_DIRECTORY:INTERNAL={ROOT}\n")

    for _ in range(2):
        built(*build.engine(offload=False), "microbench")
    assert asked == [("build",)] and steps == ["configuring build/mpich"]
    missing.clear()
    built("ult")
    assert asked[1:] == [("build", "all targets")] and len(steps) == 2
    built("ult")
    assert len(asked) == len(steps) == 2
