# SPDX-License-Identifier: BSD-3-Clause
"""What other services read of a gate: OpenMetrics by Prometheus's own parser, JUnit by its attributes."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import jsonschema
import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from analysis.gate import outputs
from analysis.gate.judge import judge
from analysis.gate.outcome import NEW, CheckRun, GateFound, PointFound, Verdict
from analysis.tests.test_gate_verdict import gate

NAMES = ('overlap: 1 MB, "both"', "a\\b\nc", "µs {x=1} # EOF")
SLOWER = PointFound(NAMES[0], "total_s", 1.051, 1.03, 1.07, 1.004, 0.99, 1.01, 0.02, True, False, False)
SAME = replace(SLOWER, name=NAMES[1], ratio=1.0, low=0.99, high=1.01, slower=False, same=True)
OPEN = replace(SAME, name=NAMES[2], same=False)


def found(verdict: Verdict, *points: PointFound) -> GateFound:
    return GateFound(
        True, [], "g", "adaptive", "timer <&>", verdict, "So.", 0.02, 12, 40, list(points), [], CheckRun(), []
    )


@pytest.mark.parametrize("verdict", Verdict)
@pytest.mark.parametrize("points", [(), (SLOWER, SAME, OPEN)])
def test_prometheus_reads_the_metrics(verdict: Verdict, points: tuple[PointFound, ...]) -> None:
    families = {
        family.name: family
        for family in text_string_to_metric_families(outputs.as_open_metrics(found(verdict, *points)))
    }
    ratios = {sample.labels["point"]: sample.value for sample in families["gate_ratio"].samples}
    assert ratios == {point.name: point.ratio for point in points}
    controls = {sample.labels["point"]: sample.value for sample in families["gate_control_ratio"].samples}
    assert controls == {point.name: point.control for point in points}
    assert [sample.value for sample in families["gate_rounds"].samples] == [12]
    assert families["gate_verdict"].type == "stateset"
    states = {sample.labels["gate_verdict"]: sample.value for sample in families["gate_verdict"].samples}
    assert states == {one.value: float(one is verdict) for one in Verdict}


@pytest.mark.parametrize(("verdict", "failures", "skipped"), [(Verdict.COMMIT, 2, 1), (Verdict.SYSTEM, 0, 3)])
def test_junit_has_what_services_show(verdict: Verdict, failures: int, skipped: int) -> None:
    """GitLab and Jenkins take suites with a name and counts, and cases with a class, a name and a time; names are
    unique, since a case is followed by its own from run to run."""
    suite = ElementTree.fromstring(outputs.as_junit(found(verdict, SLOWER, SAME, OPEN)))
    assert suite.tag == "testsuite" and suite.attrib["name"]
    counts = {name: int(suite.attrib[name]) for name in ("tests", "failures", "errors", "skipped")}
    assert counts == {"tests": 4, "failures": failures, "errors": 0, "skipped": skipped}
    cases = suite.findall("testcase")
    assert all(float(case.attrib["time"]) >= 0 for case in cases)
    keys = [(case.attrib["classname"], case.attrib["name"]) for case in cases]
    assert len(set(keys)) == len(cases) == 4
    assert all(told.attrib["message"] for case in cases for told in case)


def test_a_suites_name_has_nothing_that_xml_cannot_write() -> None:
    """A side's words are the user's."""
    suite = ElementTree.fromstring(outputs.as_junit(replace(found(Verdict.SAME, SAME), new="prefix:/opt/\x01x")))
    assert suite.attrib["name"] == "gate: prefix:/opt/ x against adaptive"


def test_markdown_has_the_check_run_where_it_ran() -> None:
    known = replace(found(Verdict.SAME, SAME), check_run=CheckRun({"a": 0.02, "b": 0.02, "c": 0.03}, {"a and b": 1e-3}))
    said = "Check run, the slowest place over the middle one: computation 1.500, transfer 1.000."
    assert said in outputs.as_markdown(known)
    assert "Check run" not in outputs.as_markdown(found(Verdict.SAME, SAME))


def test_markdown_of_few_points_with_very_long_names_fits_a_merge_request() -> None:
    """With all of its rows."""
    points = [replace(SLOWER, name=f"{number} {'x' * 30_000}") for number in range(5)]
    text = outputs.as_markdown(found(Verdict.COMMIT, *points))
    assert len(text.encode()) <= outputs.MARKDOWN_LIMIT
    assert "## Gate: commit" in text and text.count("| slower |") == 5 and "points more" not in text


def test_a_name_of_several_lines_is_one_row_of_the_table() -> None:
    """Such as that of a program of one's own whose argument is a script."""
    text = outputs.as_markdown(found(Verdict.SAME, replace(SAME, name="own-program: sh -c 'a\n b | c\n'")))
    (row,) = [line for line in text.splitlines() if "own-program" in line]
    assert row.startswith("| own-program: sh -c 'a  b \\| c ' (total_s) |") and row.endswith("| same |")


def test_two_gates_that_write_into_one_folder_do_not_stop_each_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One begins and ends while the other one is about to put its file in place."""
    first, second = found(Verdict.SAME, SAME), found(Verdict.COMMIT, SLOWER)
    moved: list[Path] = []
    real = Path.replace

    def replaced(path: Path, target: Path) -> Path:
        moved.append(path)
        if len(moved) == 1:
            outputs.write(second, tmp_path)
        return real(path, target)

    monkeypatch.setattr(Path, "replace", replaced)
    outputs.write(first, tmp_path)
    assert {path.name: path.read_text() for path in tmp_path.iterdir()} == outputs.texts(first)


def test_the_files_are_utf_8_whatever_the_callers_language_is(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from analysis.gate import outputs; from analysis.tests import "
        "test_gate_outputs as made; outputs.write(made.found(made.Verdict.SAME, made.OPEN), Path(sys.argv[1]))"
    )
    plain = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    command = [sys.executable, "-c", script, str(tmp_path)]
    subprocess.run(command, check=True, timeout=120, cwd=Path(__file__).parents[2], env=os.environ | plain)
    assert NAMES[2] in (tmp_path / "gate.md").read_bytes().decode()


SCHEMA = Path(__file__).parents[2] / "results" / "schema" / "gate.schema.json"


def test_gate_json_is_what_its_schema_says() -> None:
    """Of verdicts that were made: with and without points, intervals and a slow node."""
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    published = jsonschema.Draft202012Validator(schema)
    measured = [gate({NEW: 1.5}), gate(rounds=3), gate(nodes={"b": 1.3}), replace(gate(), series=[])]
    for one in measured:
        published.validate(json.loads(outputs.as_json(judge(one))))
    assert schema["properties"]["verdict"]["enum"] == [one.value for one in Verdict]
    assert judge(measured[0]).points[0].control_high == math.inf
    assert not published.is_valid(json.loads(outputs.as_json(replace(judge(measured[0]), margin=2.0))))
