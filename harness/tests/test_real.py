# SPDX-License-Identifier: BSD-3-Clause
"""What the tables of real gates and of real races share: how a call goes on, and how it ends."""

from __future__ import annotations

import signal
from pathlib import Path

import pytest

from harness.base.errors import Failure, UsageError
from harness.sessions import real


def test_a_table_is_drawn_anew_after_each_measurement_and_gone_on_with(tmp_path: Path) -> None:
    file = tmp_path / "table.md"
    table = real.Table(file, lambda done: f"{len(done)} on {done[-1]['machine']}\n", {"machine": "m", "commit": "c"})
    for number in (1, 2):
        table.add({"kind": "a"})
        assert file.read_text() == f"{number} on m\n" and real.read(file) == table.done
    assert real.places(table.done) == ["- 2 on m, commit c."]


def test_what_cannot_be_gone_on_with_is_named(tmp_path: Path) -> None:
    file = tmp_path / "table.md"
    assert real.read(file) == []
    (tmp_path / "table.md.jsonl").write_text('{"kind": "a"}\nno JSON\n')
    with pytest.raises(UsageError, match=r"table\.md\.jsonl cannot be gone on with"):
        real.read(file)


@pytest.mark.parametrize(
    ("ends", "status", "said"),
    [(UsageError("no."), 2, "no."), (Failure("no."), 1, "no."), (KeyboardInterrupt(), 1, "the same call goes on")],
)
def test_a_call_that_ends_badly_says_a_sentence(
    ends: BaseException, status: int, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def main() -> int:
        raise ends

    assert real.status(main) == status and said in capsys.readouterr().err


@pytest.mark.parametrize("number", real.STOPS)
def test_who_is_told_to_stop_ends_as_by_ctrl_c(
    number: signal.Signals, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ended at once its nodes would be gone before its measurement is told, which took that for failures."""
    here = signal.signal(number, signal.SIG_DFL)  # ignored where these tests run under nohup
    before = signal.getsignal(number)

    def main() -> int:
        handler = signal.getsignal(number)
        assert callable(handler) and handler is not before
        handler(number, None)
        return 0

    assert real.status(main) == 1 and "the same call goes on" in capsys.readouterr().err
    assert signal.getsignal(number) is before
    signal.signal(number, here)
    monkeypatch.setattr(signal, "getsignal", lambda _: signal.SIG_IGN)  # under nohup
    set_anew: list[int] = []
    monkeypatch.setattr(signal, "signal", lambda number, _: set_anew.append(number))
    assert real.status(lambda: 0) == 0 and not set_anew
