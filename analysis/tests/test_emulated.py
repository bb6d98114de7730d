# SPDX-License-Identifier: BSD-3-Clause
"""What was measured on emulated machines decides no claim, however clear it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from analysis.claims.table import table
from analysis.records.load import load
from analysis.tests.synthetic import USUAL, Synthetic


def _session(folder: Path) -> Path:
    variants = {name: USUAL[name] for name in ("bare", "adaptive")}
    return Synthetic(mpis={"mpich": variants}, patterns=("both",), comp_over_comm=(1.0,)).write(folder)


def _say_in_session(session: Path) -> None:
    file = session / "session.json"
    file.write_text(json.dumps({**json.loads(file.read_text()), "emulated": True}))


def _say_in_one_record(session: Path) -> None:
    file = sorted((session / "records").iterdir())[3]
    first, *rest = file.read_text().splitlines()
    header = json.loads(first)
    header["header"]["context"]["emulated"] = True
    file.write_text("\n".join([json.dumps(header), *rest]) + "\n")


@pytest.mark.parametrize("say", [_say_in_session, _say_in_one_record])
def test_an_emulated_session_decides_nothing(say: object, tmp_path: Path) -> None:
    hardware, emulated = (_session(tmp_path / name) for name in ("hardware", "emulated"))
    assert callable(say)
    say(emulated)
    rows = [row for row in table([hardware, emulated]).rows if row.value is not None]
    decided = {
        session: {row.decision for row in rows if row.session == session} for session in ("hardware", "emulated")
    }
    assert "reproduced" in decided["hardware"]
    assert decided["emulated"] == {"not decided: emulated machine"}
    (caution,) = load([hardware, emulated]).cautions()
    assert caution.startswith("Session emulated ran on emulated machines")
