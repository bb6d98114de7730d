# SPDX-License-Identifier: BSD-3-Clause
"""Lint of recipes, environments and templates, without Spack; and that the lint finds what it is there to find."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.base.paths import ROOT
from spack_env.lint import load, problems
from spack_env.make_site import MPI_PACKAGES, TEMPLATES, merge, templates
from spack_env.table import ENVIRONMENTS
from workloads.apps.kernels import NPB
from workloads.apps.table import CODES

ENVIRONMENTS_DIR = ROOT / "spack_env" / "environments"
PACKAGES = ROOT / "spack_env" / "repo" / "spack_repo" / "overlap_bench" / "packages"
PROJECTS = {"progress_engine": ROOT / "progress_engine", "overlap_bench_workloads": ROOT / "workloads"}


def recipe(name: str) -> Path:
    return PACKAGES / name / "package.py"


@pytest.mark.parametrize("name", PROJECTS)
def test_lint_of_a_recipe(name: str) -> None:
    assert problems(recipe(name), PROJECTS[name]) == []


def test_every_recipe_is_linted() -> None:
    assert {path.name for path in PACKAGES.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(PROJECTS)


def test_the_recipe_builds_every_workload_unless_told_otherwise() -> None:
    """A variant stands for each one that CMake passes over where something is missing; only the tests are extra."""
    recipe_of_all = load(recipe("overlap_bench_workloads"))
    defaults = {name: options["default"] for (name, *_), options in recipe_of_all.calls["variant"]}
    passed_over = {
        path.parent.name
        for path in PROJECTS["overlap_bench_workloads"].rglob("CMakeLists.txt")
        if "return()" in path.read_text()
    }
    assert passed_over == {"tasks", "ult"}
    assert defaults == {"core": True, "ult": True, "tests": False}


SPOILED = {
    "no class": ("class ProgressEngine", "class Engine", "wants one class ProgressEngine"),
    "no licence": ('license("BSD-3-Clause")', "", "no license()"),
    "no version": ('version("main", branch="main")', "", "no version()"),
    "misspelt variant": ('when="+tests"', 'when="+test"', "no variant test"),
    "misspelt in a definition": (
        '"OVERLAP_BENCH_TESTS", "tests"',
        '"OVERLAP_BENCH_TESTS", "checks"',
        "no variant checks",
    ),
    "no such option": ('"OVERLAP_BENCH_TESTS", "tests"', '"OVERLAP_TESTS", "tests"', "no option OVERLAP_TESTS"),
    "no dependency": ('depends_on("mpi")', "", "looks for MPI"),
    "no library": ('depends_on("hwloc@2:", when="+hwloc")', "", "looks for the library HWLOC"),
    "misspelt directive": ('depends_on("mpi")', 'depend_on("mpi")', "does not load: NameError"),
    "unknown import": ("from pathlib import Path", "from spack.package import shiny", "does not load: ImportError"),
}


@pytest.mark.parametrize(("old", "new", "words"), SPOILED.values(), ids=SPOILED.keys())
def test_the_lint_finds(old: str, new: str, words: str, tmp_path: Path) -> None:
    spoiled = tmp_path / recipe("progress_engine").relative_to(ROOT)  # it counts folders up to the repository
    spoiled.parent.mkdir(parents=True)
    text = recipe("progress_engine").read_text()
    assert old in text
    spoiled.write_text(text.replace(old, new))
    assert any(words in problem for problem in problems(spoiled, PROJECTS["progress_engine"]))


def environment(name: str) -> dict[str, Any]:
    tree: dict[str, dict[str, Any]] = yaml.safe_load((ENVIRONMENTS_DIR / name / "spack.yaml").read_text())
    return tree["spack"]


def test_the_table_names_every_environment() -> None:
    assert {path.parent.name for path in ENVIRONMENTS_DIR.glob("*/spack.yaml")} == set(ENVIRONMENTS)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_lint_of_an_environment(name: str) -> None:
    """It asks for its own MPI, for our packages by names that there are recipes for, and includes what it says."""
    tree = environment(name)
    assert tree["packages"]["mpi"]["require"] == [ENVIRONMENTS[name].package]
    names = {re.split(r"[@+~ ]", spec)[0] for spec in tree["specs"]}
    ours = {"progress-engine", "overlap-bench-workloads"}
    assert (ours <= names) == bool(ENVIRONMENTS[name].library)
    for included in tree["include"]:
        assert (ENVIRONMENTS_DIR / name / included["path"]).is_file()


BY_THEMSELVES = {"fenics-dolfinx", "openfoam", "quantum-espresso", "meep", "nwchem"}  # why: its spack.yaml says it


def test_the_environment_of_other_peoples_codes_has_all_that_are_run() -> None:
    """As workloads/apps says that each is installed; of NPB every program and class, since each is built for one."""
    specs: list[str] = environment("third-party")["specs"]
    assert set(specs) >= {code.spack for code in CODES if code.spack and code is not NPB} - BY_THEMSELVES
    assert {spec.split()[0] for spec in specs} == {
        code.spack.split()[0] for code in CODES if code.spack
    } - BY_THEMSELVES
    (npb,) = [spec.split() for spec in specs if spec.startswith("npb ")]
    assert set(NPB.spack.split()) <= set(npb)
    built = {name: set(values.split(",")) for name, _, values in (word.partition("=") for word in npb)}
    programs = [case.program.split(".") for case in NPB.cases]
    assert {name for name, _, _ in programs} <= built["names"]
    assert {size for _, size, _ in programs} <= built["classes"]


def test_lint_of_what_the_environments_share() -> None:
    common = yaml.safe_load((ENVIRONMENTS_DIR / "common.yaml").read_text())
    assert (ENVIRONMENTS_DIR / common["repos"]["overlap_bench"] / "repo.yaml").is_file()
    for name, developed in common["develop"].items():
        assert (ENVIRONMENTS_DIR / developed["path"]).resolve() == PROJECTS[name.replace("-", "_")]
        assert recipe(name.replace("-", "_")).is_file()


def test_mvapich2_is_allowed_explicitly() -> None:
    assert environment("mvapich2")["config"]["deprecated"] is True
    assert "2.3.7" in environment("mvapich2")["packages"]["mvapich2"]["require"][0]


@pytest.mark.parametrize("name", templates())
def test_lint_of_a_template(name: str) -> None:
    """A template says how an MPI would be built and never which MPI: that is what the environments are for."""
    packages = yaml.safe_load((TEMPLATES / f"{name}.yaml").read_text())["packages"]
    assert "mpi" not in packages
    for package, entry in merge(packages, []).items():
        # `require` would keep out a system's own library that does not say how it was built
        assert set(entry) <= {"buildable", "externals", "prefer", "variants"}, package
        for external in entry.get("externals", []):
            assert external["spec"].startswith(f"{package}@")
            assert external["prefix"] not in ("/usr", "/") or package not in MPI_PACKAGES
