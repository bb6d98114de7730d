# SPDX-License-Identifier: BSD-3-Clause
"""What is said of programs, on made-up records: of a user's own, of SPEC's (R4), whose own runs are estimates, and of
the serial kernels against the machine's roofline and beside the codes that they repeat."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from analysis.claims.table import table
from analysis.evidence import Evidence
from analysis.records.load import load
from analysis.report.report import build_report
from analysis.statistics.interval import Interval
from analysis.studies.program import _word, document, told, unusable
from analysis.studies.roofline import shares
from analysis.studies.ruhela import COUNTERPARTS, BestPreset
from analysis.studies.serial import AS_FAST, SLOWER, UNKNOWN, Pair, pairs
from analysis.subject import draw_all
from analysis.tables import Cell, Harm
from analysis.tests.synthetic import empty_session, end, write_launch
from analysis.tests.test_claims import study_session
from analysis.tests.test_compare import timed_out
from analysis.tests.test_cross_check import Session

TIMES = (10.0, 10.02, 9.99, 10.01, 9.98, 10.03)


def session(
    folder: Path,
    ratio: float,
    pending_s: float | None,
    spread: float = 0.0,
    printed: bool = False,
    reasons: dict[str, str] | None = None,
    others: Sequence[str] = (),
    status: str = "failed",
    busy: float = 0.0,
    turns: float = 1.0,
    windows: bool = False,
) -> Evidence:
    """Six launches of bare and adaptive, which takes `ratio` of the time, as `others` do; `reasons`: why a variant's
    failed; `turns`: what an operation takes with the engine on, over off."""
    empty_session(folder)
    quantity = "printed_time" if printed else "whole_s"
    quantities = {quantity: {"unit": "s", "better": "lower", "leading": True}}
    for repetition, seconds in enumerate(TIMES):
        factors = dict.fromkeys(("adaptive", *others), ratio + spread * (-1) ** repetition)
        for variant, factor in {"bare": 1.0, **factors}.items():
            line: dict[str, Any] = {"point": {}, "samples": {quantity: [seconds * factor]}}
            line["noise"] = {"watched_s": 0.2, "others_s": 0.2 * busy}
            last = end(variant)
            last["end"]["elapsed_s"] = 10.0
            for rank in last["end"]["ranks"]:
                verdict = {"armed_phases": 9, "armed_s": 1e-3 * (turns + repetition * 1e-3), "disarmed_s": 1e-3}
                more = {"pending_while_computing_s": pending_s, "verdict": verdict, "windows": windows}
                rank["engine"] = rank["engine"] and rank["engine"] | more
            if reason := (reasons or {}).get(variant):
                line |= {"status": status, "reason": reason, "samples": {}}
                last["end"] |= {"status": status, "reason": reason}
            about: dict[str, Any] = {"workload": {"name": "app", "version": None}, "quantities": quantities}
            write_launch(folder, "own-program", variant, f"own.{repetition}.{variant}", [line, last], **about)
    return Evidence(load([folder]))


def said(evidence: Evidence) -> str:
    return next(line for line in document(evidence).splitlines() if line.startswith("adaptive"))


@pytest.mark.parametrize(
    ("ratio", "pending_s", "spread", "words"),
    [
        (0.8, 2.5, 0.0, "adaptive helps (8 s instead of 10 s, 20 % shorter ("),
        (1.1, 0.0, 0.0, "adaptive costs (11 s instead of 10 s, 10 % longer ("),
        (1.0, 0.05, 0.0, "adaptive has nothing to do here: leave it off ("),
        (1.0, 2.5, 0.0, "adaptive makes no difference: leave it off ("),
        (0.994, 0.0, 0.0, "adaptive has nothing to do here: leave it off ("),
        (1.012, 2.5, 0.0, "adaptive makes no difference: leave it off ("),
        (0.988, 2.5, 0.0, "adaptive makes no difference: leave it off ("),
        (1.0, 2.5, 0.3, "adaptive may help or cost: more launches can tell ("),
        (1.0, None, 0.3, "adaptive may help or cost: more launches can tell ("),
    ],
)
def test_the_verdict(tmp_path: Path, ratio: float, pending_s: float | None, spread: float, words: str) -> None:
    sentence = said(session(tmp_path / "s", ratio, pending_s, spread))
    more = "More launches: `./bench run --resume s --launches 12`"
    assert (more in document(session(tmp_path / "again" / "s", ratio, pending_s, spread))) == bool(spread)
    if spread:  # launches of two kinds: no interval holds them
        assert sentence.startswith(("adaptive cannot be judged by the interval over 6 launches of two kinds (", words))
    else:
        assert sentence.startswith(words)
    if pending_s == 2.5:
        assert "operations were pending while it computed for 2.5 s, 25.0 % of the whole time" in sentence
    if pending_s is None:
        assert "what was pending while it computed is not known" in sentence


def test_a_target_with_nothing_pending_can_be_helped(tmp_path: Path) -> None:
    """Others reach into its windows while it computes."""
    sentence = said(session(tmp_path / "s", 0.1, 0.0, windows=True))
    assert sentence.startswith("adaptive helps (1 s instead of 10 s") and "it has windows: " in sentence
    assert said(session(tmp_path / "n", 0.1, 0.0)).startswith("adaptive has nothing to do here")


@pytest.mark.parametrize(
    ("ratio", "word"),
    [
        (0.8, "probably helps: a quiet machine can make it certain ("),
        (1.1, "probably costs: a quiet machine can make it certain ("),
        (1.0, "may help or cost: a quiet machine can tell ("),
    ],
)
def test_nothing_is_certain_on_a_busy_machine(tmp_path: Path, ratio: float, word: str) -> None:
    evidence = session(tmp_path / "s", ratio, 2.5, busy=0.5)
    assert said(evidence).startswith(f"adaptive {word}")
    assert said(evidence).endswith(
        " Measure again: the machine was disturbed: something else took 44 % of the measured time."
    )
    assert "Session s was disturbed: something else took 44 % " in document(evidence)


@pytest.mark.parametrize(
    ("ratio", "spread", "turns", "words"),
    [
        (1.0, 0.1, 0.8, "adaptive helps ("),
        (1.0, 0.1, 1.1, "adaptive costs ("),
        (1.0, 0.1, 1.0, "adaptive may help or cost: more launches can tell ("),
        (1.1, 0.0, 1.0, "adaptive costs ("),  # at its start, say
        (1.1, 0.0, 0.8, "adaptive may help or cost: more launches can tell ("),
    ],
)
def test_turns_within_launches_decide_what_launches_leave_open(
    tmp_path: Path, ratio: float, spread: float, turns: float, words: str
) -> None:
    evidence = session(tmp_path / "s", ratio, 2.5, spread, others=["adaptive:trial_ms=100"], turns=turns)
    ((_, (one,)),) = told(evidence)
    assert one.sentence.startswith(words) and "; on against off within launches " in one.sentence


@pytest.mark.parametrize(
    ("low", "word"),
    [
        (1.02, "costs"),
        (1.018, "probably costs: more launches can make it certain"),
        (0.999, "may help or cost: more launches can tell"),
    ],
)
def test_a_word_needs_an_interval_that_is_wrong_once_in_two_hundred(low: float, word: str) -> None:
    ratio = Interval(1.03, low, 2.06 - low, "95 % interval over 6 launches", True)
    assert _word(Cell(Harm.UNCLEAR, ratio), None, None, 1.0) == word


def test_the_intervals_of_several_variants_hold_at_the_same_time(tmp_path: Path) -> None:
    """Of seven one would look better by chance each sixth time."""
    ((_, (alone,)),) = told(session(tmp_path / "alone", 0.998, 2.5))
    ((_, several),) = told(session(tmp_path / "several", 0.998, 2.5, others=("thread", "timer", "idle", "offload")))
    assert len(several) == 5
    best = "it takes the least time with"
    assert best not in document(session(tmp_path / "one", 0.8, 2.5))
    assert f"Of these 2 {best} adaptive.\n" in document(session(tmp_path / "two", 0.8, 2.5, others=("thread",)))
    assert alone.cell.ratio is not None
    for one in several:
        assert one.cell.ratio is not None
        assert one.cell.ratio.low < alone.cell.ratio.low < alone.cell.ratio.high < one.cell.ratio.high
        assert "simultaneous over 5 points" in one.cell.ratio.kind


def test_sequences_of_launches_are_all_in_the_figure_with_its_verdict(tmp_path: Path) -> None:
    (drawn,) = draw_all(session(tmp_path / "s", 0.8, 2.5), "")
    answer: list[str] = []
    page = build_report([tmp_path / "s"], tell=answer.append).path.read_text()
    assert "<strong>adaptive</strong>: 20 % shorter (" in page[: page.index('class="verdict"')], "beside a bar each"
    assert "How to read this" not in page, "formulas of overlap studies"
    assert answer[0].startswith("One's own program under the engine: adaptive helps (8 s instead of 10 s")
    assert drawn.name == "own_program"
    assert list(drawn.points["label"]) == ["app"]
    assert drawn.points["value"][0] == pytest.approx(0.8)
    assert drawn.found.startswith("adaptive helps (8 s instead of 10 s")


def test_a_time_that_the_program_prints_has_no_unit_of_ours(tmp_path: Path) -> None:
    text = document(session(tmp_path / "s", 0.8, 2.5, printed=True))
    assert "| variant | the time that it prints |" in text
    assert "adaptive helps (8.004 instead of 10" in text


@pytest.mark.parametrize("failed", [("bare",), ("bare", "adaptive"), ("adaptive",)])
def test_without_bare_there_is_nothing_to_compare_with(tmp_path: Path, failed: Sequence[str]) -> None:
    evidence = session(tmp_path / "s", 0.8, 2.5, reasons=dict.fromkeys(failed, "app: exit status 3; last words: no"))
    if "bare" in failed:
        assert unusable(evidence) == "app: exit status 3; last words: no"
        assert draw_all(evidence, "") == []
    else:
        assert unusable(evidence) == ""
        assert said(evidence) == "adaptive: rejected, failed: app: exit status 3; last words: no."


def test_a_variant_that_this_mpi_does_not_have_is_not_called_rejected(tmp_path: Path) -> None:
    evidence = session(tmp_path / "s", 0.8, 2.5, reasons={"adaptive": "it has no thread of its own"}, status="skipped")
    assert said(evidence) == "adaptive: skipped: it has no thread of its own."


def spec_session(
    folder: Path, study: str, point: dict[str, Any], factors: dict[str, float], name: str = "lammps"
) -> Path:
    """Six launches a variant that take `factors` of ten seconds."""
    empty_session(folder)
    workload = {"name": name, "version": None}
    for repetition, seconds in enumerate(TIMES):
        for variant, factor in factors.items():
            samples = {"whole_s": [seconds * factor], "time_s": [0.9 * seconds * factor]}
            launch, lines = f"{study}.{repetition}.{variant}", [{"point": point, "samples": samples}]
            write_launch(folder, study, variant, launch, lines, "debian-openmpi", workload=workload)
    return folder


def rows(folder: Path) -> dict[str, tuple[str, str, str]]:
    """Claim -> decision, point and reason."""
    return {row.claim[:10]: (row.decision, row.point, row.reason) for row in table([folder]).rows if row.study == "R4"}


CAVITY = "spec-openfoam-cavity"
EVERY = [part.study for part in COUNTERPARTS if part.study]


def test_the_best_preset_counts_with_an_interval_for_all_of_them(tmp_path: Path) -> None:
    factors = {"bare": 1.0, "idle": 1.2, "adaptive": 0.95, "offload": 0.9}
    folder = spec_session(tmp_path / "s", "spec-dolfinx-poisson-cg", {}, factors)
    value, *others = BestPreset("whole_s")(Evidence(load([folder])), "spec-dolfinx-poisson-cg")
    assert value.variant == "offload"
    assert value.interval.low < 0.9 < value.interval.high
    assert "simultaneous over 3 points" in value.interval.kind
    assert value.point == "dolfinx-poisson-cg (offload, best of 3 presets)"
    assert [one.caveat for one in others] == [
        f"{name.removeprefix('spec-')}: not run" for name in EVERY if name != "spec-dolfinx-poisson-cg"
    ]


def test_what_was_not_run_keeps_the_claim_open(tmp_path: Path) -> None:
    folder = tmp_path / "s"
    for name in EVERY[:-1]:
        spec_session(folder, name, {}, {"bare": 1.0, "adaptive": 0.9})
    decision, _, reason = rows(folder)["The best p"]
    assert (decision, reason) == ("inconclusive", "npb-original-lu: not run")
    spec_session(folder, EVERY[-1], {}, {"bare": 1.0, "adaptive": 0.9})
    decision, point, _ = rows(folder)["The best p"]
    assert decision == "reproduced"
    assert point.endswith(" (adaptive, best of 1 preset)")


def test_every_program_must_hold(tmp_path: Path) -> None:
    folder = spec_session(tmp_path / "s", "spec-lammps-melt", {"atoms": 32000}, {"bare": 1.0, "adaptive": 1.0})
    spec_session(folder, CAVITY, {}, {"bare": 1.0, "adaptive": 1.3}, "openfoam")
    decision, point, _ = rows(folder)["The best p"]
    assert decision == "not reproduced"
    assert point == "openfoam-cavity (adaptive, best of 1 preset)"


def test_a_preset_that_failed_is_not_the_best(tmp_path: Path) -> None:
    factors = {"bare": 1.0, "adaptive": 1.0, "offload": 0.5}
    folder = timed_out(spec_session(tmp_path / "s", CAVITY, {}, factors), "*.0.offload*")
    value = BestPreset("whole_s")(Evidence(load([folder])), CAVITY)[0]
    assert value.point == "openfoam-cavity (adaptive, best of 1 preset)"
    assert value.remark == "offload left out (timeout: did not end within 60 s)"
    for variant, why in (("bare", "bare: timeout: "), ("adaptive", "no preset has a value; adaptive left out (")):
        failing = timed_out(
            spec_session(tmp_path / variant, CAVITY, {}, {"bare": 1.0, "adaptive": 1.0}), f"*.{variant}*", 6
        )
        value = BestPreset("whole_s")(Evidence(load([failing])), CAVITY)[0]
        assert value.caveat.startswith(why)


def test_the_figure_says_what_stands_for_which_code(tmp_path: Path) -> None:
    folder = spec_session(tmp_path / "s", "spec-lammps-melt", {"atoms": 32000}, {"bare": 1.0, "adaptive": 1.0})
    (drawn,) = [one for one in draw_all(Evidence(load([folder])), "") if one.subject == "R4"]
    assert drawn.name == "spec_substitute"
    assert "126.lammps (molecular dynamics): lammps-melt;" in drawn.found
    assert "128.GAPgeofem (finite elements): dolfinx-poisson-cg, not run" in drawn.found
    by_hand, _, lacking = drawn.found.partition(" Without a counterpart: ")
    assert "run by hand as ./bench apps says: 122.tachyon (ray tracing): tachyon; 125.RAxML (phylog" in by_hand
    assert "121.pop2 (ocean): no packaged counterpart was found" in lacking
    assert "tachyon" not in lacking


def test_specs_own_codes_are_estimates_and_the_licence_is_seen(tmp_path: Path) -> None:
    point = {"benchmark": "126.lammps", "size": "mref"}
    factors = {"bare": 1.0, "adaptive": 0.5}
    folder = spec_session(tmp_path / "s", "spec-mpi2007-medium", point, factors, "spec-mpi2007")
    decision, _, reason = rows(folder)["SPEC MPI20"]
    assert decision == "not testable here"
    assert "384 processes" in reason
    assert "licensed" not in reason
    (drawn,) = [one for one in draw_all(Evidence(load([folder])), "") if one.subject == "R4"]
    assert (drawn.name, drawn.title) == ("spec_mpi2007", "SPEC MPI2007: estimates, no compliant runs")


def test_the_substitute_is_not_taken_for_the_suite(tmp_path: Path) -> None:
    folder = spec_session(tmp_path / "s", "spec-lammps-melt", {"atoms": 32000}, {"bare": 1.0, "adaptive": 0.5})
    decision, _, reason = rows(folder)["SPEC MPI20"]
    assert decision == "not testable here"
    assert "SPEC MPI2007 is licensed and was not given" in reason


def test_every_code_of_the_suite_is_named_once() -> None:
    names = [name for part in COUNTERPARTS for name in part.theirs]
    assert len(names) == len(set(names)) == 18
    assert all([bool(part.study), bool(part.by_hand), bool(part.why)].count(True) == 1 for part in COUNTERPARTS)


def point(quantity: str, value: float, **parameters: Any) -> dict[str, Any]:
    return {"point": parameters, "samples": {quantity: [value] * 3}}


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    rates = {"multiply-integer": 8e9, "divide": 2e9, "sqrt": 1e9}
    studies = {
        "roofline-triad": [point("moved_bytes_per_s", 36e9, megabytes=4)],
        "roofline-peak": [point("operations_per_s", rate, operation=name) for name, rate in rates.items()],
        "roofline-himeno": [point("mflops", 12750, grid="XS"), point("mflops", 1, grid="L")],
        "roofline-npb": [point("mops", 400, **{"class": "S"})],
    }
    for name, points in studies.items():
        made = study_session(tmp_path / name, name, {"bare": points})
        for file in (made / "records").iterdir():
            (tmp_path / "s" / "records").mkdir(parents=True, exist_ok=True)
            file.rename(tmp_path / "s" / "records" / f"{name}.{file.name}")
    (tmp_path / "s" / "session.json").write_text("{}")
    return Evidence(load([tmp_path / "s"]))


def test_a_kernel_is_held_against_the_bound_of_its_own_size(evidence: Evidence) -> None:
    himeno, ep = shares(evidence)
    assert himeno.size == "XS"
    assert [himeno.reached.value, himeno.bound.value] == pytest.approx([12.75, 17])
    assert himeno.share.value == pytest.approx(0.75)
    assert [ep.reached.value, ep.bound.value] == pytest.approx([5.0, 1.75])
    assert ep.share.value == pytest.approx(0.35)


def test_the_report_has_a_figure(evidence: Evidence) -> None:
    (drawn,) = draw_all(evidence, "Data: made up.")
    assert (drawn.name, drawn.subject) == ("roofline", "L1")
    assert drawn.found == "Himeno XS: 75 % of its bound; EP S: 35 % of its bound."


def test_what_was_measured_elsewhere_is_no_bound(evidence: Evidence, tmp_path: Path) -> None:
    """A kernel of another serial_session has no bound there."""
    other = study_session(tmp_path / "other", "roofline-himeno", {"bare": [point("mflops", 100, grid="XS")]})
    assert len(shares(Evidence(load([tmp_path / "s", other])))) == len(shares(evidence)) == 2


FIELD: dict[str, Any] = {"nx": 64, "ny": 64, "nz": 64, "field": "complex", "fields": 1}


def of_kernel(made: Session, kernel: str, ours: float, theirs: float, launches: int = 6) -> None:
    point = {"kernel": kernel, "class": "A", "mode": "blocking"}
    made.add(f"serial-kernel-{kernel}", "bare", point, {"mops": ours}, launches=launches)
    their_point = {"benchmark": kernel.upper(), "class": "A"}
    made.add(f"serial-npb-original-{kernel}", "bare", their_point, {"mops": theirs}, launches=launches)


@pytest.fixture
def serial_session(tmp_path: Path) -> Session:
    made = Session(tmp_path / "s")
    of_kernel(made, "cg", 1000.0, 1050.0)
    of_kernel(made, "mg", 850.0, 1000.0)
    of_kernel(made, "is", 500.0, 100.0, launches=2)
    pencils, whole = {**FIELD, "mode": "blocking"}, {**FIELD, "mode": "fftw"}
    real = {**FIELD, "field": "real", "mode": "fftw"}
    fields = [(pencils, {"mops": 5700.0}), (whole, {"mops": 6000.0}), (real, {"mops": 6000.0})]
    made.add_all("serial-fft", "bare", fields, noise=0.2)
    return made


def of(found: list[Pair], what: str) -> Pair:
    (one,) = [one for one in found if one.what == what]
    return one


def test_a_rate_is_held_against_the_same_kernel_and_class_of_theirs(serial_session: Session) -> None:
    found = pairs(serial_session.evidence())
    assert len(found) == 4, "a real field has our side missing"
    assert of(found, "NPB CG, class A").ratio.value == pytest.approx(1000 / 1050, rel=0.01)
    assert of(found, "NPB CG, class A").verdict == AS_FAST
    assert of(found, "NPB MG, class A").verdict == SLOWER
    assert of(found, "NPB IS, class A").verdict == UNKNOWN, "two launches decide nothing"


def test_what_the_same_launches_measured_is_compared_launch_by_launch(serial_session: Session) -> None:
    """A launch may be half as fast as another: theirs is so, too."""
    field = of(pairs(serial_session.evidence()), "FFT of 64 x 64 x 64, complex")
    assert field.ours.high / field.ours.low > 1.2
    assert field.ratio.value == pytest.approx(0.95, rel=0.01)
    assert field.verdict == AS_FAST


def test_the_figure_has_a_row_each(serial_session: Session) -> None:
    (drawn,) = [drawn for drawn in draw_all(serial_session.evidence(), "") if drawn.name == "serial"]
    assert len(drawn.points) == 4
