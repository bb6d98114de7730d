# SPDX-License-Identifier: BSD-3-Clause
"""./bench scaling: a session of predictions for each number of ranks, and a table of all of them."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from harness.cli import main
from harness.commands.scaling import FEWER, MOST, RANKS
from harness.setup import environment
from harness.tests.sessions import bench, facts
from reframe_checks.catalogue import by_names
from reframe_checks.studies.scaling import part_of_grid


def test_the_plan_doubles_the_ranks_and_leaves_out_what_takes_too_long(
    capsys: pytest.CaptureFixture[str], results: Path
) -> None:
    assert main(["scaling", "--list"]) == 0
    parts = re.findall(r"^(\d+) ranks:\n((?:(?!\d+ ranks).*\n)+)", capsys.readouterr().out, re.MULTILINE)
    assert tuple(dict.fromkeys(int(ranks) for ranks, _ in parts)) == RANKS["scaling"]
    for name, most in FEWER.items():
        assert [int(ranks) for ranks, part in parts if name in part] == [n for n in RANKS["scaling"] if n <= most]
    assert "scaling-halo on simulated, mpich: 2 launches of 1 points (adaptive, bare)" in dict(parts[:-1])[str(MOST)]
    assert main(["scaling", "scaling-fft", "--ranks", "1024", "--list"]) == 0, "who asks for it gets it"
    assert "scaling-fft on simulated" in capsys.readouterr().out
    assert not results.exists()


def test_a_part_of_the_grid_has_its_share_of_volume_and_surface() -> None:
    assert part_of_grid(64) == {"size_bytes": f"{1 << 20}", "comp_s": "0.056"}
    assert part_of_grid(512) == {"size_bytes": f"{1 << 18}", "comp_s": "0.007"}


def test_a_setting_of_the_engine_is_changed_alone() -> None:
    (study,) = by_names(["wakes-adaptive-halo"])
    scale = study.scale("quick", {})
    launches = study.launches("x", scale, list(scale.variants), 1)
    assert [launch.engine for launch in launches if launch.variant == "bare"] == [[]]
    changed = [launch.engine for launch in launches if launch.variant == "adaptive"]
    assert sorted(map(len, changed)) == [0, *[1] * 10]
    assert {setting.partition("=")[0] for one in changed for setting in one} == {
        "min_distance_us", "start_distance_us", "max_distance_us", "timer_us", "rest_us",
    }  # fmt: skip


def test_two_settings_may_have_the_same_value() -> None:
    (study,) = by_names(["wakes-adaptive-halo"])
    scale = study.scale("quick", {})
    grids = tuple(scale.grids[0] | {name: (500,)} for name in ("timer_us", "rest_us"))
    assert study.sweep(replace(scale, grids=grids)).values == [
        ({"timer_us": 500}, ["timer_us=500"]),
        ({"rest_us": 500}, ["rest_us=500"]),
    ]


@pytest.mark.full
@pytest.mark.timeout(300)
def test_it_leaves_a_session_for_each_number_of_ranks(results: Path) -> None:
    if environment.missing_packages("simulator"):
        pytest.skip("SimGrid is not here: apt-get install libsimgrid-dev")
    done = bench("scaling", "scaling-halo", "wakes-timer-halo", "--ranks", "2,4")
    assert done.returncode == 0, done.stdout + done.stderr
    made = sorted(path for path in results.iterdir() if (path / "session.json").exists() and not path.is_symlink())
    assert [facts(session)["request"]["nodes"] for session in made] == [2, 4]
    assert all(facts(session)["state"] == "complete" and facts(session)["simulated"] for session in made)
    assert facts(made[-1])["command"][0] == "scaling"
    assert "| 4 | " in done.stdout
    assert re.search(r"\| timer, timer_us 500 \| [−\d]+ % \| [−\d]+ % \|", done.stdout), "the record tells the setting"
    again = bench("scaling", "--table", ",".join(session.name for session in made))
    assert again.stdout == done.stdout
