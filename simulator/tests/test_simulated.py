# SPDX-License-Identifier: BSD-3-Clause
"""The simulator: its own tests, and what it writes. Built where SimGrid is."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from analysis.records.load import load
from harness.base.errors import UsageError
from harness.base.paths import BUILD_DIR, ROOT, SCHEMA
from harness.setup import build, environment
from harness.simulated import model_file, model_folder
from simulator.rates import rates

MODEL = model_folder.SHIPPED / model_folder.DEFAULT
POINT = "--point=pattern=both,size_bytes=4194304,work_units=30000"

_FFT = ("pencil_fft", "transform", "--point=nx=32,ny=32,nz=32,fields=2,mode=blocking")
_MINIFE = ("minife", "solve", "--point=nx=32,ny=32,nz=32,mode=blocking")
APPLICATIONS = (("fft", 1, _FFT), ("fft", 2, _FFT), ("minife-packets", 2, _MINIFE))
RATES = {"fft_s_per_operation", "copied_s_per_byte", "streamed_s_per_byte"}


@pytest.fixture(scope="module")
def simulator() -> Path:
    if environment.missing_packages("simulator"):
        pytest.skip("SimGrid is not here: apt-get install libsimgrid-dev")
    build.build_simulator(("simulate", "test_simulated"))
    return model_folder.PROGRAM


PLATFORM = (MODEL / model_folder.PLATFORM).read_text()
HOSTS = '<host id="a0" speed="1Gf"/><host id="a1" speed="1Gf"/>'


def _changed(name: str, value: str) -> str:
    """The platform with another value of this word of its cluster."""
    text, times = re.subn(f'{name}="[^"]*"', f'{name}="{value}"', PLATFORM)
    assert times == 1
    return text


def _zone(routing: str) -> str:
    head = PLATFORM.partition("<cluster")[0]
    return f'{head}<zone id="z" routing="{routing}">{HOSTS}</zone></platform>'


def _run(
    simulator: Path, ranks: int, *words: str, mpi: str = "mpich", folder: Path = MODEL
) -> subprocess.CompletedProcess[str]:
    model = [f"--platform={folder / model_folder.PLATFORM}", f"--model={folder / mpi}.json"]
    command = [str(simulator), *model, f"--ranks={ranks}", "--", *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def _lines(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert (done.returncode, done.stderr) == (0, "")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    validator = jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))
    for line in lines:
        validator.validate(line)
    return lines


def _total(lines: list[dict[str, Any]]) -> float:
    return float(max(line["samples"]["total_s"][0] for line in lines[1:-1]))


@pytest.mark.full
def test_the_model_against_times_by_hand(simulator: Path) -> None:
    tests = subprocess.run([BUILD_DIR / "simulated" / "bin" / "test_simulated"], timeout=120, check=False)
    assert simulator.exists()
    assert tests.returncode == 0


@pytest.mark.full
def test_a_record_says_that_it_is_simulated(simulator: Path) -> None:
    lines = _lines(_run(simulator, 4, "microbench", "overlap", POINT))
    header = lines[0]["header"]
    assert header["context"]["simulated"]["model"] == "mpich.json"
    assert header["context"]["simulated"]["files"] == {
        name: model_folder.files(MODEL)[name] for name in (model_folder.PLATFORM, "mpich.json")
    }
    assert header["mpi_library"].startswith("simulated")
    assert len(lines) == 1 + 4 + 1


@pytest.mark.full
def test_the_engine_overlaps_what_the_mpi_alone_does_not(simulator: Path) -> None:
    engine = ("progress-run", "--variant", "adaptive", "--")
    bare = _total(_lines(_run(simulator, 2, "microbench", "overlap", POINT)))
    adaptive = _total(_lines(_run(simulator, 2, *engine, "microbench", "overlap", POINT)))
    assert bare > 1.5 * adaptive
    seldom = ("progress-run", "--variant", "timer", "--set", "timer_us=20000", "--")
    assert adaptive < _total(_lines(_run(simulator, 2, *seldom, "microbench", "overlap", POINT))) < bare


@pytest.mark.full
def test_a_short_message_takes_what_the_rate_allows(simulator: Path, tmp_path: Path) -> None:
    """After a pause, too: a latency and its bytes by the bandwidth, and a latency for the acknowledgement."""
    content = json.loads((MODEL / "mpich.json").read_text())
    content["protocol"] |= {"handshake": False, "zero_copy": True}
    content["costs"] = dict.fromkeys(content["costs"], 0)
    (tmp_path / "mpich.json").write_text(json.dumps(content))
    (tmp_path / model_folder.PLATFORM).write_text(PLATFORM)
    rate, half = (float(re.findall(f'{name}="([0-9.e+-]+)', PLATFORM)[0]) for name in ("bw", "lat"))
    sizes = (4096, 65536, 1 << 20)
    points = [f"--point=size_bytes={size}" for size in sizes]
    for pause in ("0", "0.005"):
        lines = _lines(_run(simulator, 2, "microbench", "overlap", *points, f"--settle-s={pause}", folder=tmp_path))
        found = [line["samples"]["comm_s"][0] for line in lines[1:-1:2]]
        assert found == [pytest.approx(size / rate + 2 * 2 * half, rel=1e-6) for size in sizes]


@pytest.mark.full
def test_hundreds_of_ranks_share_the_root(simulator: Path) -> None:
    few, many = (
        _total(
            _lines(
                _run(simulator, n, "microbench", "collective-overlap", "--point=collective=igather,size_bytes=65536")
            )
        )
        for n in (16, 256)
    )
    assert many > 10 * few


@pytest.mark.full
def test_a_ring_in_which_ranks_poll_by_turns_moves_message_by_message(simulator: Path) -> None:
    point = "--point=collective=ibcast,size_bytes=1048576,work_units=1515"
    fast = model_folder.SHIPPED / "hdr-fat-tree"
    engine = ("progress-run", "--variant", "adaptive", "--")
    bare, adaptive = (
        _total(_lines(_run(simulator, 256, *before, "microbench", "collective-overlap", point, folder=fast)))
        for before in ((), engine)
    )
    assert adaptive < 1.2 * bare  # whole batches from rank to rank: 1.8


@pytest.mark.full
def test_halos_are_there_before_the_wait_where_somebody_polls(simulator: Path) -> None:
    point = "--point=size_bytes=1048576,work_units=60000"
    engine = ("progress-run", "--variant", "adaptive", "--")
    for before, share in (((), 0.0), (engine, 1.0)):
        lines = _lines(_run(simulator, 8, *before, "minighost", "exchange", point))
        assert [line["samples"]["arrived_early"][0] for line in lines[1:-1]] == [share] * 8
    last = _lines(_run(simulator, 8, "minighost", "exchange", f"{point},posting=receives-last"))
    assert "arrived_early" not in last[1]["samples"]


FFT = "nx=32,ny=32,nz=32,fields=2,mode="


@pytest.mark.full
@pytest.mark.parametrize("mode", ["blocking", "pipelined", "chunked"])
def test_transforms_take_their_computation_and_their_messages(simulator: Path, mode: str) -> None:
    lines = _lines(_run(simulator, 6, "pencil_fft", "transform", f"--point={FFT}{mode}"))
    assert lines[0]["header"]["quantities"]["elapsed_s"]["leading"] is True
    for line in lines[1:-1]:
        elapsed, computed, inside, rate = (
            line["samples"][name][0] for name in ("elapsed_s", "comp_s", "comm_s", "mops")
        )
        assert elapsed == pytest.approx(computed + inside)
        assert min(computed, inside) > 0
        assert rate == pytest.approx(2 * 2 * 5 * 32**3 * 15 / elapsed / 1e6)


MINIFE = "nx=32,ny=32,nz=32,iterations=20,mode="


@pytest.mark.full
@pytest.mark.parametrize("mode", ["blocking", "overlapped", "pipelined"])
def test_solves_take_their_computation_and_their_calls(simulator: Path, mode: str) -> None:
    points = [f"--point={MINIFE}{mode},packets={packets}" for packets in ("false", "true")]
    lines = _lines(_run(simulator, 6, "minife", "solve", *points))
    assert lines[0]["header"]["quantities"]["elapsed_s"]["leading"] is True
    *solved, left_out, _ = lines[1:]
    assert left_out["status"] == "skipped"
    assert "packets of TCP are not simulated" in left_out["reason"]
    assert len(solved) == 6
    for line in solved:
        samples = {name: values[0] for name, values in line["samples"].items()}
        calls = {name for name in samples if name not in ("elapsed_s", "comp_s", "comm_s", "iterations")}
        assert calls == {"irecv_s", "send_s", "wait_s", "allreduce_s"} | (
            {"allreduce_wait_s"} if mode == "pipelined" else set()
        )
        assert samples["elapsed_s"] == pytest.approx(samples["comp_s"] + samples["comm_s"])
        assert samples["comm_s"] == pytest.approx(sum(samples[name] for name in calls))
        assert samples["iterations"] == 20
        assert samples["comp_s"] > 0


@pytest.mark.full
@pytest.mark.parametrize(
    ("words", "rate", "study"),
    [
        (("pencil_fft", "transform", f"--point={FFT}blocking"), "fft_s_per_operation", "fft"),
        (("minife", "solve", f"--point={MINIFE}blocking"), "streamed_s_per_byte", "minife-packets"),
    ],
)
def test_a_model_without_an_applications_rate_says_how_to_get_it(
    simulator: Path, tmp_path: Path, words: tuple[str, ...], rate: str, study: str
) -> None:
    shutil.copytree(MODEL, tmp_path / "old")
    content = json.loads((MODEL / "mpich.json").read_text())
    content["computation"] = {"unit_s": content["computation"]["unit_s"]}
    (tmp_path / "old" / "mpich.json").write_text(json.dumps(content))
    done = _run(simulator, 2, *words, folder=tmp_path / "old")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"no computation.{rate}: give ./bench calibrate-model a session of study {study}" in done.stderr
    assert _lines(_run(simulator, 2, "microbench", "overlap", POINT, folder=tmp_path / "old"))


@pytest.mark.full
def test_the_rates_are_found_again_in_what_they_predict(simulator: Path, tmp_path: Path) -> None:
    records = tmp_path / "made" / "records"
    records.mkdir(parents=True)
    for study, ranks, words in APPLICATIONS:
        name = f"{study}.{ranks}"
        context: dict[str, Any] = {"session": "made", "launch": name, "study": study, "mpi": "mpich", "variant": "bare"}
        context |= {"repetition": 0, "system": "simulated:model", "scale": "test"}
        (tmp_path / "context.json").write_text(json.dumps(context))
        more = (f"--context={tmp_path / 'context.json'}", f"--output={records / name}.jsonl")
        assert _run(simulator, ranks, *words, *more).stderr == ""
    file = json.loads((MODEL / "mpich.json").read_text())["computation"]
    found = rates(load([tmp_path / "made"]))
    assert set(found) == RATES
    for rate, number in found.items():
        assert number.value == pytest.approx(file[rate]["value"], rel=0.02), rate


@pytest.mark.full
def test_what_has_no_model_is_left_out_with_a_reason(simulator: Path) -> None:
    for words in (("progress-run", "--variant", "offload", "--", "microbench", "overlap"), ("npb", "cg")):
        (_, line, _) = _lines(_run(simulator, 2, *words, POINT))
        assert line["status"] == "skipped"
        assert "not simulated" in line["reason"]


@pytest.mark.full
@pytest.mark.parametrize(
    ("ranks", "words", "sentence"),
    [
        (2, (), "a workload and its benchmark are wanted"),
        (3, ("microbench", "overlap", POINT), "pairs of ranks are needed"),
        (5000, ("microbench", "overlap", POINT), "the platform has 4096 hosts"),
        (2, ("microbench", "overlap"), "no point to simulate"),
        (2, ("microbench", "collective-overlap", "--point=collective=igossip"), "one of ireduce"),
        (2, ("minighost", "exchange", "--point=size_bytes=8,posting=later"), "one of receives-first"),
        (2, ("minife", "solve", "--point=mode=pipelined,barrier=true"), "no blocking reduction"),
        (28, ("minife", "solve", "--point=nx=2,ny=2,nz=2"), "28 ranks cannot share"),
        (2, ("pencil_fft", "transform", "--point=mode=sideways"), "one of blocking"),
        (2, ("pencil_fft", "transform", "--point=mode=fftw"), "start 1 rank instead of 2"),
        (2, ("microbench", "overlap", "--point=size_bytes=-8"), "size_bytes = -8: an integer from 0 to"),
        (2, ("microbench", "overlap", "--point=work_units=-5"), "work_units = -5: an integer from 0 to"),
        (2, ("microbench", "overlap", "--point=test_every=-1,work_units=9"), "test_every = -1: an integer from 0 to"),
        (2, ("microbench", "overlap", "--point=size_bytes=many"), 'size_bytes = "many": an integer from 0 to'),
        (2, ("microbench", "overlap", "--point=pattern=nobody"), "one of both, sender, receiver"),
        (2, ("microbench", "overlap", "--calibrate", "--size=-8"), "size_bytes = -8: an integer from 0 to"),
        (2, ("microbench", "overlap", POINT, "--settle-s=-1"), "--settle-s: Value -1 not in range"),
        (2, ("microbench", "overlap", POINT, "--inject-slowdown=-1"), "--inject-slowdown: Value -1 not in range"),
        (2, ("microbench", "collective-overlap", "--point=collective=ibcast,size_bytes=-8"), "size_bytes = -8: an"),
        (2, ("microbench", "collective-overlap", "--point=size_bytes=8"), "collective is missing"),
        (2, ("minighost", "exchange", "--point=size_bytes=-8"), "size_bytes = -8: an integer from 0 to"),
        (2, ("minighost", "exchange", "--point=posting=3"), "one of receives-first"),
        (2, ("progress-run", "--variant", "timer", "--set", "timer_us=x", "--", "microbench", "overlap"), "a number"),
    ],
)
def test_bad_input_is_a_sentence(simulator: Path, ranks: int, words: tuple[str, ...], sentence: str) -> None:
    done = _run(simulator, ranks, *words)
    assert (done.returncode, done.stdout) == (2, "")
    assert sentence in done.stderr
    assert done.stderr.count("\n") == 1


@pytest.mark.full
@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("<platform", "SimGrid cannot read it: Parse error"),
        (PLATFORM.replace('version="4.1"', 'version="1"'), "using an old XML file. Use"),
        (_changed("bw", "x"), "cannot parse number:x"),
        (_changed("radical", "0-99999999999999999999"), "SimGrid cannot read it"),
        (_changed("radical", "9-0"), "the platform has 0 hosts"),
        (_changed("bw", "0Bps"), "wants a bandwidth above 0"),
        (_changed("bw", "-1Bps"), "wants a bandwidth above 0"),
        (_changed("lat", "-1s"), "no negative latency"),
        (_zone("Full"), "no route from a0 to a1"),
        (_zone("Hollow"), "SimGrid gives this file up"),
    ],
)
def test_a_broken_platform_is_a_sentence(simulator: Path, tmp_path: Path, text: str, sentence: str) -> None:
    shutil.copytree(MODEL, tmp_path / "broken")
    (tmp_path / "broken" / model_folder.PLATFORM).write_text(text)
    done = _run(simulator, 2, "microbench", "overlap", POINT, folder=tmp_path / "broken")
    assert (done.returncode, done.stdout) == (2, "")
    *above, last = done.stderr.splitlines()
    assert sentence in last and last.startswith("simulate: --")
    assert len(above) == ("for the reason above" in last)


@pytest.mark.full
def test_hosts_whose_numbers_are_too_large_are_simulated(simulator: Path, tmp_path: Path) -> None:
    shutil.copytree(MODEL, tmp_path / "large")
    (tmp_path / "large" / model_folder.PLATFORM).write_text(_changed("prefix", f"node-{10**30}"))
    assert _lines(_run(simulator, 2, "microbench", "overlap", POINT, folder=tmp_path / "large"))


@pytest.mark.full
def test_a_message_that_moves_without_mpi_is_left_out(simulator: Path) -> None:
    (_, line, _) = _lines(_run(simulator, 2, "microbench", "overlap", f"{POINT},wake_us=100"))
    assert (line["status"], line["reason"][:8]) == ("skipped", "wake_us:")


@pytest.mark.parametrize(
    "path", sorted(model_folder.SHIPPED.glob("*/*.json")), ids=lambda path: f"{path.parent.name}-{path.stem}"
)
def test_a_model_that_comes_with_it_is_what_its_schema_says(path: Path, tmp_path: Path) -> None:
    content = json.loads(path.read_text())
    jsonschema.validate(content, json.loads((SCHEMA.parent / "model.schema.json").read_text()))
    assert model_file.read(path).mpi == path.stem
    (tmp_path / "before.json").write_text(json.dumps(content | {"shaper": {"burst_bytes": 0, "bytes_per_s": 0}}))
    with pytest.raises(UsageError, match=r"before\.json: shaper: no line here has a token bucket"):
        model_file.read(tmp_path / "before.json")
    del content["costs"]["wake_s"]
    (tmp_path / "wrong.json").write_text(json.dumps(content))
    with pytest.raises(UsageError, match=r"wrong\.json: costs\.wake_s is missing"):
        model_file.read(tmp_path / "wrong.json")


def test_the_models_that_come_with_it_have_the_rates_of_the_applications_sessions() -> None:
    kept = ROOT / "results" / "reference" / "model"
    found = rates(load([kept / name for name in ("fft-one-node", "fft-two-nodes", "minife")]))
    assert set(found) == RATES
    for path in sorted(MODEL.glob("*.json")):
        file = json.loads(path.read_text())["computation"]
        assert {name: file[name] for name in found} == {name: pytest.approx(one.entry()) for name, one in found.items()}
    assert set(rates(load([kept / "minife"]))) == {"streamed_s_per_byte"}


def test_a_model_is_found_by_name_or_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert model_folder.folder() == MODEL
    assert {"mpich", "openmpi", "intel-mpi"} <= set(model_folder.mpis(MODEL))
    assert model_folder.hosts(MODEL) == 4096
    of_mpis = {f"{mpi}.json" for mpi in model_folder.mpis(MODEL)}
    assert set(model_folder.files(MODEL)) == {model_folder.PLATFORM, *of_mpis}
    monkeypatch.setenv(model_folder.VARIABLE, str(tmp_path))
    with pytest.raises(UsageError, match=r"a folder with platform\.xml is wanted, or one of .*vcluster"):
        model_folder.folder()
