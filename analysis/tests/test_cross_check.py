# SPDX-License-Identifier: BSD-3-Clause
"""Other tools' numbers beside ours, on made-up records of a session that has both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analysis.cross_check import document, main
from analysis.evidence import Evidence
from analysis.metrics.evaluate import NOT_THE_SAME_WORK
from analysis.other_tools.agreement import Comparison
from analysis.records.load import load
from analysis.studies.cross_check import comparisons
from analysis.subject import draw_all
from analysis.tests.synthetic import empty_session, write_launch

LAUNCHES, MB = 6, 1 << 20
Measured = float | tuple[float, ...]  # on all ranks, or on each
COMM, COMP = 0.01, 0.01
# A progress thread of the MPI's own takes the core that computes: the computation beside it takes twice as long, and
# the communication is over when it ends.
STOLEN = {"bare": (1.9, 0.02), "mpi-async": (2.0, 0.02)}

# Study, variant and point of each tool's reduction of 1 MB.
IREDUCE: dict[str, tuple[str, str, dict[str, Any]]] = {
    "osu": ("cross-check-osu-ireduce", "bare", {"size_bytes": MB}),
    "imb": ("cross-check-imb-nonblocking-collectives", "bare", {"benchmark": "Ireduce", "size_bytes": MB}),
}


class Session:
    """A session that is written launch by launch, with little noise."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.rng = np.random.default_rng(1)
        empty_session(folder, system="vcluster")

    def add(
        self,
        study: str,
        variant: str,
        point: dict[str, Any],
        samples: Mapping[str, Measured],
        ranks: int = 1,
        launches: int = LAUNCHES,
    ) -> None:
        """Launches of a study that measure the same but for noise; of several values each rank has one."""
        self.add_all(study, variant, [(point, samples)], ranks, launches)

    def add_all(
        self,
        study: str,
        variant: str,
        measured: Sequence[tuple[dict[str, Any], Mapping[str, Measured]]],
        ranks: int = 1,
        launches: int = LAUNCHES,
        noise: float = 0.001,
        failed: int = 0,
        fields: dict[str, Any] | None = None,
    ) -> None:
        """Launches that measure several points each; the noise is a launch's. The first `failed` have no samples;
        `fields`: more of each point's line."""
        for repetition in range(launches):
            launch = f"{study}.{variant}.{repetition}.{len(list((self.folder / 'records').iterdir()))}"
            more = {"session": self.folder.name, "repetition": repetition, "order": repetition}
            shift = 1 + noise * self.rng.normal()
            bad = {"status": "failed", "reason": "it ran out of memory", "samples": {}}
            lines = [
                {"point": point, "rank": rank, "status": "ok",
                 "samples": {name: [of_rank(value, rank) * shift * (1 + 0.001 * self.rng.normal())] * 5
                             for name, value in samples.items()}}
                | (fields or {}) | (bad if repetition < failed else {})
                for point, samples in measured
                for rank in range(ranks)
            ]  # fmt: skip
            write_launch(self.folder, study, variant, launch, lines, context=more)

    def evidence(self) -> Evidence:
        return Evidence(load([self.folder]))


def of_rank(value: Measured, rank: int) -> float:
    return value[rank] if isinstance(value, tuple) else value


def of(found: list[Comparison], what: str, variant: str = "bare") -> Comparison:
    (one,) = [one for one in found if one.what == what and one.variant == variant]
    return one


@pytest.fixture
def session(tmp_path: Path) -> Session:
    made = Session(tmp_path / "s")
    for size, latency in ((1024, 50e-6), (MB, 9e-3)):
        made.add("cross-check-latency", "bare", {"size_bytes": size}, {"latency_s": latency})
    their_point = {"benchmark": "PingPong", "size_bytes": 1024}
    made.add("cross-check-imb-point-to-point", "bare", their_point, {"latency_s": 51e-6, "bytes_per_s": 1024 / 51e-6})
    made.add("cross-check-osu-latency", "bare", {"size_bytes": MB}, {"latency_s": 12e-3})
    made.add("cross-check-osu-bw", "bare", {"size_bytes": MB}, {"bytes_per_s": 115e6})
    point = {"collective": "ibcast", "size_bytes": MB, "comp_over_comm": 1.0, "work_units": 10}
    for variant, (inflation, total) in STOLEN.items():
        samples = {"comm_s": COMM, "comp_s": COMP, "comp_in_s": inflation * COMP, "total_s": total, "ack_s": 0.0}
        made.add("cross-check-collectives", variant, point, samples, ranks=2)
    theirs = {"overall_s": 0.02, "compute_s": 0.02, "pure_s": COMM, "overlap": 1.0}
    made.add("cross-check-osu-ibcast", "mpi-async", {"size_bytes": MB}, theirs)
    return made


