# SPDX-License-Identifier: BSD-3-Clause
"""With a real Spack: every environment concretises with the MPI it is for, and what it installs runs on two ranks.

Skipped where no Spack is on PATH, and counted so in the last line of ./bench test. MPICH stands for all by default; the
others, the recipes' variants and a whole run on virtual nodes come with --full.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.base.errors import Failure
from harness.base.paths import ROOT
from harness.cli import main
from harness.tests import compiler
from harness.tests.sessions import bench
from spack_env import make_site, mpi_environments
from spack_env import site_environment as spack
from spack_env import smoke as spack_smoke
from spack_env.mpi_environments import ENVIRONMENTS
from spack_env.site_environment import FROM_SPACK, HERE, SiteEnvironment

pytestmark = [pytest.mark.spack, pytest.mark.slow, pytest.mark.timeout(1200)]

DEFAULT = "mpich"
PROGRAMS = {"progress-run", "progress-info"} | {
    name
    for path in (ROOT / "workloads").rglob("CMakeLists.txt")
    if path.parent.name != "tests"
    for name in re.findall(r"add_executable\((\w+)", path.read_text())
}
BUILT = [environment.environment.name for environment in FROM_SPACK.values()]  # those whose MPI is here: the wheels'


def each(names: list[str]) -> list[Any]:
    """One by default, the others with --full."""
    return [name if name == DEFAULT else pytest.param(name, marks=pytest.mark.full) for name in names]


@pytest.fixture(scope="module", autouse=True)
def _spack() -> None:
    if reason := spack.supported():
        pytest.skip(f"needs Spack ({reason.split(':')[0].rstrip('.')})")


def here(name: str) -> SiteEnvironment:
    spack.ensure_here()
    return SiteEnvironment(HERE, ENVIRONMENTS[name])


def packages(environment: SiteEnvironment) -> dict[str, dict[str, Any]]:
    """What the lock holds, by name."""
    return {node["name"]: node for node in json.loads(environment.lock_file.read_bytes())["concrete_specs"].values()}


def assert_its_own_mpi(environment: SiteEnvironment) -> None:
    known, locked = environment.environment, packages(environment)
    assert known.package in locked
    assert not locked.keys() & {other.package for other in ENVIRONMENTS.values()} - {known.package}, "two MPIs"
    assert set(spack.PACKAGES) <= locked.keys() or not known.library


@pytest.mark.parametrize("name", each([name for name in ENVIRONMENTS if name != "cray-mpich"]))
def test_an_environment_concretises_with_its_own_mpi(name: str) -> None:
    environment = here(name)
    assert main(["spack", "concretize", name]) == 0
    assert_its_own_mpi(environment)
    if name in BUILT:
        assert packages(environment)[name]["external"]["path"].startswith(str(make_site.SITES / HERE / "shims"))


@pytest.fixture
def slingshot(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A site with Cray's MPI as the template has it."""
    monkeypatch.setattr(make_site, "SITES", tmp_path)
    make_site.make("cray", "slingshot")
    yield "cray"


@pytest.mark.full
def test_crays_mpi_is_never_built(slingshot: str) -> None:
    assert main(["spack", "concretize", "cray-mpich", "--site", slingshot]) == 0
    environment = SiteEnvironment(slingshot, ENVIRONMENTS["cray-mpich"])
    assert_its_own_mpi(environment)
    assert packages(environment)["cray-mpich"]["external"]["module"] == ["cray-mpich/8.1.30"]


CXI = {"fabrics": {"cxi", "tcp", "shm"}}
# (template, environment) -> package of the lock -> variants
FOR_FABRIC: dict[tuple[str, str], dict[str, dict[str, Any]]] = {
    ("infiniband", "mpich"): {"mpich": {"netmod": "ucx"}, "ucx": {"verbs": True, "mlx5_dv": True}},
    ("infiniband", "openmpi"): {"openmpi": {"fabrics": {"ucx"}}, "ucx": {"verbs": True, "mlx5_dv": True}},
    ("infiniband", "mvapich2"): {"mvapich2": {"fabrics": {"mrail"}}},
    ("omnipath", "mpich"): {"mpich": {"netmod": "ofi"}, "libfabric": {"fabrics": {"psm2", "tcp", "shm"}}},
    ("omnipath", "openmpi"): {"openmpi": {"fabrics": {"psm2", "ofi"}}},
    ("omnipath", "mvapich2"): {"mvapich2": {"fabrics": {"psm2"}}},
    ("ethernet", "mpich"): {"mpich": {"netmod": "ofi"}, "libfabric": {"fabrics": {"tcp", "shm"}}},
    ("ethernet", "openmpi"): {"openmpi": {"fabrics": {"none"}}},
    ("ethernet", "mvapich2"): {"mvapich2": {"fabrics": {"sock"}}},
    ("slingshot", "mpich"): {
        "mpich": {"netmod": "ofi", "pmi": "cray"},
        "libfabric": {"fabrics": {"cxi", "tcp", "shm"}},
    },
    ("slingshot", "openmpi"): {"openmpi": {"fabrics": {"ofi"}}, "libfabric": CXI},
}


