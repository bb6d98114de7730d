# SPDX-License-Identifier: BSD-3-Clause
"""Clusters of a test's own."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness.vcluster import cluster, cluster_folder
from harness.vcluster.cluster import Cluster
from harness.vcluster.tests.vcluster_fixtures import leftovers


@pytest.fixture
def place(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A directory for a cluster of the test's own, which is checked to be empty afterwards."""
    with tempfile.TemporaryDirectory(prefix="obt-", dir="/tmp") as parent:
        path = Path(parent, "vc")
        monkeypatch.setenv(cluster_folder.VARIABLE, str(path))
        yield path
        cluster.down()
        assert leftovers(path, set()) == []


@pytest.fixture
def virtual(place: Path) -> Cluster:
    """Two nodes of the test's own. Where the machine forbids them the test is left out, and says why."""
    del place
    if reason := cluster.supported():
        pytest.skip(reason)
    return cluster.up(nodes=2, tied=True)
