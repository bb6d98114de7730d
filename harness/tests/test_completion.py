# SPDX-License-Identifier: BSD-3-Clause
"""A shell completes ./bench: the printed script is sourced by the real shell, and asks the real program."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.paths import ROOT
from harness.cli import main
from harness.commands import VARIABLE
from harness.setup import bootstrap, environment

BENCH = ROOT / "bench"
# What each shell does when a word is to be completed, by hand: there is no terminal here.
ASKED = {
    "bash": "{script}\nCOMP_WORDS=({words})\nCOMP_CWORD=2\n_bench_completion {bench}\necho ${{COMPREPLY[@]}}",
    "zsh": (
        "compdef() {{ : }}\n_arguments() {{ print -r -- $@ }}\n{script}\n"
        "words=({words})\nCURRENT=3\n_bench_completion | grep -oE -- '--json'"
    ),
    "fish": "{script}\ncomplete --do-complete '{words}'",
}


def completed(words: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """What comes for the last of these words."""
    monkeypatch.setenv(VARIABLE, "complete_bash")
    monkeypatch.setenv("COMP_WORDS", words.replace(" ", "\n"))
    monkeypatch.setenv("COMP_CWORD", str(words.count(" ")))
    assert main([]) == 0
    return capsys.readouterr().out.split()


@pytest.mark.parametrize(
    ("words", "wanted"),
    {
        "bench comp": {"compare", "compare-program", "completion"},
        "bench vcluster s": {"status"},
        "bench run overlap-r": {"overlap-ratio"},
        "bench run pio": {"pioman"},
        "bench run --dry": {"--dry-run"},
        "bench run x --mpi mpich,open": {"mpich,openmpi"},
        "bench run x --variant bare,adap": {"bare,adaptive"},
        "bench run x --system vcluster-": {"vcluster-slurm", "vcluster-spack"},
        "bench run x --scale q": {"quick"},
        "bench run x --scale t": {"test"},
        "bench run --resume 2026": {"20260102-030405-some"},
        "bench completion ": {"bash", "fish", "zsh"},
    }.items(),
)
def test_what_comes_next(
    words: str,
    wanted: set[str],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    session = tmp_path / "20260102-030405-some"
    session.mkdir()
    (session / "session.json").write_text("{}")
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path))
    assert set(completed(words, monkeypatch, capsys)) == wanted


@pytest.mark.parametrize("shell", ASKED)
def test_the_shell_completes_by_the_printed_script(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    if not shutil.which(shell):
        pytest.skip(f"{shell} is not installed")
    assert main(["completion", shell]) == 0
    text = ASKED[shell].format(script=capsys.readouterr().out, bench=BENCH, words=f"{BENCH} doctor --js")
    done = subprocess.run([shell, "-c", text], capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout.split()[:1] == ["--json"], done.stderr


def test_a_clone_that_is_not_set_up_completes_nothing_and_makes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, "complete_bash")
    monkeypatch.setattr(environment, "is_there", lambda: False)
    monkeypatch.setattr(environment, "ensure", lambda: pytest.fail("a Tab must not install anything"))
    assert bootstrap.main([]) == 0
