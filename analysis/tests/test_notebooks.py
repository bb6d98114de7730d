# SPDX-License-Identifier: BSD-3-Clause
"""The notebooks: each number of their prose is checked, on the sessions that are in the repository."""

from __future__ import annotations

import json
import re
import runpy
import shutil
from pathlib import Path

import pytest

from analysis.errors import UsageError
from analysis.notebook import book
from analysis.notebook.book import Book, Mismatch, fill, like
from analysis.statistics.interval import Interval
from harness.base import paths

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.py"))
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
# In prose these are names: of a paper's figures and sections, of studies, of units of what was asked for.
NAMES = re.compile(
    r"`[^`]*`|\b(?:figures?|sections?) [\w-]+(?: and \w+)?|\b[PMRFG]\d\b|\(\w+,? \d{4}\)|\(Sandia, \d{4}\)"
)


def cells(path: Path) -> list[tuple[str, str]]:
    """(head, text) of each cell of a py:percent file."""
    parts = re.split(r"^# %%(.*)$", path.read_text(), flags=re.MULTILINE)[1:]
    return list(zip(parts[::2], parts[1::2], strict=True))


@each_notebook
def test_prose_has_no_number_that_nobody_checks(path: Path) -> None:
    assert path.read_text().startswith("# SPDX-License-Identifier: BSD-3-Clause\n# %% [markdown]\n# # ")
    prose = [text for head, text in cells(path) if "[markdown]" in head]
    code = "".join(text for head, text in cells(path) if "[markdown]" not in head)
    assert "[?]" not in code
    assert 'SESSION = ""' in code
    for text in prose:
        words = "\n".join(line for line in text.splitlines() if not line.startswith("#     "))
        assert not re.search(r"\d", NAMES.sub("", words)), f"a number in prose: {words}"


# The others read sessions of many samples.
QUICK = ("does_mpi_progress", "tuning")


quick_notebooks = pytest.mark.parametrize(
    "path",
    [pytest.param(path, id=path.stem, marks=[] if path.stem in QUICK else pytest.mark.full) for path in NOTEBOOKS],
)


