# SPDX-License-Identifier: BSD-3-Clause
"""Real workloads on SMPI, SimGrid's MPI in simulated time, against the simulator on the same platform."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.records.load import load
from harness.cli import main
from harness.setup import build, environment
from harness.simulated import model_folder, smpi
from workloads.tests.conftest import ONCE, VALIDATOR

pytestmark = pytest.mark.full  # it builds the simulator and two programs

VCLUSTER, TREE = (model_folder.SHIPPED / name for name in ("vcluster", "hdr-fat-tree"))
MIB = 1 << 20


@pytest.fixture(scope="module", autouse=True)
def built() -> None:
    if environment.missing_packages("simulator"):
        pytest.skip("SimGrid is not here: apt-get install libsimgrid-dev")
    build.build_simulator()
    build.build_smpi(smpi.PROGRAMS)


def _lines(command: Sequence[str]) -> list[dict[str, Any]]:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    for line in lines:
        VALIDATOR.validate(line)
    return lines


def _longest(lines: list[dict[str, Any]], quantity: str) -> list[float]:
    """At each point, of the rank where it is longest."""
    ranks = lines[0]["header"]["world_size"]
    values = [float(line["samples"][quantity][0]) for line in lines[1:-1]]
    return [max(values[first : first + ranks]) for first in range(0, len(values), ranks)]


def _by_smpi(model: Path, ranks: int, *words: str) -> list[dict[str, Any]]:
    with smpi.launch_line(model, ranks, [*words, *ONCE]) as line:
        return _lines(line)


def _by_model(model: Path, mpi_file: Path, ranks: int, *words: str) -> list[dict[str, Any]]:
    files = (f"--platform={model / model_folder.PLATFORM}", f"--model={mpi_file}")
    return _lines([str(model_folder.PROGRAM), *files, f"--ranks={ranks}", "--", *words])


@pytest.fixture(scope="module")
def ideal(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of an MPI as SMPI is one: the card moves everything at once, and nothing else takes time."""
    content = json.loads((VCLUSTER / "mpich.json").read_text())
    content["protocol"] |= {"handshake": False, "zero_copy": True}
    content["costs"] = dict.fromkeys(content["costs"], 0)
    path = tmp_path_factory.mktemp("ideal") / "mpich.json"
    path.write_text(json.dumps(content))
    return path


OVERLAP = ("microbench", "overlap")
EXCHANGE = ("minighost", "exchange")


def _point(program: tuple[str, str], size_bytes: int, units: int) -> str:
    pattern = ",pattern=both" if program is OVERLAP else ""
    return f"--point=size_bytes={size_bytes},work_units={units},compute=sleep{pattern}"


# `comm_us`: about what 1 MiB takes there, so that the computation takes half of it, the same, and twice.
@pytest.mark.parametrize(
    ("model", "ranks", "program", "comm_us"),
    [
        pytest.param(VCLUSTER, 2, OVERLAP, 8_470, id="vcluster-2-overlap"),
        pytest.param(VCLUSTER, 2, EXCHANGE, 8_470, id="vcluster-2-exchange"),
        pytest.param(VCLUSTER, 8, EXCHANGE, 25_400, id="vcluster-8-exchange"),
        pytest.param(TREE, 8, OVERLAP, 43, id="tree-8-overlap"),
        pytest.param(TREE, 16, EXCHANGE, 170, id="tree-16-exchange"),
    ],
)
def test_a_real_program_takes_as_long_as_its_model_where_progress_is_ideal(
    ideal: Path, model: Path, ranks: int, program: tuple[str, str], comm_us: int
) -> None:
    points = [_point(program, MIB, units) for units in (comm_us // 2, comm_us, 2 * comm_us)]
    real = _by_smpi(model, ranks, *program, *points)
    predicted = _by_model(model, ideal, ranks, *program, *points)
    for quantity in ("comm_s", "comp_s", "total_s"):
        assert _longest(real, quantity) == pytest.approx(_longest(predicted, quantity), rel=1e-3), quantity
    both = zip(*(_longest(real, quantity) for quantity in ("total_s", "comm_s", "comp_s")), strict=True)
    assert all(total == pytest.approx(max(comm, comp), rel=0.03) for total, comm, comp in both)


def test_it_shows_the_limit_and_not_an_mpi_without_progress() -> None:
    point = _point(OVERLAP, 4 * MIB, 34_000)
    (best,) = _longest(_by_smpi(VCLUSTER, 2, *OVERLAP, point), "total_s")
    (bare,) = _longest(_by_model(VCLUSTER, VCLUSTER / "mpich.json", 2, *OVERLAP, point), "total_s")
    assert best == pytest.approx(0.034, rel=0.01)
    assert bare > 1.9 * best


def test_halos_are_there_before_the_wait() -> None:
    lines = _by_smpi(VCLUSTER, 8, *EXCHANGE, _point(EXCHANGE, MIB, 60_000))
    assert [line["samples"]["arrived_early"] for line in lines[1:-1]] == [[1.0]] * 8


def test_a_record_says_that_it_is_simulated(tmp_path: Path) -> None:
    records = tmp_path / "made" / "records"
    records.mkdir(parents=True)
    output = records / "one.jsonl"
    words = ["smpi", "-n", "4", "--", *EXCHANGE, _point(EXCHANGE, 1024, 10), *ONCE, f"--output={output}"]
    assert main(words) == 0
    model = model_folder.folder()
    header = json.loads(output.read_text().splitlines()[0])["header"]
    said = {name: digest for name, digest in model_folder.files(model).items() if name == model_folder.PLATFORM}
    assert header["context"]["simulated"]["files"] == said
    assert header["mpi_library"].startswith("SMPI")
    assert [rank["host"] for rank in header["ranks"]] == model_folder.host_names(model)[:4]
    assert load([tmp_path / "made"]).launches["simulated"].all()


def test_a_record_of_a_launch_by_hand_says_it_too() -> None:
    with smpi.launch_line(VCLUSTER, 2, [*EXCHANGE, _point(EXCHANGE, 8, 1), *ONCE]) as line:
        by_hand = [word for word in line if not word.startswith("--context")]
        header = _lines(by_hand)[0]["header"]
    assert header["context"] == {"simulated": {}}


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        ((*EXCHANGE, "--point=size_bytes=8,work_units=1"), "compute"),
        ((*EXCHANGE, "--point=size_bytes=8,work_units=1,compute=real"), "compute"),
        (("minighost",), "no benchmark is named: minighost --list shows them"),
        (("minighost", "solve", "--point=stencil=7"), "solve computes, which would take no time in SMPI"),
    ],
)
def test_what_cannot_run_is_refused(words: tuple[str, ...], sentence: str) -> None:
    with smpi.launch_line(VCLUSTER, 2, words) as line:
        done = subprocess.run(line, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 2
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


def test_more_ranks_than_the_platform_has_hosts_are_refused(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(model_folder.VARIABLE, "vcluster")
    monkeypatch.setattr(model_folder, "host_names", lambda _: ["node-0"])
    assert main(["smpi", "--", *EXCHANGE]) == 2
    assert "-n 2: the platform of vcluster has 1 hosts" in capsys.readouterr().err