def test_times_agree_within_five_percent_or_do_not(session: Session) -> None:
    found = comparisons(session.evidence())
    assert of(found, "latency, 1 KB").verdict == "agrees"
    assert of(found, "latency, 1 KB").of_same.value == pytest.approx(1.02, abs=0.01)
    assert of(found, "bandwidth, 1 KB").verdict == "agrees"
    assert of(found, "latency, 1 MB").verdict == "differs"
    window = of(found, "bandwidth, 1 MB")
    assert window.verdict == "not the same quantity"
    assert window.remark.startswith("theirs has a window of 64 messages under way, ours one; its rate is 0.99 [")
    assert of(found, "alone: ibcast, 1 MB", "mpi-async").verdict == "agrees"


def test_their_overlap_of_a_thread_that_steals_cycles_is_explained_by_numbers(session: Session) -> None:
    found = of(comparisons(session.evidence()), "overlap: ibcast, 1 MB", "mpi-async")
    assert found.theirs.value == pytest.approx(100, abs=0.5)
    assert found.same.value == pytest.approx(100, abs=0.5), "their formula on our samples"
    assert found.ours.value == pytest.approx(0, abs=0.01), "nothing is gained over one after the other"
    assert found.verdict == "agrees", "the difference is one of definition"
    assert found.remark.startswith("the computation takes 2.00 ["), "of that bare needs"


@pytest.mark.parametrize(("tool", "pure"), [("osu", 0.006), ("imb", 0.01)])
def test_a_root_that_is_done_early_counts_as_the_tool_counts_it(tmp_path: Path, tool: str, pure: float) -> None:
    """OSU prints the mean over ranks of when a rank's own part is done, IMB the last; ours closes with a barrier."""
    made = Session(tmp_path / "s")
    ours = {"collective": "ireduce", "size_bytes": MB, "comp_over_comm": 1.0, "work_units": 10}
    times = {"comm_s": COMM + 0.001, "comp_s": COMP, "comp_in_s": COMP, "total_s": COMM + COMP, "ack_s": 0.001}
    own: dict[str, Measured] = {"own_comm_s": (COMM, 0.002), "post_s": 0.0, "wait_s": (COMM, 0.002)}
    made.add("cross-check-collectives", "bare", ours, {**times, **own}, ranks=2)
    made.add(*IREDUCE[tool], {"overall_s": COMM + COMP, "compute_s": COMP, "pure_s": pure, "overlap": 0.0})
    alone = of(comparisons(made.evidence()), "alone: ireduce, 1 MB")
    assert alone.same.value == pytest.approx(pure, rel=0.01)
    assert alone.verdict == "agrees"
    assert alone.ours.value == pytest.approx(COMM, rel=0.01), "until the last rank is done, without the barrier itself"


def test_collectives_that_follow_one_another_are_compared_with_those_that_do(tmp_path: Path) -> None:
    """Theirs find the network's bucket empty, and so do ours without a pause; our own number is the usual one."""
    made = Session(tmp_path / "s")
    for before, slower in ((0, 1), (4, 3)):
        point = {"collective": "ibcast", "size_bytes": MB, "comp_over_comm": 1.0, "work_units": 10}
        comm, total = slower * COMM, (slower + 1) * COMM
        times = {"comm_s": comm, "comp_s": comm, "comp_in_s": comm, "total_s": total, "ack_s": 0.0, "own_comm_s": comm}
        made.add("cross-check-collectives", "bare", {**point, "back_to_back": before}, times, ranks=2)
    theirs = {"overall_s": 0.04, "compute_s": 3 * COMM, "pure_s": 3 * COMM, "overlap": 2 / 3}
    made.add("cross-check-osu-ibcast", "bare", {"size_bytes": MB}, theirs)
    found = comparisons(made.evidence())
    alone, overlap = of(found, "alone: ibcast, 1 MB"), of(found, "overlap: ibcast, 1 MB")
    assert (alone.verdict, overlap.verdict) == ("agrees", "agrees")
    assert alone.ours.value == pytest.approx(COMM, rel=0.01)
    assert alone.same.value == pytest.approx(3 * COMM, rel=0.01)
    assert overlap.ours.value == pytest.approx(0, abs=0.01)
    assert overlap.same.value == pytest.approx(100 * 2 / 3, abs=1)


