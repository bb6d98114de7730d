# SPDX-License-Identifier: BSD-3-Clause
"""uv.lock: in step with pyproject.toml, read as uv reads it, and installed by pip alone where there is no uv."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement

from harness.base import process
from harness.base.errors import Failure
from harness.base.paths import LOCK_FILE, ROOT
from harness.setup import environment
from harness.setup.lock_file import load, requirements

GROUPS = ("browser", "dev", "docs", "installer", "notebooks", "tune", "wheel")
needs_uv = pytest.mark.skipif(not environment.UV.exists(), reason="pip has made .venv: there is no uv")


@pytest.fixture(scope="module")
def lock() -> dict[str, Any]:
    return load(LOCK_FILE)


def uv(*arguments: str) -> process.Answer:
    return process.answer([str(environment.UV), *arguments, "--offline", "--python", sys.executable], 60, cwd=ROOT)


def pins(lines: list[str]) -> dict[str, tuple[str, set[str]]]:
    """Name -> version and hashes."""
    found = {}
    for line in lines:
        pin, *hashes = line.split(" --hash=")
        name, _, version = pin.partition("==")
        found[name] = (version, set(hashes))
    return found


@needs_uv
def test_it_is_in_step_with_pyproject() -> None:
    """Else: .venv/bin/uv lock"""
    checked = uv("lock", "--check")
    assert checked.status == 0, checked.err
    (project,) = (package for package in load(LOCK_FILE)["package"] if package["name"] == "overlap-bench")
    assert sorted(project["dev-dependencies"]) == sorted(GROUPS)


def exported(group: str, machine: dict[str, str]) -> list[str]:
    """What uv makes of the lock for all machines, less what the markers of each line leave out."""
    which = ["--only-group", group] if group else ["--no-emit-project"]
    said = uv("export", "--frozen", "--no-header", "--no-annotate", *which)
    assert said.status == 0, said.err
    lines = []
    for line in said.out.replace("\\\n", "").splitlines():
        wanted, *hashes = re.split(r"\s+--hash=", line.strip())
        one = Requirement(wanted)
        if one.marker is None or one.marker.evaluate(machine):
            lines.append(" --hash=".join([f"{one.name}{one.specifier}", *hashes]))
    return lines


@needs_uv
@pytest.mark.parametrize("python", [pytest.param("3.10.4", marks=pytest.mark.full), "3.13.5"])
def test_it_is_read_as_uv_reads_it(python: str, lock: dict[str, Any]) -> None:
    for group in ("", *GROUPS):
        for platform in ("x86_64", "aarch64", "ppc64le"):
            short = ".".join(python.split(".")[:2])
            machine = {"python_full_version": python, "python_version": short, "platform_machine": platform}
            read = pins(requirements(lock, group, machine))
            assert read == pins(exported(group, machine)), (group, platform)
            assert all(hashes for _, hashes in read.values())


PACKAGE = {"version": "1", "source": {}, "sdist": {"hash": "sha256:a"}}
MADE_UP = {
    "package": [
        {
            "name": "ours", "version": "0", "source": {"editable": "."},
            "dependencies": [{"name": "a", "extra": ["fast"]}, {"name": "old", "marker": "python_version < '3'"}],
        },
        {"name": "a", **PACKAGE, "dependencies": [{"name": "b"}], "optional-dependencies": {
            "fast": [{"name": "c", "version": "2"}], "slow": [{"name": "old"}]}},
        {"name": "b", **PACKAGE, "dependencies": [{"name": "a"}]},
        {"name": "c", **PACKAGE},
        {"name": "c", "version": "2", "source": {}, "wheels": [{"hash": "sha256:z"}, {"hash": "sha256:y"}]},
        {"name": "old", **PACKAGE},
    ]
}  # fmt: skip


def test_markers_extras_versions_and_circles_are_followed() -> None:
    assert requirements(MADE_UP) == [
        "a==1 --hash=sha256:a",
        "b==1 --hash=sha256:a",
        "c==2 --hash=sha256:y --hash=sha256:z",
    ]


@pytest.mark.parametrize("damage", ["<<<<<<< HEAD\n", None])
def test_a_lock_that_cannot_be_read_is_a_sentence(damage: str | None, tmp_path: Path, monkeypatch: Any) -> None:
    file = tmp_path / "uv.lock"
    if damage:
        file.write_text(damage + LOCK_FILE.read_text())
    monkeypatch.setattr(environment, "LOCK_FILE", file)
    with pytest.raises(Failure, match=r"^uv\.lock cannot be read: .*(TOMLDecodeError|FileNotFoundError)"):
        environment.install_locked("packages")


@pytest.mark.full
def test_pip_alone_installs_it(tmp_path: Path, lock: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Once: asked for again, nothing is done."""
    prefix = tmp_path / "venv"
    subprocess.run([sys.executable, "-m", "venv", str(prefix)], check=True)
    python = prefix / "bin" / "python"
    monkeypatch.setattr(environment, "VENV", prefix)
    monkeypatch.setattr(environment, "PYTHON", python)
    monkeypatch.setattr(environment, "UV", prefix / "bin" / "uv")
    monkeypatch.setattr(environment, "PIP", [str(python), *environment.PIP[1:]])
    environment.ensure_group("browser")
    listed = process.answer([*environment.PIP, "list", "--format=freeze"], 60).out
    pinned = {f"{name}=={version}" for name, (version, _) in pins(requirements(lock, "browser")).items()}
    assert pinned <= {line.lower().replace("_", "-") for line in listed.splitlines()}
    monkeypatch.setattr(environment, "install", lambda *_: pytest.fail("it is there already"))
    environment.ensure_group("browser")
