# SPDX-License-Identifier: BSD-3-Clause
"""microbench as the harness calls it: real launches, whose records are held against the schema."""

from __future__ import annotations

import json
import math
import signal
import statistics
import subprocess
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binom

from harness.tests.waiting import eventually

from .conftest import OVERLAP, Launcher, Result, assert_valid, full

pytestmark = pytest.mark.mpi

QUICK = ("--time-box-s=0.3", "--min-samples=6", "--max-samples=20")


def write(path: Path, value: Any) -> str:
    path.write_text(value if isinstance(value, str) else json.dumps(value))
    return str(path)


def median(line: dict[str, Any], quantity: str) -> float:
    samples: list[float] = line["samples"][quantity]
    return statistics.median(samples)


def test_overlap_record_obeys_the_schema(launcher: Launcher) -> None:
    points = [
        {"pattern": "both", "size_bytes": 65536, "comp_over_comm": 1.0, "work_units": 20},
        {"pattern": "sender", "size_bytes": 1, "comp_s": 1e-4, "work_units": 10},
        {"pattern": "receiver", "size_bytes": 4194304, "work_units": 10, "receive": "late", "work": "memory"},
        {"pattern": "both", "size_bytes": 0, "work_units": 0},
    ]
    context = {"session": "s", "launch": "l", "study": "overlap-ratio", "mpi": launcher.mpi.name, "order": 3}
    files = (
        f"--points={write(launcher.folder / 'points.json', points)}",
        f"--context={write(launcher.folder / 'context.json', context)}",
    )
    result = launcher.run(2, "overlap", *files, *QUICK, "--thread-level=funneled")
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    assert result.header["context"] == context
    assert result.header["world_size"] == 2
    assert set(result.header["quantities"]) == OVERLAP
    assert result.header["quantities"]["total_s"] == {"unit": "s", "better": "lower", "leading": True}
    assert result.header["thread_level"]["asked"] == "funneled"
    assert [rank["rank"] for rank in result.header["ranks"]] == [0, 1]
    assert [(line["point"], line["rank"]) for line in result.points] == [(p, r) for p in points for r in (0, 1)]
    assert [line["role"] for line in result.points] == ["sender", "receiver"] * len(points)
    for line in result.points:
        assert set(line["samples"]) == OVERLAP
        assert len({len(values) for values in line["samples"].values()}) == 1
    assert result.end["status"] == "ok"
    assert [rank["engine"] for rank in result.end["ranks"]] == [None, None]
    for rank, seen in zip(result.header["ranks"], result.end["ranks"], strict=True):
        assert set(seen["cpus_observed"]) <= set(rank["cpus_allowed"])
        assert "lo" in seen["interface_bytes"]
    assert [bool(rank.get("energy")) for rank in result.end["ranks"]] == [True, False], "of one machine once"


def test_calibration_record(mpich_first: Launcher) -> None:
    def larger_takes_longer() -> bool:
        result = mpich_first.run(2, "overlap", "--calibrate", "--size", "65536,4194304", *QUICK)
        assert (result.status, result.errors) == (0, "")
        assert_valid(result)
        expected = [{"calibration": "unit"}] + [{"calibration": "comm", "size_bytes": n} for n in (65536, 4194304)]
        assert [line["point"] for line in result.points[::2]] == expected
        assert all(min(line["samples"]["unit_s"]) > 0 for line in result.points[:2])
        small, large = (median(line, "comm_s") for line in result.points[2::2])
        return small < large

    assert eventually(larger_takes_longer), "on a busy machine not each time"


def test_each_pattern_computes_on_its_sides_only(mpich: Launcher) -> None:
    points = [{"pattern": pattern, "size_bytes": 8, "work_units": 50} for pattern in ("both", "sender", "receiver")]
    file = f"--points={write(mpich.folder / 'points.json', points)}"

    def as_much_beside_the_message_as_alone() -> bool:
        result = mpich.run(2, "overlap", file, *QUICK)
        computes = [median(line, "comp_s") > 0 for line in result.points]
        assert computes == [True, True, True, False, False, True]
        least = [{name: min(values) for name, values in line["samples"].items()} for line in result.points]
        # the sender's total is closed by the receiver, whoever of the two computes
        closed = all(
            sender["total_s"] > max(sender["comp_in_s"], receiver["comp_in_s"]) / 2
            for sender, receiver in zip(least[::2], least[1::2], strict=True)
        )
        return closed and all(one["comp_in_s"] == pytest.approx(one["comp_s"], rel=0.5) for one in least)

    assert eventually(as_much_beside_the_message_as_alone), "on a busy machine not each time"


