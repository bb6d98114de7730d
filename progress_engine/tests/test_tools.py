# SPDX-License-Identifier: BSD-3-Clause
"""progress-run and progress-info, without an MPI running."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from harness.base.mpis import MPIS

from .conftest import PRESETS

BUILT = [mpi for mpi in MPIS.values() if (mpi.build_dir / "bin" / "progress-run").exists()]
pytestmark = pytest.mark.skipif(not BUILT, reason="the engine is not built")


def run(tool: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [BUILT[0].build_dir / "bin" / tool, *arguments], capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--variant", "nope", "--", "true"], "unknown variant 'nope'"),
        (["--set", "foo=1", "--", "true"], "unknown setting 'foo'"),
        (["--set", "foo", "--", "true"], "KEY=VALUE"),
        (["--set", "timer_us=soon", "--", "true"], "timer_us=soon is not valid"),
        (["--set", "trigger=always", "--", "true"], "trigger=always"),
        (["--frobnicate", "--", "true"], "--frobnicate"),
        (["--variant", "off"], "command is required"),
        (["--", "no-such-program"], "no-such-program"),
    ],
)
def test_what_is_wrong_is_refused_in_a_sentence(arguments: list[str], says: str) -> None:
    result = run("progress-run", *arguments)
    assert result.returncode == 2
    assert result.stdout == ""
    assert result.stderr.startswith("progress-run: ")
    assert says in result.stderr
    assert result.stderr.count("\n") == 1


def test_the_program_gets_its_arguments_and_its_status_comes_back() -> None:
    result = run("progress-run", "--variant", "idle", "--", "sh", "-c", 'echo "$1"; exit 5', "-", "--variant")
    assert (result.returncode, result.stdout, result.stderr) == (5, "--variant\n", "")


def test_settings_reach_the_program() -> None:
    result = run("progress-run", "--variant", "timer", "--set", "timer_us=70", "--report", "--", "env")
    assert {"PROGRESS_ENGINE=timer", "PROGRESS_ENGINE_TIMER_US=70", "PROGRESS_ENGINE_REPORT=1"} <= set(
        result.stdout.splitlines()
    )


def test_relative_names_of_files_are_those_of_the_folder_where_it_was_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "settings.conf").write_text("timer_us = 70\n")
    monkeypatch.chdir(tmp_path)
    files = ["--config", "settings.conf", "--report-file", "out/report.%r"]
    said = run("progress-run", "--variant", "timer", *files, "--", "sh", "-c", "cd /; env").stdout.splitlines()
    assert {
        f"PROGRESS_ENGINE_CONFIG={tmp_path}/settings.conf",
        f"PROGRESS_ENGINE_REPORT_FILE={tmp_path}/out/report.%r",
    } <= set(said)


def test_settings_from_a_file_reach_the_program_and_progress_info(tmp_path: Path) -> None:
    file = tmp_path / "settings"
    file.write_text("variant = timer\ntimer_us = 70  # short\n")
    result = run("progress-run", "--config", str(file), "--set", "idle_us=3", "--", "env")
    assert {"PROGRESS_ENGINE=timer", f"PROGRESS_ENGINE_CONFIG={file}", "PROGRESS_ENGINE_IDLE_US=3"} <= set(
        result.stdout.splitlines()
    )
    described = subprocess.run(
        [BUILT[0].build_dir / "bin" / "progress-info", "--json"], env={"PROGRESS_ENGINE_CONFIG": str(file)},
        capture_output=True, text=True, check=True, timeout=120,
    )  # fmt: skip
    settings = {setting["key"]: setting for setting in json.loads(described.stdout)["settings"]}
    assert (settings["timer_us"]["value"], settings["timer_us"]["origin"]) == ("70", str(file))
    assert settings["points"]["origin"] == "variant timer"
    assert settings["rest_us"]["origin"] == "default"


def test_a_line_of_the_file_that_is_wrong_is_named(tmp_path: Path) -> None:
    file = tmp_path / "settings"
    file.write_text("\ntimer_us = soon\n")
    result = run("progress-run", "--config", str(file), "--", "true")
    assert (result.returncode, result.stderr.count("\n")) == (2, 1)
    assert f"{file}, line 2: timer_us=soon is not valid" in result.stderr


def test_a_static_program_runs_without_the_engine_unless_strict(tmp_path: Path) -> None:
    source, program = tmp_path / "static.c", tmp_path / "static"
    source.write_text("int main(void) { return 4; }\n")
    subprocess.run(["gcc", "-static", "-o", program, source], check=True)
    result = run("progress-run", "--", str(program))
    assert result.returncode == 4
    assert "statically linked" in result.stderr
    assert run("progress-run", "--strict", "--", str(program)).returncode == 2


@pytest.mark.parametrize("soname", ["libmpi.so.99", "libmpi_ibm.so.3"])
def test_a_program_of_another_mpi_runs_without_the_engine_unless_strict(soname: str, tmp_path: Path) -> None:
    source, program, library = tmp_path / "p.c", tmp_path / "p", tmp_path / soname
    source.write_text("int main(void) { return 0; }\n")
    subprocess.run(["gcc", "-shared", f"-Wl,-soname,{soname}", "-o", library, "-xc", "/dev/null"], check=True)
    link = ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-o", program, source, *link], check=True)
    result = run("progress-run", "--", str(program))
    assert result.returncode == 0
    assert f"uses {soname}" in result.stderr
    assert run("progress-run", "--strict", "--", str(program)).returncode == 2


# (what runs after `progress-run --`, is told)
WITHOUT_MPI = {
    "a program": (["./program"], True),
    "in place of another": (["env", "A=1", "./program"], True),
    "one that starts others": (["sh", "-c", "./program; true"], False),
}


@pytest.mark.parametrize("how", WITHOUT_MPI)
def test_a_program_without_mpi_is_told_so(how: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    command, told = WITHOUT_MPI[how]
    (tmp_path / "program.c").write_text("int main(int argc, char** argv) { return argc - 1; }\n")
    subprocess.run(["gcc", "-o", tmp_path / "program", tmp_path / "program.c"], check=True)
    monkeypatch.chdir(tmp_path)
    plain = run("progress-run", "--", *command)
    assert (plain.returncode, plain.stderr) == (0, "")
    reported = run("progress-run", "--report", "--report-file", "report", "--", *command)
    assert reported.returncode == 0
    assert reported.stderr.count("the program has no MPI") == told == (tmp_path / "report").exists()
    assert reported.stderr.count("\n") == 1, "who starts others is told that none of them had one"
    if told:
        assert "has no MPI" in json.loads((tmp_path / "report").read_text())["reason"]
    strict = run("progress-run", "--strict", "--", *command)
    assert (strict.returncode, strict.stderr.count("the program has no MPI")) == (2, int(told))
    assert strict.stderr.count("\n") == 1
    assert run("progress-run", "--strict", "--variant", "off", "--", *command).returncode == 0
    if told:  # its own failure is worth more
        assert run("progress-run", "--strict", "--", *command, "4", "5", "6").returncode == 3


# How the program is started: by itself, or by others, of which nothing is known beforehand.
STARTED_BY = {"itself": [], "env": ["env", "A=1"], "a shell": ["sh", "-c", 'exec "$0"']}


@pytest.mark.parametrize("by", STARTED_BY)
def test_a_program_with_the_address_sanitizer_runs(by: str, tmp_path: Path) -> None:
    source, program = tmp_path / "sanitized.c", tmp_path / "sanitized"
    source.write_text('#include <stdlib.h>\nint main(void) { return getenv("LD_PRELOAD") ? 4 : 5; }\n')
    subprocess.run(["gcc", "-fsanitize=address", "-o", program, source], check=True)
    result = run("progress-run", "--", *STARTED_BY[by], str(program))
    assert (result.returncode, result.stderr) == (4, "")


ORDER = "verify_asan_link_order"


@pytest.mark.parametrize(("given", "seen"), [("a=1", f"a=1:{ORDER}=0"), (f"{ORDER}=1", f"{ORDER}=1")])
def test_what_the_user_asks_of_the_sanitizer_stays(given: str, seen: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASAN_OPTIONS", given)
    assert f"ASAN_OPTIONS={seen}" in run("progress-run", "--", "env").stdout.splitlines()


def test_clangs_name_of_the_sanitizers_library_is_known(tmp_path: Path) -> None:
    library, program = tmp_path / "libclang_rt.asan-x86_64.so", tmp_path / "program"
    subprocess.run(["gcc", "-shared", f"-Wl,-soname,{library.name}", "-o", library, "-xc", "/dev/null"], check=True)
    (tmp_path / "program.c").write_text(
        '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("LD_PRELOAD")); }\n'
    )
    link = ["-Wl,--no-as-needed", str(library), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-o", program, tmp_path / "program.c", *link], check=True)
    result = run("progress-run", "--", str(program))
    assert (result.stdout.startswith(f"{library.name}:"), result.stderr) == (True, "")


def test_nothing_is_started_but_the_program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On each rank of a large job a second process would read all of the program's libraries once more."""
    monkeypatch.setenv("LD_DEBUG", "files")
    monkeypatch.setenv("LD_DEBUG_OUTPUT", str(tmp_path / "loader"))
    assert run("progress-run", "--", "true").returncode == 0
    assert len(list(tmp_path.glob("loader.*"))) == 1, "a process each"


def test_progress_info_describes_machine_settings_and_presets() -> None:
    info = json.loads(run("progress-info", "--json").stdout)
    assert set(PRESETS) <= set(info["presets"])
    assert all(preset["summary"] and preset["settings"] for preset in info["presets"].values())
    assert all(setting["meaning"] and setting["key"] for setting in info["settings"])
    assert info["machine"]["cpus"]
    assert info["machine"]["slice_ns"] is None or info["machine"]["slice_ns"] > 0
    text = run("progress-info")
    assert text.returncode == 0
    assert all(setting["key"] in text.stdout for setting in info["settings"])


def test_progress_info_refuses_what_it_does_not_know() -> None:
    result = run("progress-info", "--frobnicate")
    assert result.returncode == 2
    assert result.stderr.startswith("progress-info: ")


def test_a_file_that_is_no_report_is_refused(tmp_path: Path) -> None:
    for name, text in {"none": None, "other": "{", "wrong": '{"rank": "two"}'}.items():
        if text is not None:
            (tmp_path / name).write_text(text)
        result = run("progress-info", "--job", str(tmp_path / name))
        assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
        assert f"{name}: no report of the engine's" in result.stderr
