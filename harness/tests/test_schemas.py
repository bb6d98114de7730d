# SPDX-License-Identifier: BSD-3-Clause
"""Sessions, plans and sites' extras are what their published schemas say; whatever else is refused in a sentence."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from reframe.core import config, runtime
from reframe.core.exceptions import ReframeError

from harness.base import paths, validate
from harness.base.errors import UsageError
from harness.base.mpis import Mpi
from harness.base.paths import ROOT
from harness.job import session
from harness.job.plan import Plan
from harness.job.runner import WRONG_PLAN
from harness.sessions import schemas
from harness.sites.systems import from_facts
from reframe_checks.systems import local
from reframe_checks.systems.extras import EnvironmentExtras, PartitionExtras, extras_of_partition

ARCHIVES = sorted([*(ROOT / "results/reference").glob("*.tar.xz"), *(ROOT / "analysis/tests/old_sessions").iterdir()])
FOLDERS = [folder for kept in ARCHIVES for folder in paths.sessions_of(kept)]
OLD = [folder / paths.FACTS for folder in FOLDERS if (folder / paths.FACTS).exists()]


def published(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(json.loads((schemas.FOLDER / f"{name}.schema.json").read_text()))


@pytest.mark.parametrize("name", schemas.MODELS)
def test_what_is_published_is_what_is_read(name: str) -> None:
    text = (schemas.FOLDER / f"{name}.schema.json").read_text()
    assert text == schemas.text(schemas.MODELS[name]), "python -m harness.sessions.schemas writes it anew"
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


@pytest.mark.parametrize("file", OLD, ids=[path.parent.name for path in OLD])
def test_an_old_session_still_says_what_it_was(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever its checkout was, whatever has moved in it since, and whether or not its MPIs are installed here."""
    monkeypatch.setattr(Mpi, "installed", lambda _: False)
    published("session").validate(json.loads(paths.of_today(file.read_bytes())))
    facts = session.load(str(file.parent)).facts
    planned = {launch.identity for job in from_facts(facts).jobs() for launch in job.launches}
    assert len(planned) >= (len(facts.mpi_names) if facts.studies else 0)


def test_older_names_are_those_of_today() -> None:
    old = b'{"race": {"search": "grid", "seats": 6, "settle": 2, "arms": []}, "gate": {"canary": {}}}'
    today = paths.of_today(old)
    search = {"method": "grid", "at_once": 6, "block_rounds": 2, "sides": []}
    assert json.loads(today) == {"search": search, "gate": {"check_run": {}}}
    assert paths.of_today(today) == today


def test_what_a_session_writes_can_be_read_again(tmp_path: Path) -> None:
    facts = session.load(str(OLD[0].parent)).facts
    written = session.Session(tmp_path, facts)
    written.save()
    published("session").validate(json.loads((tmp_path / "session.json").read_text()))
    assert session.load(str(tmp_path)).facts == facts


WRONG: dict[str, tuple[tuple[str | int, ...], object, str]] = {
    "kind": (("seed",), "1", "seed: a valid integer is wanted, not '1'."),
    "field": (("site",), {}, "there is no field site."),
    "launch": (("launches", 1, "order"), None, "launches[1].order: a valid integer is wanted, not None."),
    "tasks": (("platform", "tasks"), 2.5, "platform.tasks: a valid integer"),
    "pair": (("impossible",), [[{}]], "impossible[0][1] is missing."),
}


@pytest.mark.parametrize(("place", "value", "words"), WRONG.values(), ids=WRONG.keys())
def test_a_wrong_plan_is_a_sentence(
    plan: Plan, tmp_path: Path, place: tuple[str | int, ...], value: object, words: str
) -> None:
    plan.save(tmp_path / "plan.json")
    tree = json.loads((tmp_path / "plan.json").read_text())
    published("plan").validate(tree)
    node: Any = tree
    for step in place[:-1]:
        node = node[step]
    node[place[-1]] = value
    (tmp_path / "plan.json").write_text(json.dumps(tree))
    with pytest.raises(UsageError, match=r"plan\.json: ") as told:
        Plan.load(tmp_path / "plan.json")
    assert words in str(told.value)


@pytest.mark.parametrize("text", [None, "", '{"session": "s"'])
def test_the_runner_refuses_a_damaged_plan(tmp_path: Path, text: str | None) -> None:
    """The job's log says why, and nothing is launched."""
    file = tmp_path / "plan.json"
    if text is not None:
        file.write_text(text)
    command = [sys.executable, "-m", "harness.job.runner", str(file), str(tmp_path / "session")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT, timeout=60)
    assert done.returncode == WRONG_PLAN
    assert done.stderr.startswith(f"runner: {file}")
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "session").exists()


def test_our_own_systems_have_no_other_extras() -> None:
    """A site's own are left alone: other tests of that site may need them."""
    assert validate.check(PartitionExtras, {"gpu_memory": 40}, "site").model_extra == {"gpu_memory": 40}
    ours = local.site_configuration
    for partition in ours["systems"][0]["partitions"]:
        assert not validate.check(PartitionExtras, partition["extras"], "local").model_extra
    for environment in ours["environments"]:
        assert not validate.check(EnvironmentExtras, environment["extras"], "local").model_extra


def test_what_reframe_adds_is_no_slip() -> None:
    """It puts the names of scheduler and launcher among the extras of a partition."""
    context = runtime.RuntimeContext(config.load_config(local.__file__))
    (partition,) = context.system.partitions
    assert {"scheduler", "launcher"} <= set(partition.extras)
    assert extras_of_partition(partition) == local.site_configuration["systems"][0]["partitions"][0]["extras"]
    partition.extras["bind"] = "yes"
    with pytest.raises(ReframeError, match="extras of loopback: bind: a valid boolean is wanted, not 'yes'"):
        extras_of_partition(partition)
