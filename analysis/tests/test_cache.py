# SPDX-License-Identifier: BSD-3-Clause
"""The cache gives what parsing gives, notices every change of the file, and is never trusted when damaged."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pandas as pd
import pytest

from analysis.benchmarks.synthetic import Behaviour, Synthetic
from analysis.records import cache
from analysis.records.load import Records, load
from analysis.records.read import LaunchFile
from analysis.records.schema import Shapes


@pytest.fixture
def session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "WORTH_IT_BYTES", 0)
    return Synthetic(mpis={"mpich": {"bare": Behaviour(0.1)}}, launches=1, samples=50).write(tmp_path / "s")


def record(session: Path) -> Path:
    return next((session / "records").glob("*.jsonl"))


def same(a: Records, b: Records) -> None:
    pd.testing.assert_frame_equal(a.samples, b.samples)
    pd.testing.assert_frame_equal(a.points, b.points)
    pd.testing.assert_frame_equal(a.launches.astype(str), b.launches.astype(str))
    assert a.problems == b.problems


def parsed_again(monkeypatch: pytest.MonkeyPatch, session: Path) -> bool:
    """Whether a load parses the JSON Lines instead of reading the cache."""
    calls: list[Path] = []
    real = cache.parse

    def counted(path: Path, shapes: Shapes) -> LaunchFile:
        calls.append(path)
        return real(path, shapes)

    with monkeypatch.context() as patch:
        patch.setattr(cache, "parse", counted)
        load([session])
    return bool(calls)


def test_the_cache_gives_what_parsing_gives(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = record(session)
    file.write_text(file.read_text().replace('"rank": 1', '"rank": -1', 1))  # a problem must come back, too
    plain = load([session], use_cache=False)
    assert not cache.cache_file(file).exists()
    same(load([session]), plain)
    assert cache.cache_file(file).exists()
    assert not parsed_again(monkeypatch, session)
    same(load([session]), plain)


def test_a_changed_file_is_read_again(session: Path) -> None:
    file = record(session)
    load([session])
    file.write_text("\n".join(file.read_text().splitlines()[:-1]) + "\n")
    assert any("cut off" in problem.text for problem in load([session]).problems)


def test_a_change_that_keeps_the_size_is_seen_by_the_hash(session: Path) -> None:
    file = record(session)
    load([session])
    text = file.read_text()
    file.write_text(text.replace('"warmup": 2', '"warmup": 7'))
    assert len(file.read_text()) == len(text)
    assert set(load([session]).points["warmup"]) == {7}


def test_a_copy_with_another_time_but_the_same_content_is_trusted(
    session: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load([session])
    os.utime(record(session), (1, 1))
    assert not parsed_again(monkeypatch, session)


@pytest.mark.parametrize("damage", ["cut", "flip", "empty", "text"])
def test_a_damaged_cache_is_never_trusted(session: Path, damage: str) -> None:
    plain = load([session], use_cache=False)
    load([session])
    target = cache.cache_file(record(session))
    content = bytearray(target.read_bytes())
    if damage == "flip":
        content[len(content) // 3] ^= 0xFF
    target.write_bytes({"cut": bytes(content[:-100]), "empty": b"", "text": b"hello"}.get(damage, bytes(content)))
    same(load([session]), plain)


def test_another_version_of_the_analysis_does_not_trust_it(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    load([session])
    monkeypatch.setattr(cache, "LAYOUT", cache.LAYOUT + 1)
    assert parsed_again(monkeypatch, session)


def test_a_folder_that_cannot_be_written_loads_all_the_same(session: Path) -> None:
    blocker = cache.cache_file(record(session)).parent
    blocker.write_text("a file where the folder should be")
    assert len(load([session]).samples)
    assert blocker.is_file()


def test_small_files_get_no_cache(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "WORTH_IT_BYTES", 1 << 30)
    load([session])
    assert not cache.cache_file(record(session)).parent.exists()


def test_a_removed_cache_is_made_again(session: Path) -> None:
    load([session])
    shutil.rmtree(cache.cache_file(record(session)).parent)
    load([session])
    assert cache.cache_file(record(session)).exists()