def test_the_parts_make_up_the_whole(mpich: Launcher) -> None:
    result = mpich.run(2, "overlap", "--point=size_bytes=1048576,work_units=20", *QUICK)
    samples = result.points[0]["samples"]
    for post, comp, wait, total in zip(
        *(samples[name] for name in ("post_s", "comp_in_s", "wait_s", "total_s")), strict=True
    ):
        assert post + comp + wait <= total * 1.01


@pytest.mark.parametrize(
    ("benchmark", "point", "quantity", "factor"),
    [
        ("overlap", "size_bytes=8,work_units=200", "comp_s", 2),
        full("latency", "size_bytes=8,round_trips=500", "batch_median_s", 3),
    ],
)
def test_injected_slowdown_multiplies_the_work_and_each_round_trip(
    mpich: Launcher, benchmark: str, point: str, quantity: str, factor: int
) -> None:
    """By the least of all samples of some launches: what else the machine does can only add to it."""
    usual, slow = math.inf, math.inf

    def least(*more: str) -> float:
        samples: list[float] = mpich.run(2, benchmark, f"--point={point}", *QUICK, *more).points[0]["samples"][quantity]
        return min(samples)

    def comes_near() -> bool:
        nonlocal usual, slow
        usual, slow = min(usual, least()), min(slow, least(f"--inject-slowdown={factor}"))
        return slow / usual == pytest.approx(factor, rel=0.3)

    assert eventually(comes_near), slow / usual


def test_four_ranks_make_two_pairs(mpich: Launcher) -> None:
    result = mpich.run(4, "overlap", "--point=size_bytes=1000,work_units=5", *QUICK)
    assert result.status == 0
    assert_valid(result)
    assert [line["role"] for line in result.points] == ["sender", "sender", "receiver", "receiver"]


def test_sampler_converges_or_says_that_it_did_not(mpich: Launcher) -> None:
    point = "--point=size_bytes=8,work_units=100"
    few = mpich.run(2, "overlap", point, "--max-samples=4", "--min-samples=1", "--warmup=1").points[0]
    assert (len(few["samples"]["total_s"]), few["converged"], few["warmup"]) == (4, False, 1)
    options = ("--relative-width=1", "--min-samples=6", "--max-samples=60", "--time-box-s=10", "--warmup=0")
    loose = mpich.run(2, "overlap", point, *options).points[0]
    samples = loose["samples"]["total_s"]
    # However busy the machine is: it stopped at the first sample that made the interval narrow enough.
    enough = next((n for n in range(6, 61) if relative_width(samples[:n]) <= 1), 60)
    assert (len(samples), loose["warmup"]) == (enough, 0)
    assert loose["converged"] == (relative_width(samples) <= 1)


def relative_width(samples: list[float]) -> float:
    """Of the 95 % interval of the median, from SciPy's binomial law: independent of what is tested."""
    beyond = max(k for k in range(len(samples)) if binom.cdf(k, len(samples), 0.5) <= 0.025)
    ordered = sorted(samples)
    return (ordered[-1 - beyond] - ordered[beyond]) / statistics.median(samples)


@pytest.mark.full
@pytest.mark.timeout(400)
def test_many_samples_become_a_histogram(mpich: Launcher) -> None:
    count = 20_001
    options = (f"--max-samples={count}", f"--min-samples={count}", "--time-box-s=240")
    result = mpich.within(300).run(2, "overlap", "--point=size_bytes=1,work_units=0", *options)
    assert_valid(result)
    assert result.points[0]["samples"] == {}
    histogram = result.points[0]["histograms"]["total_s"]
    assert histogram["count"] == sum(histogram["counts"]) == count
    assert histogram["min"] <= histogram["quantiles"]["0.5"] <= histogram["max"]


def test_without_output_the_record_is_on_stdout(mpich: Launcher) -> None:
    command = mpich.command(2, "overlap", "--point=size_bytes=1,work_units=1", *QUICK)
    ended = subprocess.run(command, env=mpich.environment(), capture_output=True, text=True, timeout=120, check=True)
    lines = [json.loads(line) for line in ended.stdout.splitlines()]
    assert [next(iter(line)) for line in lines] == ["header", "point", "point", "end"]


