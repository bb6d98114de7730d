# SPDX-License-Identifier: BSD-3-Clause
"""What is said of launches that no job came to, by what ReFrame's report says of the job."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from harness.job import records
from harness.job import session as sessions
from harness.sessions import missing_launches
from harness.sessions.request import Request
from harness.sites.systems import BUILTIN
from reframe_checks.catalogue import by_names


def case(**facts: Any) -> dict[str, Any]:
    return {"environ": "mpich", "system": "local", "partition": "loopback", "fixture": False, **facts}


BUILD = case(fixture=True, result="fail", fail_reason="build error: there is no progress-run")
WAITED = case(result="abort", fail_reason="dependencies failed")
BUILT = case(fixture=True, result="pass", fail_reason=None)
DIED = case(result="fail", fail_reason="job failed", job_state="NODE_FAIL")
BLOCKED = case(
    result="fail",
    job_state="CANCELLED",
    fail_reason="job blocked error: [jobid=7] job cancelled because it was blocked due to a perhaps non-recoverable "
    "reason: ReqNodeNotAvail, UnavailableNodes:vc2",
)
OTHERS = case(environ="openmpi", result="fail", fail_reason="something of another MPI")


@pytest.mark.parametrize(
    ("cases", "words"),
    [
        ([BUILD, WAITED, OTHERS], "not run: build error: there is no progress-run"),
        ([BUILT, DIED, OTHERS], "not run: a node of the batch job died (NODE_FAIL)"),
        ([BUILT, BLOCKED], "perhaps non-recoverable reason: ReqNodeNotAvail, UnavailableNodes:vc2"),
        ([OTHERS], "ReFrame ended without a word on this job"),
    ],
)
def test_the_cause_is_named(
    cases: list[dict[str, Any]], words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path))
    request = Request(by_names(["tasks"]), BUILTIN["local"], ["mpich"], ["bare"], scale="test")
    session = sessions.create("missing", request.facts())
    report = tmp_path / "tasks.json"
    report.write_text(json.dumps({"runs": [{"testcases": cases}]}))
    (job,) = request.jobs()
    count, why = missing_launches.record(job, session, report)
    assert count == len(job.launches) and words.removeprefix(records.NOT_RUN) in why
    (file,) = records.attempts(session.folders.records, job.launches[0].identity)
    assert all(words in line["reason"] for line in records.read(file).points)