@quick_notebooks
def test_a_notebook_says_what_its_session_says(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(book.VARIABLE, raising=False)
    assert runpy.run_path(str(path))["book"].is_reference


@pytest.mark.full
@pytest.mark.timeout(1200)
@each_notebook
def test_jupyter_runs_it_and_shows_its_figures(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jupytext = pytest.importorskip("jupytext", reason="the group `notebooks` is not installed")
    client = pytest.importorskip("nbclient", reason="the group `notebooks` is not installed").NotebookClient
    monkeypatch.delenv(book.VARIABLE, raising=False)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    notebook = jupytext.read(path, fmt="py:percent")
    assert not [cell for cell in notebook.cells if cell.get("outputs")]
    client(notebook, timeout=600, kernel_name="python3").execute()
    shown = [kind for cell in notebook.cells for output in cell.get("outputs", []) for kind in output.get("data", {})]
    assert "text/markdown" in shown
    assert "text/html" in shown, "a table"
    assert path.stem in ("tuning", "regression_to_cause") or "image/png" in shown


@quick_notebooks
def test_a_notebook_runs_on_any_session(
    path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of which it says what was not measured."""
    other = "overlap-10gbit" if path.stem != "regression_to_cause" else "overlap overlap-10gbit"
    sessions = " ".join(str(ROOT / "results" / "reference" / "overlap" / name) for name in other.split())
    monkeypatch.setenv(book.VARIABLE, sessions)
    assert not runpy.run_path(str(path))["book"].is_reference
    if path.stem == "papers":
        assert "*Not measured in this session:*" in capsys.readouterr().out


def test_the_parameter_names_the_newest_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "latest").symlink_to(paths.folder_of(ROOT / "results/reference/overlap/overlap-10gbit"))
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path))
    monkeypatch.delenv(book.VARIABLE, raising=False)
    copy = tmp_path / "copy.py"
    source = (ROOT / "notebooks" / "does_mpi_progress.py").read_text()
    copy.write_text(source.replace('SESSION = ""', 'SESSION = "latest"'))
    read = runpy.run_path(str(copy))["book"]
    assert read.sessions == [tmp_path / "latest"] and not read.is_reference
    assert "in this session:* " in capsys.readouterr().out


def test_gates_behind_two_sessions_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    reference = ROOT / "results" / "reference"
    gate = tmp_path / "gate-session"
    shutil.copytree(paths.folder_of(reference / "gate-timer"), gate)
    told = json.loads((gate / "gate" / "gate.json").read_text())
    (gate / "gate" / "gate.json").write_text(json.dumps(told | {"session": "gate-session", "new": "commit:bbb"}))
    facts = json.loads((gate / "session.json").read_text())
    (gate / "session.json").write_text(json.dumps(facts | {"session": "gate-session"}))
    pair = f"{reference / 'overlap/overlap-mtu-9000'} {reference / 'overlap/overlap-mtu-1500'}"
    monkeypatch.setenv(book.VARIABLE, f"{pair} {gate}")
    cells = runpy.run_path(str(ROOT / "notebooks" / "regression_to_cause.py"))
    assert list(cells["gates"]["candidate / baseline"]) == [point["ratio"] for point in told["points"]]
    assert list(cells["gates"]["session"]) == ["gate-session"]
    assert "Shown to be slower: `commit:bbb`." in capsys.readouterr().out
    monkeypatch.setenv(book.VARIABLE, str(gate))
    with pytest.raises(UsageError, match="2 sessions are needed here"):
        runpy.run_path(str(ROOT / "notebooks" / "regression_to_cause.py"))


def changed_copy(source: Path, into: Path) -> Path:
    """The session with all samples multiplied, those of each variant by another factor, so that no ratio stays."""
    copy = into / source.name
    shutil.copytree(paths.folder_of(source), copy)
    files = sorted((copy / "records").glob("*.jsonl"))
    variants = sorted({file.name.split(".", 4)[-1] for file in files})
    for file in files:
        factor = 1.2 ** (1 + variants.index(file.name.split(".", 4)[-1]))
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        for line in lines:
            for name, values in line.get("samples", {}).items():
                line["samples"][name] = [factor * value for value in values]
        file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return copy


def references(path: Path) -> list[str]:
    """The sessions that a notebook's prose was written on."""
    (names,) = re.findall(r"Book\(\s*((?:\"[^\"]+\"\s*)+)", path.read_text())
    return str(names).replace('"', " ").split()


@pytest.mark.parametrize(
    ("path", "changed"),
    [
        pytest.param(
            path,
            name,
            id=f"{path.stem}-{Path(name).name}",
            marks=pytest.mark.full if number or path.stem not in QUICK else [],
        )
        for path in NOTEBOOKS
        for number, name in enumerate(references(path))
    ],
)
def test_a_number_changed_in_a_session_fails_the_notebook(
    path: Path, changed: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sessions = [changed_copy(ROOT / name, tmp_path) if name == changed else ROOT / name for name in references(path)]
    monkeypatch.setenv(book.VARIABLE, " ".join(map(str, sessions)))
    with pytest.raises(Mismatch, match=r"it says .*, computed is|the words do not hold"):
        runpy.run_path(str(path))


@pytest.mark.parametrize(
    ("value", "sample", "said"),
    [
        (0.254, "0.30", "0.25"),
        (Interval(0.254, 0.2, 0.3, "", True), "0.1 (0.1 to 0.2)", "0.3 (0.2 to 0.3)"),
        (Interval(0.254, 0.2, 0.3, "", True), "0.11", "0.25"),
        (0.254, "10 %", "25 %"),
        (0.0123, "1 s", "12.3 ms"),
        (-0.2, "0.1", "−0.2"),
        (3, "7", "3"),
        ("slower", "same", "slower"),
    ],
)
def test_a_value_is_written_as_the_sample_is(value: float, sample: str, said: str) -> None:
    assert like(value, sample) == said


def test_a_sentence_takes_the_values_and_says_how_they_differ() -> None:
    assert fill("[0.2] of [5]", [0.2, 6]) == ("0.2 of 6", ["it says 5, computed is 6"])
    with pytest.raises(Mismatch, match="1 numbers in brackets and 2 values"):
        fill("[0.2]", [1, 2])


@pytest.mark.parametrize(
    ("sessions", "how"),
    [(("predicted",), "predicted"), (("measured",), "measured"), (("predicted", "measured"), "measured or predicted")],
)
def test_a_claims_column_says_how_its_numbers_came(
    sessions: tuple[str, ...], how: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = paths.folder_of(ROOT / "results/reference/context-switches")
    facts = json.loads((source / paths.FACTS).read_text())
    for name, simulated in (("measured", {}), ("predicted", {"mpich.json": "0" * 64})):
        (tmp_path / name).mkdir()
        (tmp_path / name / paths.FACTS).write_text(json.dumps(facts | {"session": name, "simulated": simulated}))
        (tmp_path / name / "records").mkdir()
        for file in (source / "records").iterdir():
            text = file.read_text().replace(facts["session"], name)
            (tmp_path / name / "records" / file.name).write_text(text)
    found = Book(" ".join(str(tmp_path / name) for name in sessions))
    claims = found.claims("ruhela")
    assert {"measured", "predicted", "measured or predicted"} & set(claims.columns) == {how}
    assert set(claims[how]) != {"–"}
    found.is_reference = False
    found.states("It takes [1].", None)
    assert f"*Not {how} in this session:* It takes …." in capsys.readouterr().out


def test_words_that_do_not_hold_fail_on_the_reference_and_are_marked_elsewhere(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reference = Book("results/reference/context-switches")
    with pytest.raises(Mismatch, match="the words do not hold"):
        reference.states("It is so.", holds=False)
    with pytest.raises(Mismatch, match="not in the session"):
        reference.states("It takes [1].", None)
    reference.is_reference = False
    reference.states("It is so.", holds=False)
    reference.states("It takes [1].", 2)
    reference.states("It takes [1].", None)
    said = capsys.readouterr().out
    assert "*Not so in this session:* It is so." in said
    assert "It takes 2." in said
    assert "*Not measured in this session:* It takes …." in said