@pytest.mark.full
@pytest.mark.parametrize(("template", "name"), FOR_FABRIC, ids=["-".join(case) for case in FOR_FABRIC])
def test_a_fabrics_template_builds_what_it_says(
    template: str, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An MPI that the cluster does not have is built with the fabric's own device, asked for by its template."""
    monkeypatch.setattr(make_site, "SITES", tmp_path)
    monkeypatch.setattr(mpi_environments, "on_path", lambda: ())  # those of this machine would be used as they are
    made = make_site.make(template, template)
    assert main(["spack", "concretize", name, "--site", made.name]) == 0
    environment = SiteEnvironment(made.name, ENVIRONMENTS[name])
    assert_its_own_mpi(environment)
    for package, variants in FOR_FABRIC[template, name].items():
        chosen = packages(environment)[package]["parameters"]
        for variant, wanted in variants.items():
            had = chosen[variant]
            assert wanted <= set(had) if isinstance(wanted, set) else had == wanted, (package, variant, had)


@pytest.mark.mpi
@pytest.mark.parametrize("name", each(BUILT))
def test_what_is_installed_runs_on_two_ranks(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    environment = here(name)
    assert main(["spack", "install", name]) == 0
    assert {path.name for path in environment.bin.iterdir()} >= PROGRAMS
    assert main(["spack", "smoke", name, "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert environment.environment.library in answer["library"]
    assert "adaptive" in answer["engine"]
    assert answer["lock_sha256"] == environment.lock()["lock_sha256"]
    mistaken = replace(environment, environment=replace(environment.environment, library="Quadrics"))
    with pytest.raises(Failure, match="answered instead of Quadrics"):
        spack_smoke.run(mistaken)


def with_variants(folder: Path, source: SiteEnvironment, variants: dict[str, str]) -> list[str]:
    """`spack -e` of a copy of a site's environment whose specs ask for these variants, by package."""
    source.write()
    text = (source.folder / "spack.yaml").read_text()
    for package, asked in variants.items():
        text = text.replace(f"- {package}@main", f"- {package}@main {asked}")
    (folder / "spack.yaml").write_text(text)
    return ["spack", "-e", str(folder)]


def done(command: list[str]) -> str:
    ended = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1000)
    return "" if ended.returncode == 0 else ended.stderr[-3000:] + ended.stdout[-3000:]


@pytest.mark.full
def test_the_recipes_own_tests_pass(tmp_path: Path) -> None:
    """The variant `tests`: Spack builds the unit tests and runs them after the build."""
    command = with_variants(tmp_path, here(DEFAULT), dict.fromkeys(spack.PACKAGES, "+tests"))
    for words in (["concretize"], ["install", *here(DEFAULT).install_options(), "--test=root"]):
        assert not done([*command, *words])


@pytest.mark.full
def test_the_recipes_variants_concretise(tmp_path: Path) -> None:
    variants = {"progress-engine": "ult=argobots,boost_fiber", "overlap-bench-workloads": "~core +ult"}
    assert not done([*with_variants(tmp_path, here(DEFAULT), variants), "concretize"])
    locked = json.loads((tmp_path / "spack.lock").read_bytes())["concrete_specs"].values()
    assert {"argobots", "boost"} <= {node["name"] for node in locked}


@pytest.fixture(scope="module")
def for_two_abis(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the variant `standard_abi`, of which the engine is installed, and a program in C."""
    environment, folder = here(DEFAULT), tmp_path_factory.mktemp("two-abis")
    command = with_variants(folder, environment, {"progress-engine": "+standard_abi"})
    for words in (["concretize"], ["install", *environment.install_options(), "progress-engine"]):
        assert not done([*command, *words])
    (folder / "app.c").write_text(compiler.PROGRAM)
    return folder


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.parametrize("start", ["app", "script"])
@pytest.mark.parametrize(("wrapper", "library"), [("mpicc", "libmpi.so.12"), ("mpicc_abi", "libmpi_abi.so.1")])
def test_one_prefix_serves_both_abis(
    for_two_abis: Path, wrapper: str, library: str, start: str, tmp_path: Path
) -> None:
    """progress-run sees what a program needs; what a script starts it cannot see, so there the chooser does."""
    variables = spack_smoke.activated(for_two_abis)
    (tmp_path / "script").write_text(f"#!/bin/sh\n{tmp_path}/app\n")
    (tmp_path / "script").chmod(0o755)
    command = [wrapper, str(for_two_abis / "app.c"), "-o", str(tmp_path / "app")]
    subprocess.run(command, env=variables, check=True, timeout=100)
    engine = ["progress-run", "--variant", "adaptive", "--set", f"report_file={tmp_path}/report.%r", "--"]
    command = ["mpiexec", "-n", "2", *engine, str(tmp_path / start)]
    subprocess.run(command, env=variables, check=True, timeout=100)
    for rank in range(2):
        report = json.loads((tmp_path / f"report.{rank}").read_text())
        assert (report["active"], report["preset"], report["abi"]) == (True, "adaptive", library)
        assert report["tracked"] > 0


@pytest.mark.full
@pytest.mark.mpi
def test_the_tools_for_both_abis_are_those_of_the_mpis_own(for_two_abis: Path) -> None:
    """It is the one of a program that names no MPI."""
    said = subprocess.check_output(["progress-info", "--json"], env=spack_smoke.activated(for_two_abis), timeout=100)
    assert json.loads(said)["built_for"] == "libmpi.so.12"


@pytest.mark.full
def test_the_standards_abi_wants_an_mpi_that_has_it(tmp_path: Path) -> None:
    refused = done([*with_variants(tmp_path, here("openmpi"), {"progress-engine": "+standard_abi"}), "concretize"])
    assert "only MPICH 5 has mpicc_abi" in refused


@pytest.mark.full
def test_fortran_wants_an_mpi_that_has_it(tmp_path: Path) -> None:
    """The wheels have no Fortran."""
    refused = done([*with_variants(tmp_path, here(DEFAULT), {"progress-engine": "+fortran"}), "concretize"])
    assert "failed to concretize" in refused
    assert "progress-engine@main+fortran" in refused


@pytest.mark.full
def test_fortran_comes_with_an_mpi_that_has_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Debian's."""
    monkeypatch.setattr(make_site, "SITES", tmp_path)
    made = make_site.make("system", "ethernet")
    if "mpich" not in {found.package for found in made.found if "+fortran" in found.spec}:
        pytest.skip("needs Debian's MPICH with gfortran")
    environment = SiteEnvironment(made.name, ENVIRONMENTS["mpich"])
    assert not done([*with_variants(tmp_path, environment, {"progress-engine": "+fortran"}), "concretize"])
    locked = json.loads((tmp_path / "spack.lock").read_bytes())["concrete_specs"].values()
    (engine,) = [node for node in locked if node["name"] == "progress-engine"]
    assert engine["parameters"]["fortran"]


@pytest.mark.full
@pytest.mark.mpi
@pytest.mark.vcluster
def test_a_run_says_what_spack_built(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """ReFrame builds through Spack on virtual nodes, and each record holds the concrete specs and the lock's hash."""
    monkeypatch.setenv("OVERLAP_BENCH_RESULTS", str(tmp_path / "results"))
    chosen = ["mpich", "openmpi"]
    ended = bench(
        "run", "overlap-ratio", "--system", "vcluster-spack", "--scale", "test", "--mpi", ",".join(chosen), timeout=1100
    )
    assert ended.returncode == 0, ended.stderr
    session = (tmp_path / "results" / "latest").resolve()
    for mpi in chosen:
        records = sorted((session / "records").glob(f"*.{mpi}.*.jsonl"))
        assert records
        for record in records:
            said = json.loads(record.read_text().splitlines()[0])["header"]["context"]["spack"]
            assert said == FROM_SPACK[mpi].lock()
            assert set(said["specs"]) == set(spack.PACKAGES)
            assert all(f"^{mpi}@" in spec for spec in said["specs"].values())