@pytest.mark.parametrize(("tool", "overlap"), [("osu", 0.75), ("imb", 0.9)])
def test_their_overlap_is_that_of_ranks_that_compute_for_their_own_part(
    tmp_path: Path, tool: str, overlap: float
) -> None:
    """The root hides 9 of 10 ms, the other rank 0 of 2: OSU has the means of both, IMB the rank that takes longest."""
    made = Session(tmp_path / "s")
    ours = {"collective": "ireduce", "size_bytes": MB, "comp_over_comm": 1.0, "work_units": 10}
    usual = {"comm_s": COMM, "comp_s": COMP, "comp_in_s": COMP, "total_s": COMM + COMP, "ack_s": 0.0}
    of_both: Measured = (COMM, 0.002)
    own = {"own_comm_s": of_both, "comp_s": of_both, "comp_in_s": of_both, "post_s": 0.0, "wait_s": (0.001, 0.002)}
    for how, times in (
        ({"back_to_back": 0, "computes_for": "work_units"}, usual),
        ({"back_to_back": 4, "computes_for": "own_part"}, {**usual, **own}),
    ):
        made.add("cross-check-collectives", "bare", {**ours, **how}, times, ranks=2)
    theirs = {"overall_s": 0.0, "compute_s": COMP, "pure_s": 0.006, "overlap": overlap}
    made.add(*IREDUCE[tool], theirs)
    evidence = made.evidence()
    found = of(comparisons(evidence), "overlap: ireduce, 1 MB")
    assert found.same.value == pytest.approx(100 * overlap, abs=1)
    assert found.verdict == "agrees"
    assert found.ours.value == pytest.approx(0, abs=0.01), "of the usual point"
    metrics = evidence.metrics
    own_part = metrics[metrics["computes_for"] == "own_part"]
    assert own_part["value"].isna().all()
    assert set(own_part["note"]) == {NOT_THE_SAME_WORK}


def test_imbs_overlap_is_compared_with_what_imb_prints(session: Session) -> None:
    """The same machine as OSU's: IMB divides by the larger of the two times, and so prints half."""
    overall, pure, compute = 0.02, COMM, 0.02
    printed = (pure + compute - overall) / max(pure, compute)
    theirs = {"overall_s": overall, "pure_s": pure, "compute_s": compute, "overlap": printed}
    name = "cross-check-imb-nonblocking-collectives"
    session.add(name, "mpi-async", {"benchmark": "Ibcast", "size_bytes": MB}, theirs)
    found = [one for one in comparisons(session.evidence()) if one.study == name]
    overlap = of(found, "overlap: ibcast, 1 MB", "mpi-async")
    assert overlap.theirs.value == pytest.approx(50, abs=0.5)
    assert overlap.same.value == pytest.approx(50, abs=0.5), "their formula on our samples"
    assert overlap.verdict == "agrees"


def with_overheads(folder: Path, exposed: float = 0.001, compute: float = 0.021) -> Session:
    """A message of 10 ms beside 20 ms of computation: all of it is exposed under bare, a tenth under adaptive, where
    the computation takes 1 ms longer; IMB-ASYNC says of adaptive what is given here."""
    made = Session(folder / "s")
    ours = {"pattern": "both", "size_bytes": MB, "comp_over_comm": 2.0, "work_units": 10}
    theirs = {"benchmark": "pt2pt", "size_bytes": MB}
    for variant, wait, inside, told in (
        ("bare", COMM, 2 * COMP, {"exposed_s": COMM, "compute_s": 2 * COMP}),
        ("adaptive", 0.001, 0.021, {"exposed_s": exposed, "compute_s": compute}),
    ):
        times = {"comm_s": COMM, "comp_s": 2 * COMP, "comp_in_s": inside, "post_s": 0.0, "wait_s": wait,
                 "total_s": inside + wait, "ack_s": 0.0}  # fmt: skip
        made.add("cross-check-beside-pt2pt", variant, ours, times, ranks=2)
        overall = {"overall_s": told["exposed_s"] + told["compute_s"], "pure_s": 0.9 * COMM}
        made.add("cross-check-imb-async", variant, theirs, told | overall)
    return made