def test_each_process_tells_what_it_has_of_the_variables_that_were_set(mpich_first: Launcher) -> None:
    context = write(mpich_first.folder / "context.json", {"mpi_environment": {"LARGER": "1", "NEVER_SET": "x"}})
    arguments = (2, "overlap", "--point=size_bytes=1,work_units=1", f"--context={context}", *QUICK)
    result = mpich_first.run(*arguments, LARGER="two words")
    assert_valid(result)
    seen = {"LARGER": "two words", "NEVER_SET": None}
    assert [rank["environment"] for rank in result.header["ranks"]] == [seen, seen]


def test_engine_report_is_copied(mpich_first: Launcher) -> None:
    report = {"version": "9", "preset": "adaptive", "polls": 12}
    arguments = (2, "overlap", "--point=size_bytes=1,work_units=1", *QUICK)
    result = mpich_first.run(*arguments, preload="engine_report", ENGINE_REPORT=json.dumps(report))
    assert [rank["engine"] for rank in result.end["ranks"]] == [report, report]
    result = mpich_first.run(*arguments, preload="engine_report", ENGINE_REPORT="{nonsense")
    assert_valid(result)
    assert result.end["ranks"][0]["engine"] == {"malformed_report": "{nonsense"}


def test_wrong_payload_fails_the_point_and_the_next_one_is_measured(mpich_first: Launcher) -> None:
    points = [{"size_bytes": 5000, "work_units": 1}, {"size_bytes": 100, "work_units": 1}]
    file = f"--points={write(mpich_first.folder / 'points.json', points)}"
    result = mpich_first.run(2, "overlap", file, *QUICK, preload="wrong_message", WRONG_MESSAGE_AFTER="3")
    assert result.status == 1
    assert_valid(result)
    reason = "rank 1: the message of 5000 bytes is wrong at byte 4992 or just behind"
    failed, *others = result.points
    assert (failed["point"], failed["status"], failed["reason"]) == (points[0], "failed", reason)
    assert failed["samples"] == {}
    assert [line["status"] for line in others] == ["ok", "ok"]
    assert (result.end["status"], result.end["reason"]) == ("failed", "1 of 2 points")
    assert f'point {{"size_bytes":5000,"work_units":1}} failed: {reason}' in result.errors


FUNNELED = "--thread-level=funneled"


def test_a_message_moves_over_tcp_without_mpi(mpich_first: Launcher) -> None:
    points = [
        {"pattern": pattern, "size_bytes": size, "work_units": 20, "wake_us": wake, "receive": receive}
        for pattern, size, wake, receive in (
            ("both", 4194304, 200, "preposted"),
            ("receiver", 65536, 1000, "late"),
            ("sender", 1, 100, "preposted"),
        )
    ]
    file = f"--points={write(mpich_first.folder / 'points.json', points)}"
    result = mpich_first.run(4, "overlap", file, *QUICK, FUNNELED, preload="no_message")
    assert (result.status, result.errors) == (0, "")
    assert_valid(result)
    assert [line["point"] for line in result.points[::4]] == points
    assert all(set(line["samples"]) == OVERLAP for line in result.points)
    assert [rank["engine"] for rank in result.end["ranks"]] == 4 * [None]


def test_a_wrong_payload_of_tcp_fails_the_point(mpich: Launcher) -> None:
    point = "--point=size_bytes=5000,work_units=1,wake_us=100"
    result = mpich.run(2, "overlap", point, *QUICK, FUNNELED, preload="wrong_stream", WRONG_STREAM_AFTER="3")
    assert result.status == 1
    assert "rank 1: the message of 5000 bytes is wrong at byte" in result.points[0]["reason"]


