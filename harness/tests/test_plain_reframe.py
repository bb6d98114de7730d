# SPDX-License-Identifier: BSD-3-Clause
"""The checks as a site's own ReFrame runs them, without ./bench: sessions, reports, database, several partitions."""

from __future__ import annotations

import os
import re
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from harness.base.mpis import MPIS
from harness.base.paths import ROOT, VENV
from harness.job import records
from harness.job import session as sessions
from harness.setup import build
from harness.sites.systems import BUILTIN, SYSTEMS_DIR, from_facts
from harness.tests.sessions import BENCH, bench, state

__all__ = ["state"]  # a fixture

pytestmark = [pytest.mark.full, pytest.mark.mpi, pytest.mark.slow, pytest.mark.timeout(400)]
MPI = "mpich"
STUDIES = ("OverlapRatio", "LatencyFlavours")

TWO_PARTITIONS = """
from reframe_checks.systems.local import site_configuration as here
site_configuration = here
(system,) = here["systems"]
(one,) = system["partitions"]
system["name"] = "twofold"
system["partitions"] = [one | {"name": "left"}, one | {"name": "right"}]
for environment in site_configuration["environments"]:
    environment["target_systems"] = ["twofold"]
"""


@pytest.fixture(scope="module", autouse=True)
def programs() -> None:
    build.ensure(MPIS[MPI], "progress_engine/all", "microbench")


