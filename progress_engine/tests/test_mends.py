# SPDX-License-Identifier: BSD-3-Clause
"""The table of mends fits the sources: each edit finds what it takes out (mends.py, run by hand, builds and tests)."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from harness.base.mpis import MPIS

from .mends_table import MENDS, Mend

ENGINE = Path(__file__).resolve().parent.parent


@pytest.mark.parametrize("mend", MENDS, ids=lambda mend: mend.name)
def test_what_a_mend_consists_of_is_there(mend: Mend) -> None:
    for edit in mend.edits:
        assert (ENGINE / edit.file).read_text().count(edit.old) == 1, edit
    file = shlex.split(mend.test)[0]
    assert ":" in file or (ENGINE / "tests" / file).exists()
    assert mend.mpi in MPIS
