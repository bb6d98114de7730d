# SPDX-License-Identifier: BSD-3-Clause
"""Studies are found by their files; what the analysis and other people's codes know of them is the same, and what they
measure at their papers' scale is drawn whole."""

from __future__ import annotations

import copy
import importlib
import shutil
from pathlib import Path

import pytest

from analysis.claims import decision
from analysis.evidence import Evidence
from analysis.metrics.times import LIMIT
from analysis.other_tools.overheads import ASYNC, ASYNC_STUDIES, LONG
from analysis.records.load import identity, load
from analysis.studies.ruhela import COUNTERPARTS
from analysis.subject import draw_all, of_studies, subjects
from analysis.tests import synthetic
from analysis.tests.test_claims import study_session
from harness.base import machine, variants
from harness.base.errors import UsageError
from harness.codes.known import CASES, CODES
from harness.codes.spec_mpi2007 import LARGE, MEDIUM
from reframe_checks import catalogue
from reframe_checks.studies import harm
from reframe_checks.studies.ruhela import OPEN
from reframe_checks.tests.test_adding_a_study import copy_to, studies

NODES, PIOMAN = (catalogue.FOLDER / f"{name}.py" for name in ("nodes", "pioman"))


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    return copy_to(tmp_path)


def test_a_file_is_all_that_a_study_takes(tree: Path) -> None:
    text = NODES.read_text().replace('name="node-pairs"', 'name="sooner"').replace('"nodes"', '"first"')
    (tree / "reframe_checks" / "studies" / "first.py").write_text(text.replace("order=5000", "order=100"))
    assert studies(tree) == ["sooner", *catalogue.studies()]


def test_a_group_in_two_files_is_refused(tree: Path) -> None:
    shutil.copy(PIOMAN, tree / "reframe_checks" / "studies" / "zuse.py")
    with pytest.raises(AssertionError, match=r"zuse.py: study 'overlap-ratio' of group 'pioman' belongs into"):
        studies(tree)


def test_a_paper_names_all_its_studies() -> None:
    groups = catalogue.groups()
    assert groups["all"] == [name for name, study in catalogue.studies().items() if study.of_a_paper]
    others = {group: names for group, names in groups.items() if group != "all"}
    assert sorted(name for names in others.values() for name in names) == sorted(catalogue.studies())
    assert next(study.name for study in catalogue.by_names(["waiting", "fukuoka"])) == "waiting"
    with pytest.raises(UsageError, match=r"no study or group called 'nothing'.*groups: all, costs, cross-check, fuk"):
        catalogue.by_names(["nothing"])


def test_all_has_the_26_studies_of_papers_and_one_of_ours() -> None:
    """As docs/how-to/reproduce-a-paper.md says."""
    run = catalogue.groups()["all"]
    covered = {subject.id for subject in subjects() if any(map(subject.covers, run))}
    of_papers = {subject.id for subject in subjects() if subject.paper}
    assert covered == of_papers | {"npb-overlap"}
    assert len(of_papers) == 26


def test_a_file_has_a_check_for_each_of_its_studies() -> None:
    for study in catalogue.studies().values():
        file = catalogue.file_of(study.name)
        assert file and file == catalogue.file_of(study.group)
        module = importlib.import_module(f"reframe_checks.studies.{file.stem}")
        checks = [test for test in module._rfm_test_registry if test.__name__ == study.check_name]
        assert [test.study for test in checks] == [study], study.name


def test_harm_has_what_other_studies_run_without_a_row_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    without_rows = {study.workload for study, _ in harm._others()}
    rows = [row for row in harm.WORKLOADS if row.benchmark not in ("overlap", "contention")]
    monkeypatch.setattr(harm, "WORKLOADS", rows)
    others = [(study, point) for study, point in harm._others() if study.workload not in without_rows]
    found = {" ".join(study.workload): (study, point) for study, point in others}
    assert set(found) == {"microbench overlap", "tasks contention", "ult overlap"}
    assert found["microbench overlap"][1] == {"pattern": "both", "size_bytes": 4 << 20, "work_units": 10_000}
    assert found["tasks contention"][0].own_threads and found["tasks contention"][0].nodes == 1