def test_what_imb_async_says_of_both_overheads_stands_beside_ours(tmp_path: Path) -> None:
    evidence = with_overheads(tmp_path).evidence()
    found = comparisons(evidence)
    left = {name: of(found, "exposed: pt2pt, 1 MB", name) for name in ("bare", "adaptive")}
    slower = of(found, "slowdown: pt2pt, 1 MB", "adaptive")
    for one, percent in ((left["bare"], 100), (left["adaptive"], 10), (slower, 10)):
        assert one.theirs.value == pytest.approx(percent, abs=1), one.what
        assert one.same.value == pytest.approx(percent, abs=1), "their formula on our samples"
        assert one.verdict == "agrees"
    assert left["adaptive"].ours.value == pytest.approx(0.9, abs=0.01), "hidden"
    assert slower.ours.value == pytest.approx(1.05, abs=0.01), "inflation"
    assert of(found, "alone: pt2pt, 1 MB").verdict == "not the same quantity", "theirs blocks"
    assert "adaptive | exposed: pt2pt, 1 MB | hidden 0.90" in document(evidence)
    figures = {drawn.name: drawn for drawn in draw_all(evidence, "")}
    drawn = figures["cross_check_overheads"]
    assert set(drawn.points["label"]) == {f"IMB-ASYNC: {what}: pt2pt, 1 MB" for what in ("exposed", "slowdown")}
    assert set(figures["cross_check"].points["label"]) == {"IMB-ASYNC: alone: pt2pt, 1 MB (not the same quantity)"}, (
        "shares are no ratios"
    )


@pytest.mark.parametrize(
    ("exposed", "compute", "what", "said"),
    [
        (0.003, 0.021, "exposed", "differs"),
        (0.001, 0.024, "slowdown", "differs"),
        (0.001, 0.012, "exposed", "cannot tell, the computation takes in theirs 1.20 times as long as the "
         "communication, ours 2.00 times: 1.5 are needed"),
    ],
)  # fmt: skip
def test_overheads_that_differ_or_are_beside_too_little(
    tmp_path: Path, exposed: float, compute: float, what: str, said: str
) -> None:
    found = comparisons(with_overheads(tmp_path, exposed, compute).evidence())
    assert of(found, f"{what}: pt2pt, 1 MB", "adaptive").said() == said


def test_an_overhead_without_a_second_side_is_named(tmp_path: Path) -> None:
    made = with_overheads(tmp_path)
    theirs = {"overall_s": 0.03, "exposed_s": COMM, "compute_s": 2 * COMP, "pure_s": COMM}
    made.add("cross-check-imb-async", "bare", {"benchmark": "na2a", "size_bytes": MB}, theirs)
    ours = {"collective": "iallreduce", "size_bytes": MB, "comp_over_comm": 2.0, "work_units": 10}
    made.add("cross-check-beside-allreduce", "bare", ours, {"comm_s": COMM, "comp_s": 2 * COMP, "total_s": 3 * COMP})
    for file in (made.folder / "records").glob("cross-check-imb-async.bare.*"):
        if '"pt2pt"' in file.read_text():
            file.unlink()
    text = document(made.evidence()).partition("Not compared:")[2]
    for line in (
        "bare, cross-check-imb-async: na2a, 1 MB: ours has nothing of it in this setting",
        "adaptive, cross-check-imb-async: slowdown: pt2pt, 1 MB: bare, with which it is compared: theirs has nothing",
        "bare, cross-check-beside-allreduce: allreduce, 1 MB: no other tool was asked for it",
    ):
        assert line in text


