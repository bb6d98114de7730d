# SPDX-License-Identifier: BSD-3-Clause
"""What ReFrame and a session are told of the emulated machines."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from harness.base import validate
from harness.rdma_lab import lab, settings
from harness.rdma_lab.settings import Settings
from harness.rdma_lab.state import State
from harness.sessions.request import Request
from harness.sites.systems import BUILTIN
from reframe_checks.systems import rdma_lab
from reframe_checks.systems.extras import EnvironmentExtras, PartitionExtras

QEMU, UCX = "1%3a10.0.2_amd64", "1.13.1-1_amd64"


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lab.Lab:
    state = State(tmp_path)
    (state.host / "usr/lib/modules/6.12-test").mkdir(parents=True)
    (tmp_path / "host.packages").write_text(f"qemu-system-x86_{QEMU}.deb\n")
    (tmp_path / "guest.packages").write_text(f"libucx0_{UCX}.deb\nbash_5_amd64.deb\n")
    made = lab.Lab(state, Settings.make("20mbit", 1536, {}), {"lab1": 1, "lab2": 2}, 12.0)
    monkeypatch.setattr(lab, "load", lambda: made)
    return made


def _partition() -> dict[str, Any]:
    found: dict[str, Any] = rdma_lab.configuration()["systems"][0]["partitions"][0]
    return found


def test_a_launch_goes_to_a_guest_and_the_record_will_say_emulated(
    running: lab.Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UCX_RNDV_SCHEME", "put_zcopy")
    extras = validate.check(PartitionExtras, _partition()["extras"], "extras")
    assert extras.emulated
    assert extras.via[1:] == ["-m", "harness.rdma_lab.attend"]
    assert "UCX_RNDV_SCHEME" in extras.exports, "Open MPI passes on what it is told to"
    assert extras.hosts == ["lab1", "lab2"]
    assert extras.network == running.network_description
    assert "QEMU 1:10.0.2, TCG" in extras.network
    assert "limited to 20mbit" in extras.network
    assert "UCX 1.13.1-1 rc" in extras.network


def test_open_mpi_takes_verbs_or_nothing() -> None:
    environments = {found["name"]: found for found in rdma_lab.configuration()["environments"]}
    assert set(environments) == set(settings.MPIS)
    for environment in environments.values():
        validate.check(EnvironmentExtras, environment["extras"], "extras")
    told = dict(environments["debian-openmpi"]["env_vars"])
    assert (told["OMPI_MCA_pml"], told["OMPI_MCA_osc"]) == ("ucx", "ucx")
    assert settings.UCX["UCX_TLS"] == "rc,self"


def test_without_machines_reframe_can_still_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "load", lambda: None)
    assert _partition()["extras"] == {}


def test_a_session_says_that_its_system_is_emulated() -> None:
    asked = {name: Request([], BUILTIN[name], [], []).facts()["emulated"] for name in ("rdma-lab", "local")}
    assert asked == {"rdma-lab": True, "local": False}
