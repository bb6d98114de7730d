# SPDX-License-Identifier: BSD-3-Clause
"""A program that names no MPI gets the engine that fits when one appears: linked with what it starts, or by dlopen."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from harness.base.paths import VENV

from .conftest import ALL, Launcher, compiled, lines, reports
from .test_offload import usable
from .test_tools import BUILT

# What a prefix has engines for, and which of them a program gets that names this MPI library.
ENGINES = ("libmpi.so.12", "libmpi.so.40", "libmpi_abi.so.1")
TAKEN = {
    "libmpi.so.12": "libmpi.so.12", "libmpich.so.12": "libmpi.so.12", "libmpi_cray.so.12": "libmpi.so.12",
    "libmpi.so.40": "libmpi.so.40", "libmpi_abi.so.1": "libmpi_abi.so.1", "libmpi_abi.so.1.0": "libmpi_abi.so.1",
    "libmpi_ibm.so.3": "", "libc.so.6": "chosen later",
}  # fmt: skip
needs_build = pytest.mark.skipif(not BUILT, reason="the engine is not built")


def shared(folder: Path, soname: str, text: str = "", *link: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    command: list[str | Path] = [
        "gcc",
        "-shared",
        "-fPIC",
        f"-Wl,-soname,{soname}",
        "-o",
        folder / soname,
        "-xc",
        "-",
        "-xnone",
        *link,
    ]
    subprocess.run(command, input=text, text=True, check=True)
    return folder / soname


def mpi_library(folder: Path, soname: str) -> Path:
    return shared(folder, soname, "int PMPI_Init(void) { return 0; }")


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """As several builds are installed into one: empty engines, since no program here has an MPI."""
    place = tmp_path_factory.mktemp("prefix")
    (place / "bin").mkdir()
    for tool in ("progress-run", "progress-info"):
        shutil.copy(BUILT[0].build_dir / "bin" / tool, place / "bin")
    for name in ENGINES:
        folder = place / "lib" / "progress_engine" / name
        shared(folder, "libprogress_engine.so")
        shutil.copy(BUILT[0].build_dir / "lib" / "libprogress_chooser.so", folder)
    return place


def ran(prefix: Path, *command: str | Path, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"LD_PRELOAD": "", "MPI4PY_MPIABI": "", **variables}
    words = [str(prefix / "bin" / "progress-run"), "--", *map(str, command)]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=False, timeout=120)


def own_mpi(prefix: Path) -> str:
    described = subprocess.check_output([prefix / "bin" / "progress-info", "--json"], timeout=120)
    return str(json.loads(described)["built_for"])


def library(prefix: Path, mpi: str, name: str = "engine") -> str:
    return f"{prefix}/lib/progress_engine/{mpi}/libprogress_{name}.so"


PRELOADED = '#include <stdio.h>\n#include <stdlib.h>\nint main(void) { puts(getenv("LD_PRELOAD")); }\n'


def linked_program(folder: Path, soname: str) -> Path:
    """Prints what is preloaded."""
    (folder / "p.c").write_text(PRELOADED)
    link = []
    if soname != "libc.so.6":
        link = ["-Wl,--no-as-needed", str(mpi_library(folder, soname)), f"-Wl,-rpath,{folder}"]
    subprocess.run(["gcc", "-o", folder / "p", folder / "p.c", *link], check=True)
    return folder / "p"


# By itself, as what it is known by; by others, which name no MPI.
STARTED_BY = {
    "itself": ["{}"],
    "what is named before it": ["env", "-u", "NOTHING", "{}"],
    "a shell that becomes it": ["sh", "-c", "exec '{}'"],
    "a shell that waits for it": ["sh", "-c", "'{}'; exit $?"],
    "a shell in a shell": ["sh", "-c", "sh -c '{}; exit'; exit"],
}


@needs_build
@pytest.mark.parametrize("by", STARTED_BY)
@pytest.mark.parametrize("soname", TAKEN)
def test_a_program_gets_the_engine_for_the_mpi_that_it_is_linked_with(
    soname: str, by: str, prefix: Path, tmp_path: Path
) -> None:
    program = linked_program(tmp_path, soname)
    result = ran(prefix, *(word.format(program) for word in STARTED_BY[by]))
    mpi = TAKEN[soname]
    if mpi == "chosen later":
        assert (result.stdout, result.stderr) == (library(prefix, own_mpi(prefix), "chooser") + "\n", "")
    elif mpi:
        assert (result.returncode, result.stdout, result.stderr) == (0, library(prefix, mpi) + "\n", "")
    else:
        assert result.stderr.count("\n") == 1
        assert f"uses {soname}, and the engine here was built for" in result.stderr
        assert all(name in result.stderr for name in ENGINES)


@needs_build
@pytest.mark.parametrize(("said", "wanted"), [("mpiabi", 2), ("openmpi", 1), ("impi", 0)])
def test_mpi4py_says_which_mpi_it_will_load(said: str, wanted: int, prefix: Path, tmp_path: Path) -> None:
    result = ran(prefix, linked_program(tmp_path, "libc.so.6"), MPI4PY_MPIABI=said)
    assert (result.stdout, result.stderr) == (library(prefix, ENGINES[wanted]) + "\n", "")


@needs_build
def test_the_engines_of_a_prefix_are_listed(prefix: Path) -> None:
    described = subprocess.check_output([prefix / "bin" / "progress-info", "--json"], timeout=120)
    assert json.loads(described)["engines"] == sorted(ENGINES)


@needs_build
def test_started_anew_a_program_has_its_arguments_its_name_and_its_descriptors(prefix: Path, tmp_path: Path) -> None:
    """As a launcher's sockets are, those are inherited."""
    program = linked_program(tmp_path, "libmpi.so.40")
    (tmp_path / "p.c").write_text(
        "#include <stdio.h>\n#include <unistd.h>\n"
        "int main(int argc, char** argv) {\n"
        "  for (int i = 0; i < argc; ++i) puts(argv[i]);\n"
        "  return (int)read(5, argv[0], 1);\n}\n"
    )
    link = ["-Wl,--no-as-needed", str(tmp_path / "libmpi.so.40"), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-o", program, tmp_path / "p.c", *link], check=True)
    result = ran(prefix, "bash", "-c", f"exec -a 'a name' {program} '' 'two words' 5</dev/zero")
    assert (result.returncode, result.stdout, result.stderr) == (1, "a name\n\ntwo words\n", "")


# Opens the first of its arguments that is there, and prints what engines and MPIs it has then, as they were loaded.
OPENER = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdio.h>
#include <string.h>
static int show(struct dl_phdr_info* info, size_t size, void* none) {
  (void)size, (void)none;
  const char* file = strrchr(info->dlpi_name, '/');
  if (file && (!strncmp(file, "/libprogress_engine", 19) || !strncmp(file, "/libmpi", 7))) puts(info->dlpi_name);
  return 0;
}
int main(int argc, char** argv) {
  void* opened = NULL;
  for (int i = 1; i < argc && !opened; ++i) opened = dlopen(argv[i], RTLD_NOW | RTLD_LOCAL);
  if (!opened) return puts(dlerror()), 1;
  dl_iterate_phdr(show, NULL);
}
"""


@pytest.fixture(scope="module")
def opener(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With libmpi.so.40 beside it by all of its names, and plug-ins that bring it."""
    folder = tmp_path_factory.mktemp("opener")
    mpi = mpi_library(folder / "mpi", "libmpi.so.40")
    (folder / "mpi" / "libmpi.so").symlink_to(mpi.name)
    link = ("-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN/mpi", str(mpi))
    shared(folder, "plugin.so", "", *link)
    middle = shared(folder, "libmiddle.so", "", *link)
    shared(folder, "indirect.so", "", "-Wl,--no-as-needed", "-Wl,-rpath,$ORIGIN", str(middle))
    opens = '#include <dlfcn.h>\n__attribute__((constructor)) void f(void) { dlopen("libmpi.so.40", RTLD_NOW); }'
    shared(folder, "opens.so", opens, "-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/mpi")
    subprocess.run(["gcc", "-o", folder / "opener", "-xc", "-"], input=OPENER, text=True, check=True)
    return folder / "opener"


# What is opened: by the file, by the loader's search path with either name, what is linked with it and what is so by
# another library, all out of the global scope.
OPENED = {"mpi/libmpi.so.40": "", "libmpi.so.40": "mpi", "libmpi.so": "mpi", "plugin.so": "", "indirect.so": ""}


@needs_build
@pytest.mark.parametrize("what", OPENED)
def test_before_an_mpi_is_opened_the_engine_for_it_is(what: str, prefix: Path, opener: Path) -> None:
    folder = opener.parent
    name, path = (what, str(folder / "mpi")) if OPENED[what] else (str(folder / what), "")
    result = ran(prefix, opener, name, LD_LIBRARY_PATH=path)
    engine, mpi = result.stdout.splitlines()
    assert (engine, Path(mpi).parent.name, result.stderr) == (library(prefix, "libmpi.so.40"), "mpi", "")


@needs_build
@pytest.mark.parametrize("absent", ["libmpi.so.12", "/nowhere/libmpi.so.12", "libmpi.so"])
def test_a_name_that_is_not_there_decides_nothing(absent: str, prefix: Path, opener: Path) -> None:
    """mpi4py tries several."""
    result = ran(prefix, opener, absent, opener.parent / "plugin.so", LD_LIBRARY_PATH="")
    assert result.stdout.splitlines()[0] == library(prefix, "libmpi.so.40"), result.stdout


@needs_build
def test_what_a_library_opens_is_found_where_it_says(prefix: Path, opener: Path) -> None:
    """dlopen goes by the search path of its caller, which stays the caller. The MPI is not seen beforehand."""
    result = ran(prefix, opener, opener.parent / "opens.so", LD_LIBRARY_PATH="")
    assert result.stdout.splitlines()[-1:] == [str(opener.parent / "mpi" / "libmpi.so.40")], result.stdout


@needs_build
def test_what_cannot_be_opened_is_said_as_without(prefix: Path, opener: Path) -> None:
    bare = subprocess.run([opener, "/none.so"], capture_output=True, text=True, check=False, timeout=120)
    result = ran(prefix, opener, "/none.so")
    assert (result.returncode, result.stdout, result.stderr) == (1, bare.stdout, "")


MPI_BEGINS = "int begun; int PMPI_Init(void) { return 0; } int PMPI_Initialized(int* said) { *said = begun; return 0; }"


@needs_build
def test_a_program_whose_mpi_has_begun_is_not_started_anew(prefix: Path, tmp_path: Path) -> None:
    mpi = shared(tmp_path, "libmpi.so.40", MPI_BEGINS)
    begins = "extern int begun; __attribute__((constructor)) void f(void) { begun = 1; }"
    early = shared(tmp_path, "libearly.so", begins, str(mpi))
    (tmp_path / "p.c").write_text(PRELOADED)
    link = ["-Wl,--no-as-needed", str(early), str(mpi), f"-Wl,-rpath,{tmp_path}"]
    subprocess.run(["gcc", "-o", tmp_path / "p", tmp_path / "p.c", *link], check=True)
    result = ran(prefix, "sh", "-c", f"exec {tmp_path}/p")
    assert result.stdout == library(prefix, own_mpi(prefix), "chooser") + "\n"
    assert "began MPI before the engine for libmpi.so.40 could be chosen" in result.stderr
    assert ran(prefix, tmp_path / "p").stdout == library(prefix, "libmpi.so.40") + "\n"


@needs_build
def test_under_valgrind_a_program_is_not_started_anew(prefix: Path, tmp_path: Path) -> None:
    """It would run by itself from then on. Named behind it, it has its engine from the beginning."""
    program = linked_program(tmp_path, "libmpi.so.40")
    valgrinds = shared(tmp_path, "vgpreload_core.so")  # which it preloads, too
    result = ran(prefix, "sh", "-c", f"LD_PRELOAD=$LD_PRELOAD:{valgrinds} exec {program}")
    assert result.stdout == f"{library(prefix, own_mpi(prefix), 'chooser')}:{valgrinds}\n"
    assert "Valgrind would lose the program before the engine for libmpi.so.40 could be chosen" in result.stderr


SONAMES = {"mpich": "libmpi.so.12", "openmpi": "libmpi.so.40", "standard-abi of mpich": "libmpi_abi.so.1"}


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Real ones, as for a site."""
    place = tmp_path_factory.mktemp("installed")
    for mpi in map(usable, SONAMES):
        install = [str(VENV / "bin" / "cmake"), "--install", str(mpi.build_dir / "progress_engine")]
        subprocess.run([*install, f"--prefix={place}"], check=True, capture_output=True, timeout=120)
    return place


# By itself, by a shell, out of the global scope by the name of a plug-in.
BROUGHT = ("itself", "a shell that waits for it", "dlopen")


@pytest.mark.mpi
@pytest.mark.parametrize("preset", ["adaptive", pytest.param("offload", marks=pytest.mark.full)])
@pytest.mark.parametrize("by", BROUGHT)
@pytest.mark.parametrize("name", SONAMES)
def test_one_prefix_serves_programs_of_all(name: str, by: str, preset: str, installed: Path, tmp_path: Path) -> None:
    mpi = ALL[name]
    words: tuple[str, ...] = ("both_ways",)
    if by == "dlopen":
        plugin = compiled(mpi, "hazards.c", tmp_path, "-DPLUGIN", "-ldl", library="plugin.so")
        program = Launcher(mpi, compiled(mpi, "host.c", tmp_path, "-ldl"))
        words = (str(plugin), "messages")
    else:
        program = Launcher(mpi, compiled(mpi, "operations.c", tmp_path, "-lpthread"))
    if "shell" in by:
        script = tmp_path / "script"
        script.write_text(f'#!/bin/sh\n"{program.program}" "$@"\nexit $?\n')
        script.chmod(0o755)
        program = Launcher(mpi, script)
    tool = (str(installed / "bin" / "progress-run"), "--strict", "--variant", preset)
    report = ("--set", f"report_file={tmp_path}/report.%r")
    bare = program.run(*words)
    result = program.run(*words, prefix=(*tool, *report, "--"))
    assert (bare.returncode, result.returncode) == (0, 0), result.stderr
    assert lines(result.stdout) == lines(bare.stdout) != []
    found = [(one["active"], one["preset"], one["abi"], one["pending"]) for one in reports(tmp_path)]
    assert found == [(True, preset, SONAMES[name], 0)] * 2