def test_the_table_and_the_figure_say_whose_numbers_they_are(
    session: Session, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [line for line in document(session.evidence()).splitlines() if line.startswith("| s |")]
    assert len(rows) == 6
    assert any("cross-check-osu-ibcast | MPICH | mpi-async | overlap: ibcast, 1 MB | efficiency" in row for row in rows)
    (drawn,) = [drawn for drawn in draw_all(session.evidence(), "") if drawn.name == "cross_check"]
    assert {"session", "system", "study", "verdict"} <= set(drawn.points.columns)
    assert len(drawn.points) == 5
    assert "they say 100 %, our efficiency is" in drawn.found
    assert main([str(session.folder)]) == 0
    assert "| s | s | cross-check-imb-point-to-point |" in capsys.readouterr().out


def test_a_session_that_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        main([str(tmp_path / "nothing")])
    assert capsys.readouterr().err.startswith(f"cross_check: {tmp_path / 'nothing'}: no such session")


def test_too_few_launches_decide_nothing(tmp_path: Path) -> None:
    made = Session(tmp_path / "s")
    for study, latency in (("latency", 50e-6), ("osu-latency", 90e-6)):
        made.add(f"cross-check-{study}", "bare", {"size_bytes": 1024}, {"latency_s": latency}, launches=2)
    (found,) = comparisons(made.evidence())
    assert found.of_same.value == pytest.approx(1.8, abs=0.01)
    assert found.verdict == "cannot tell"
    assert "cannot tell, too few launches" in document(made.evidence())


def test_a_disturbed_machine_decides_nothing(tmp_path: Path) -> None:
    made = Session(tmp_path / "s")
    mine = [({"size_bytes": 1024}, {"latency_s": 50e-6})]
    made.add_all("cross-check-latency", "bare", mine, fields={"noise": {"steal_s": 25e-6}})
    made.add("cross-check-osu-latency", "bare", {"size_bytes": 1024}, {"latency_s": 50e-6})
    (found,) = comparisons(made.evidence())
    assert found.of_same.defensible
    assert found.verdict == "cannot tell"
    why = "cannot tell, the machine was disturbed: something else took 10 % of the measured time"
    assert why in document(made.evidence())


def test_an_overlap_beside_a_computation_of_another_length_decides_nothing(tmp_path: Path) -> None:
    made = Session(tmp_path / "s")
    point = {"collective": "ibcast", "size_bytes": MB, "comp_over_comm": 1.0, "work_units": 10}
    samples = {"comm_s": COMM, "comp_s": 1.2 * COMM, "comp_in_s": 1.2 * COMM, "total_s": 1.2 * COMM, "ack_s": 0.0}
    made.add("cross-check-collectives", "bare", point, samples, ranks=2)
    theirs = {"overall_s": COMM, "compute_s": COMM, "pure_s": COMM, "overlap": 1.0}
    made.add("cross-check-osu-ibcast", "bare", {"size_bytes": MB}, theirs)
    found = of(comparisons(made.evidence()), "overlap: ibcast, 1 MB")
    assert found.verdict == "cannot tell"
    assert found.unsure == "our computation takes 1.20 times as long as the communication, theirs as long"


def test_what_has_no_second_side_is_named_with_the_reason(tmp_path: Path) -> None:
    made = Session(tmp_path / "s")
    for size in (1024, 65536, MB):
        made.add("cross-check-latency", "bare", {"size_bytes": size}, {"latency_s": 50e-6})
    good = {"latency_s": 50e-6}
    made.add_all("cross-check-osu-latency", "bare", [({"size_bytes": 1024}, good)], failed=2, launches=8)
    made.add_all("cross-check-osu-latency", "bare", [({"size_bytes": MB}, good)], failed=LAUNCHES)
    made.add_all("cross-check-osu-bw", "bare", [({"size_bytes": MB}, {"bytes_per_s": 1e8})],
                 fields={"status": "skipped", "reason": "not found, install it", "samples": {}})  # fmt: skip
    theirs = {"overall_s": 0.02, "compute_s": 0.02, "pure_s": COMM, "overlap": 1.0}
    imb = "cross-check-imb-nonblocking-collectives"
    made.add(imb, "bare", {"benchmark": "Ialltoallv", "size_bytes": 1024}, theirs)
    text = document(made.evidence())
    (found,) = comparisons(made.evidence())
    assert found.remark == "theirs: 2 of 8 launches left out, failed: it ran out of memory"
    head = "- s, s, MPICH, bare, cross-check-"
    assert {line for line in text.partition("Not compared:")[2].splitlines() if line.startswith(head)} == {
        f"{head}osu-latency: latency, 1 MB: theirs: failed: it ran out of memory",
        f"{head}osu-bw: bw, 1 MB: theirs: skipped: not found, install it",
        f"{head}imb-nonblocking-collectives: ialltoallv, 1 KB: nothing of ours measured it in this setting",
        f"{head}latency: latency, 64 KB: no other tool was asked for it",
    }
    (drawn,) = [drawn for drawn in draw_all(made.evidence(), "") if drawn.name == "cross_check"]
    assert "4 more could not be compared" in drawn.found


def test_one_side_alone_is_no_comparison(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made = Session(tmp_path / "s")
    made.add("cross-check-latency", "bare", {"size_bytes": 1024}, {"latency_s": 50e-6})
    assert main([str(made.folder)]) == 1
    assert "./bench run cross-check measures them" in capsys.readouterr().out