POINT = {"size_bytes": 8, "work_units": 1}
MISTAKES: dict[str, tuple[list[Any], str]] = {
    "no point": ([], "no point to measure"),
    "points are not JSON": (["--points=FILE", "[{"], "FILE: not JSON (line 1)"),
    "no file": (["--points=FILE"], "FILE: cannot be read: No such file or directory"),
    "a folder": (["--points=/tmp"], "--points /tmp: cannot be read: Is a directory"),
    "negative size": (["--points=FILE", [{**POINT, "size_bytes": -1}]], "point 1: size_bytes = -1: an integer from 0"),
    "second point": (["--points=FILE", [POINT, {**POINT, "pattern": "all"}]], 'point 2: pattern = "all": one of both'),
    "output": (["--point=size_bytes=8,work_units=1", "--output=/nonexistent/r"], "/nonexistent/r: cannot be written"),
    "option": (["--nonsense"], "--nonsense"),
    "value": (["--max-samples=-3"], "--max-samples"),
    "no threads": (["--point=size_bytes=8,work_units=1,wake_us=9"], "give --thread-level funneled"),
    "nothing to move": (["--point=size_bytes=0,work_units=1,wake_us=9"], "has nothing that TCP could move"),
    "nothing to test": (["--point=size_bytes=8,work_units=1,wake_us=9,test_every=1"], "leave test_every at 0"),
    "level": (["--thread-level=all"], "all not in {single,funneled,serialized,multiple}"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_mistakes_are_one_sentence_and_status_2(mpich: Launcher, mistake: str) -> None:
    arguments, sentence = MISTAKES[mistake]
    path = mpich.folder / "input.json"
    options = [str(argument) for argument in arguments if isinstance(argument, str) and argument.startswith("--")]
    for content in arguments[len(options) :]:
        write(path, content)
    result = mpich.run(2, "overlap", *(option.replace("FILE", str(path)) for option in options))
    assert result.status == 2
    assert sentence.replace("FILE", str(path)) in result.errors
    assert len(result.errors.splitlines()) == 1, result.errors
    assert result.lines == []


@pytest.mark.parametrize("ranks", [full(1), 2, 3])
def test_usage_on_every_mpi(launcher: Launcher, ranks: int) -> None:
    """The status of all ranks reaches the shell, and the sentence comes once; launchers add words of their own."""
    result = launcher.run(ranks, "overlap", "--point=size_bytes=8,work_units=" + ("1" if ranks != 2 else "x"))
    assert result.status == 2
    assert result.errors.count("microbench: ") == 1
    assert ("pairs of ranks are needed" if ranks != 2 else "work_units") in result.errors


def test_full_disk_is_one_sentence_and_status_1(mpich_first: Launcher) -> None:
    result = mpich_first.run(2, "overlap", "--point=size_bytes=8,work_units=1", "--output=/dev/full")
    assert result.status == 1
    assert "/dev/full: a record line could not be written: No space left on device" in result.errors
    assert result.errors.count("microbench: ") == 1


LATER = [{"size_bytes": size, "work_units": 10} for size in range(9, 19)]  # seconds: a launcher may take its time


def told_to_stop(launcher: Launcher) -> Result:
    """What is left of a launch that gets SIGTERM when its first point has ended."""
    output = launcher.folder / "record.jsonl"
    output.unlink(missing_ok=True)
    points = write(launcher.folder / "points.json", [POINT, *LATER])
    endless = ("--time-box-s=1", "--relative-width=0", "--max-samples=1000000")
    command = launcher.command(2, "overlap", f"--points={points}", f"--output={output}", *endless)
    with subprocess.Popen(command, env=launcher.environment(), stderr=subprocess.DEVNULL) as process:
        assert eventually(lambda: output.exists() and output.read_text().count("\n") >= 3)
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) != 0
    return Result(process.returncode, "", [json.loads(line) for line in output.read_text().splitlines()])


def test_sigterm_keeps_what_is_finished(mpich_first: Launcher) -> None:
    """Open MPI's launcher leaves its ranks a second, which on a busy machine is too short for the last line now and
    then; what is finished is there every time."""
    for _ in range(10):
        result = told_to_stop(mpich_first)
        assert_valid(result)
        assert 2 <= len(result.points) < 2 * (1 + len(LATER))
        assert {line["status"] for line in result.points} == {"ok"}
        for rank in result.header["ranks"]:
            assert eventually(partial(gone, rank["pid"]))
        if "end" in result.lines[-1]:
            break
    assert result.end["status"] == "interrupted"


def gone(pid: int) -> bool:
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return True


def test_lists_need_no_mpi(mpich: Launcher) -> None:
    program = mpich.build / "bin" / "microbench"

    def output(*arguments: str) -> str:
        return subprocess.run([program, *arguments], capture_output=True, text=True, timeout=120, check=True).stdout

    assert output("--list").startswith("overlap ")
    assert "--relative-width" in output("overlap", "--help")
    tables = json.loads(output("overlap", "--list-parameters"))
    parameters = {parameter["name"]: parameter for parameter in tables["parameters"]}
    names = {"pattern", "size_bytes", "work_units", "work", "compute", "test_every", "receive", "wake_us"}
    assert set(parameters) == names
    assert parameters["pattern"]["default"] == "both"
    assert parameters["size_bytes"]["unit"] == "bytes"
    assert tables["quantities"][0] == {"name": "total_s", "unit": "s", "better": "lower", "leading": True}
    assert {quantity["name"] for quantity in tables["quantities"]} == OVERLAP
