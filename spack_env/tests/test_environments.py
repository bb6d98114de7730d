# SPDX-License-Identifier: BSD-3-Clause
"""What can be said of environments and templates without Spack."""

from __future__ import annotations

import re
from typing import Any

import pytest
import yaml

from harness.base.paths import ROOT
from spack_env.make_site import MPI_PACKAGES, TEMPLATES, merge, templates
from spack_env.table import ENVIRONMENTS
from spack_env.tests.test_recipes import PROJECTS, recipe_file
from workloads.apps.kernels import NPB
from workloads.apps.table import CODES

ENVIRONMENTS_DIR = ROOT / "spack_env" / "environments"


def environment(name: str) -> dict[str, Any]:
    tree: dict[str, dict[str, Any]] = yaml.safe_load((ENVIRONMENTS_DIR / name / "spack.yaml").read_text())
    return tree["spack"]


def test_the_table_names_every_environment() -> None:
    assert {path.parent.name for path in ENVIRONMENTS_DIR.glob("*/spack.yaml")} == set(ENVIRONMENTS)


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_an_environment(name: str) -> None:
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


def test_what_the_environments_share() -> None:
    common = yaml.safe_load((ENVIRONMENTS_DIR / "common.yaml").read_text())
    assert (ENVIRONMENTS_DIR / common["repos"]["overlap_bench"] / "repo.yaml").is_file()
    for name, developed in common["develop"].items():
        assert (ENVIRONMENTS_DIR / developed["path"]).resolve() == PROJECTS[name.replace("-", "_")]
        assert recipe_file(name.replace("-", "_")).is_file()


def test_mvapich2_is_allowed_explicitly() -> None:
    assert environment("mvapich2")["config"]["deprecated"] is True
    assert "2.3.7" in environment("mvapich2")["packages"]["mvapich2"]["require"][0]


@pytest.mark.parametrize("name", templates())
def test_a_template(name: str) -> None:
    """A template says how an MPI would be built and never which MPI: that is what the environments are for."""
    packages = yaml.safe_load((TEMPLATES / f"{name}.yaml").read_text())["packages"]
    assert "mpi" not in packages
    for package, entry in merge(packages, []).items():
        # `require` would keep out a system's own library that does not say how it was built
        assert set(entry) <= {"buildable", "externals", "prefer", "variants"}, package
        for external in entry.get("externals", []):
            assert external["spec"].startswith(f"{package}@")
            assert external["prefix"] not in ("/usr", "/") or package not in MPI_PACKAGES