def reframe(
    place: Path, *options: str, config: Path = SYSTEMS_DIR / "local.py", login: Sequence[str] = ()
) -> subprocess.CompletedProcess[str]:
    """ReFrame in a folder of its own, with results and database there; `login`: what gets it to a login node."""
    environment = dict(os.environ) | {
        "PYTHONPATH": str(ROOT),
        "OVERLAP_BENCH_RESULTS": str(place / "results"),
        "RFM_ENABLE_RESULTS_STORAGE": "yes",
        "RFM_SQLITE_DB_FILE": str(place / "reframe.db"),
        "LOGNAME": "tester",
    }
    command = [str(VENV / "bin" / "reframe"), "--nocolor", "-C", str(config), "-c", str(ROOT / "reframe_checks"), "-R"]
    return subprocess.run(
        [*login, *command, *options],
        cwd=place,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def run(place: Path, *options: str, names: Sequence[str] = STUDIES, **where: Any) -> str:
    """What ReFrame says of a run of these checks with few launches."""
    chosen = ("-n", f"^({'|'.join(names)})", "-p", f"^{MPI}$", "-P", "scale=test", "-S", "settings=launches=1")
    done = reframe(place, "-r", *chosen, *options, **where)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr
    return done.stdout


def sessions_of(place: Path) -> list[sessions.Session]:
    found = sorted(path for path in (place / "results").iterdir() if not path.is_symlink())
    return [sessions.load(str(path)) for path in found]


def samples(session: sessions.Session) -> list[float]:
    files = sorted(session.folders.records.glob("overlap-ratio.*.jsonl"))
    lines = [line for file in files for line in records.read(file).points]
    return [value for line in lines for value in line["samples"]["total_s"]]


@pytest.fixture(scope="module")
def twice(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same run two times, the second with everything that ReFrame can say of it."""
    place = tmp_path_factory.mktemp("plain")
    run(place)
    said = run(place, "--report-junit", "junit.xml", "--performance-report")
    (place / "said.txt").write_text(said)
    return place


def test_each_run_measures_anew(twice: Path) -> None:
    first, second = sessions_of(twice)
    assert samples(first)
    assert samples(second)
    assert not set(samples(first)) & set(samples(second)), "times to the nanosecond: the same ones were not measured"
    for session in (first, second):
        assert session.facts.state == "complete"
        assert set(session.facts.studies) == {"overlap-ratio", "latency-flavours"}, "both in one"
        assert not from_facts(session.facts).missing(session.folders), "./bench run --resume has nothing to do"
        assert list(session.folders.nodes.glob("*.json"))


def test_junit_is_of_reframe_itself(twice: Path) -> None:
    suite = ET.parse(twice / "junit.xml").getroot().find("testsuite")
    assert suite is not None
    assert (suite.get("package"), suite.get("failures")) == ("reframe", "0")
    names = " ".join(str(case.get("name")) for case in suite.iter("testcase"))
    assert all(study in names for study in STUDIES)
    assert "Programs" in names, "the fixture that has the programs is a case, too"


def test_the_report_compares_with_the_run_before(twice: Path) -> None:
    said = (twice / "said.txt").read_text()
    assert "bare/pattern=both/size_bytes=4194304/comp_over_comm=1.0" in said
    assert "idle/size_bytes=1/round_trips=100" in said


def test_the_database_answers(twice: Path) -> None:
    """As docs/how-to/reframe.md asks it."""
    listed = reframe(twice, "--list-stored-sessions", "--table-format=csv").stdout
    uuids = re.findall(r"^([0-9a-f-]{36}),", listed, re.MULTILINE)
    assert len(uuids) == 2, listed
    compared = reframe(twice, f"--performance-compare={uuids[0]}/{uuids[1]}/last:/", "--table-format=csv").stdout
    assert "adaptive/pattern=both/size_bytes=4194304/comp_over_comm=1.0" in compared
    assert ",s," in compared, "the unit"
    told = reframe(twice, f"--describe-stored-sessions={uuids[1]}").stdout
    assert str(sessions_of(twice)[1].path) in told, "the folder with the samples"


def test_somebody_elses_code_is_run_and_read_too(tmp_path: Path) -> None:
    """The Intel MPI Benchmarks, which come with a wheel; on MPICH, whose binary interface is the same."""
    run(tmp_path, names=["ImbPointToPoint"])
    (session,) = sessions_of(tmp_path)
    assert session.facts.state == "complete" and session.facts.studies == ["imb-point-to-point"]
    files = list(session.folders.records.glob("*.jsonl"))
    kept = {str((records.read(file).header or {})["context"]["variant"]): records.read(file) for file in files}
    assert set(kept) == {"bare", "adaptive"}
    for variant, record in kept.items():
        good = [line for line in record.points if line["samples"] and min(line["samples"].values())[0] > 0]
        sizes = {line["point"]["size_bytes"] for line in good}
        assert sizes == {1024, 65536, 1048576}, variant
    assert [rank["engine"]["preset"] for rank in (kept["adaptive"].end or {})["ranks"]] == ["adaptive"] * 2
    assert not from_facts(session.facts).missing(session.folders)


def test_once_more_in_the_same_run_is_a_session_more(tmp_path: Path) -> None:
    run(tmp_path, "--repeat=2", "-S", "variants=bare", names=["OverlapRatio"])
    first, second = sessions_of(tmp_path)
    assert not set(samples(first)) & set(samples(second))


@pytest.mark.vcluster
@pytest.mark.parametrize("system", ["vcluster", "vcluster-slurm"])
@pytest.mark.usefixtures("state")
def test_on_a_cluster_each_run_measures_anew(system: str, tmp_path: Path) -> None:
    """From its login node, as on any cluster; under Slurm as batch jobs."""
    if reason := BUILTIN[system].why_not():
        pytest.skip(reason)
    slurm = ["--slurm"] if system == "vcluster-slurm" else []
    assert bench("vcluster", "up", "--nodes", "2", *slurm).returncode == 0
    login = [BENCH, "vcluster", "exec", "vc0", "--"]
    for _ in range(2):
        run(tmp_path, names=["OverlapRatio"], config=BUILTIN[system].config, login=login)
    found = sessions_of(tmp_path)
    assert [(one.facts.state, one.facts.system) for one in found] == [("complete", system)] * 2
    values = [value for one in found for value in samples(one)]
    assert len(set(values)) == len(values) > 0


def test_partitions_are_measured_apart(tmp_path: Path) -> None:
    """Their records would have the same names."""
    config = tmp_path / "twofold.py"
    config.write_text(TWO_PARTITIONS)
    run(tmp_path, "-S", "variants=bare", names=["OverlapRatio"], config=config)
    found = {asked.partition: session for session in sessions_of(tmp_path) if (asked := session.facts.request)}
    assert set(found) == {"left", "right"}
    for name, session in found.items():
        headers = [records.read(file).header for file in session.folders.records.glob("*.jsonl")]
        assert {header["context"]["system"] for header in headers if header} == {f"twofold:{name}"}
        assert len(list(session.folders.calibration.glob("overlap-ratio.twofold.json"))) == 1