def test_harm_has_a_row_that_is_bound_by_memory_beside_pending_messages() -> None:
    study = catalogue.studies()["harm-roofline-triad"]
    assert study.on_off, "compared with itself"
    for scale in study.scales.values():
        (point,) = scale.points()
        assert point["megabytes"] == 0, "beyond the cache, however large that is"
        assert point["pending"] != 0


def test_every_study_is_of_one_subject_of_the_report() -> None:
    """Else its records would be decided by nobody; those of other people's codes are named there by hand."""
    for name in catalogue.studies():
        assert [subject for subject in subjects() if subject.covers(name)] == list(of_studies([name]))
        assert len(of_studies([name])) == 1, name


def test_what_harness_and_analysis_each_know_by_themselves_is_the_same() -> None:
    assert LIMIT == variants.LIMIT and set(synthetic.WITHOUT_ENGINE) == set(variants.WITHOUT_ENGINE)
    assert decision.RDMA_DRIVERS == machine.RDMA_DRIVERS
    of_papers = [study for study in catalogue.studies().values() if study.of_a_paper]
    assert all({"test", "quick", "paper"} <= set(study.scales) for study in of_papers)


def test_imb_async_is_asked_for_what_ours_measure_beside_it() -> None:
    theirs = CASES["imb-async"][1].points
    assert tuple(ASYNC_STUDIES) == theirs["benchmark"]
    for name in ASYNC_STUDIES.values():
        scale = catalogue.studies()[name].scales["quick"]
        assert {point["size_bytes"] for point in scale.points()} == set(theirs["size_bytes"])
        assert all(float(point["comp_over_comm"]) >= LONG for point in scale.points())
        assert scale.variants == catalogue.studies()[ASYNC].scales["quick"].variants


def test_the_report_maps_every_code_of_spec_to_what_is_run_in_its_place() -> None:
    assert {f"spec-{case}" for case in OPEN} == {part.study for part in COUNTERPARTS if part.study}
    assert {name for part in COUNTERPARTS for name in part.theirs} == {*MEDIUM, *LARGE}
    by_hand = {part.by_hand for part in COUNTERPARTS if part.by_hand}
    assert by_hand == {code.name for code in CODES if not code.cases and code.debian}
    scales = [scale for name in OPEN for scale in catalogue.studies()[f"spec-{name}"].scales.values()]
    assert {scale.mpis for scale in scales} == {("debian-openmpi",)}, "the distribution's, where none is named"


@pytest.mark.parametrize("name", catalogue.studies())
def test_reframe_can_copy_a_study(name: str) -> None:
    """It copies each attribute of a check, and leaves out the checks of a file where it cannot."""
    study = catalogue.studies()[name]
    assert copy.deepcopy(study) == study


STUDIES = ("nas", "npb-overlap", "fft", "minife-threads", "minighost-nonblocking")
CALLS = ("irecv", "send", "wait", "allreduce", "allreduce_wait", "barrier", "outside")
OF_A_CALL = ("s", "packets_in", "packets_out")
QUANTITIES = ("elapsed_s", "comm_s", "comp_s", *(f"{call}_{what}" for call in CALLS for what in OF_A_CALL))


@pytest.mark.parametrize("study", [*STUDIES, pytest.param("minife-packets", marks=pytest.mark.full)])
def test_each_point_has_a_place_of_its_own(tmp_path: Path, study: str) -> None:
    """None stands on another in its panel, and none is left out."""
    points = catalogue.studies()[study].scales["paper"].points()
    measured = [{"point": point, "samples": dict.fromkeys(QUANTITIES, [1.0] * 3)} for point in points]
    session = study_session(tmp_path / "s", study, {"bare": measured}, launches=1)
    figures = draw_all(Evidence(load([session])), "made up")
    assert len({figure.name for figure in figures}) == len(figures)
    for figure in figures:
        plot = figure.plot
        places = list(dict.fromkeys(filter(None, (plot.x, plot.row, plot.series))))
        assert not figure.points.duplicated(places).any(), figure.name
    assert {point for figure in figures for point in figure.points["point"]} == {identity(point) for point in points}
