# SPDX-License-Identifier: BSD-3-Clause
"""The wait functions of engine and workloads with umwait and mwaitx, on emulated processors that have them.

See boot/bochs.py.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from harness.base.paths import ROOT, STATE_DIR
from progress_engine.tests.boot import bochs

LAST_WORDS = "wait-loop: end"
LIMIT_S = 500  # on a busy machine
SECOND = 1_000_000_000  # of emulated time, in nanoseconds
A_FEW = 100  # turns of the wait loop; who does not sleep makes thousands


@pytest.mark.full
@pytest.mark.timeout(600)
@pytest.mark.parametrize(
    ("model", "instruction"),
    [("sapphire_rapids", "umwait-c0.2"), ("arrow_lake", "umwait-c0.2"), ("ryzen", "mwaitx-c1")],
)
def test_a_store_wakes_a_deadline_expires_and_no_wait_is_lost(model: str, instruction: str, tmp_path: Path) -> None:
    root = bochs.emulator(STATE_DIR / "emulator")
    if root is None:
        pytest.skip(f"Bochs 3.0 of Debian's {bochs.RELEASE.suites[0]} cannot be downloaded here")
    image = bochs.build(ROOT / "progress_engine", ROOT / "workloads", tmp_path)
    booted = bochs.boot(root, image, model, tmp_path, LAST_WORDS, LIMIT_S)
    assert LAST_WORDS in booted.serial, f"serial line: {booted.serial[-800:]}\nlog: {booted.log[-800:]}"
    found = bochs.results(booted.serial)
    assert found["instruction"] == instruction
    assert 2 * SECOND <= int(found["deadline"]) < 3 * SECOND
    assert int(found["deadline-looks"]) < A_FEW, "it did not sleep"
    assert int(found["store"]) < SECOND, "it slept on: the deadline is 600 s away"
    assert int(found["store-looks"]) < A_FEW, "it did not sleep"
    assert (found["waits"], found["lost"]) == ("100000", "0")
    for depth in ("light", "deep"):  # of workloads/interference/mwait.cpp, as many waits
        assert int(found[f"{depth}-turns"]) < A_FEW, "it did not sleep"
        assert found[f"{depth}-lost"] == "0"
