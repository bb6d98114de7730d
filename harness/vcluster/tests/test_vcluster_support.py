# SPDX-License-Identifier: BSD-3-Clause
"""Where there can be no virtual cluster, a sentence says why and what would help; and asking changes nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.errors import Failure
from harness.vcluster import cluster, support
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import as_unprivileged

ROOT = Path(__file__).resolve().parents[3]
ASK = "from harness.vcluster.cluster import supported; print(supported())"

pytestmark = pytest.mark.vcluster


def fake_tool(folder: Path, name: str, words: str) -> None:
    """A program that says something on stderr and fails."""
    path = folder / name
    path.write_text(f"#!/bin/sh\necho '{words}' >&2\nexit 1\n")
    path.chmod(0o755)


def test_the_question_leaves_no_trace() -> None:
    before = Path("/proc/net/dev").read_text().count("\n"), Path("/proc/self/mountinfo").read_text()
    cluster.supported()
    assert (Path("/proc/net/dev").read_text().count("\n"), Path("/proc/self/mountinfo").read_text()) == before


def test_missing_tools_are_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(support, "search_path", lambda: str(tmp_path))
    sentence = cluster.supported()
    assert sentence == "A virtual cluster needs ip and tc, which the Debian package iproute2 has."


@pytest.mark.parametrize(("tool", "module"), [("ip", "bridge"), ("tc", "sch_htb")])
def test_missing_kernel_modules_are_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, tool: str, module: str
) -> None:
    if cluster.supported():
        pytest.skip("no virtual cluster here anyway")
    fake_tool(tmp_path, tool, "Unknown device type.")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sentence = cluster.supported()
    assert sentence
    assert "Unknown device type." in sentence
    assert module in sentence


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare (util-linux) is not installed")
def test_forbidden_namespaces_are_explained() -> None:
    """As in a container: root by name, without rights, and no more user namespaces to be had."""
    with as_unprivileged() as (folder, python):
        forbid = 'echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set=-all --inh-caps=-all "$@"'
        inside = ["unshare", "--user", "--map-root-user", "sh", "-c", forbid, "sh", python[-1], "-c", ASK]
        done = subprocess.run(
            [*python[:-1], *inside], capture_output=True, text=True, check=False, timeout=120, cwd=folder,
            env={"PATH": os.environ["PATH"], "PYTHONPATH": str(ROOT)},
        )  # fmt: skip
    if "unshare failed" in done.stderr:
        pytest.skip("the machine forbids user namespaces altogether")
    assert done.stdout.startswith("A virtual cluster is not possible here: user namespace refused ("), done.stderr
    assert "or be root" in done.stdout
    assert done.stdout.count("\n") == 1


def test_up_says_why_not_and_leaves_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, place: Path) -> None:
    """Also of a network that fails halfway: the third call of ip does."""
    lacking, real = cluster.supported(), shutil.which("ip", path=support.search_path())
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    fake_tool(tmp_path, "ip", "no")
    with pytest.raises(Failure, match="not possible here"):
        cluster.up()
    count = tmp_path / "count"
    third = f'echo >> {count}\n[ $(wc -l < {count}) -lt 3 ] && exec {real} "$@"\necho boom >&2; exit 1\n'
    (tmp_path / "ip").write_text(f"#!/bin/sh\n{third}")
    if not lacking:
        with pytest.raises(Failure, match="ip failed: boom"):
            cluster.up()
    assert not place.exists()


def test_a_client_without_streams_still_runs(virtual: Cluster, tmp_path: Path) -> None:
    line = virtual.command("vc1", ["sh", "-c", f"cat; echo $? > {tmp_path}/out; exit 4"])
    done = subprocess.run(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *line], check=False, timeout=120)
    assert (done.returncode, (tmp_path / "out").read_text()) == (4, "0\n")
