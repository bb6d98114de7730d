# SPDX-License-Identifier: BSD-3-Clause
"""What can be said of recipes, environments and templates without Spack; not that Spack can build anything."""

from __future__ import annotations

import json
import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import yaml

from harness.base.errors import Failure
from harness.base.paths import ROOT
from harness.codes.kernels import NPB
from harness.codes.known import CODES
from harness.job.records import RecordFile
from harness.setup.build import ABIS
from spack_env import make_site
from spack_env import smoke as spack_smoke
from spack_env.make_site import MPI_PACKAGES, TEMPLATES, merge, templates
from spack_env.mpi_environments import ENVIRONMENTS
from spack_env.site_environment import SiteEnvironment

RECIPES = ROOT / "spack_env" / "repo" / "spack_repo" / "overlap_bench" / "packages"
PROJECTS = {"progress_engine": ROOT / "progress_engine", "overlap_bench_workloads": ROOT / "workloads"}
DIRECTIVES = ["conflicts", "depends_on", "license", "maintainers", "patch", "provides", "requires"]
DIRECTIVES += ["variant", "version"]
Call = tuple[tuple[Any, ...], dict[str, Any]]

# find_package's name -> Spack's package, for all that the projects look for
FOUND = {
    "Boost": "boost", "CLI11": "cli11", "GTest": "googletest", "MPI": "mpi", "Python3": "python",
    "benchmark": "benchmark", "fmt": "fmt", "nlohmann_json": "nlohmann-json",
}  # fmt: skip
WITHOUT_PACKAGE = {"Threads"}  # parts of the system
# find_library's PREFIX_NAME_LIBRARY -> Spack's package
LIBRARIES = {"FFTW": "fftw", "HWLOC": "hwloc", "ARGOBOTS": "argobots"}


@dataclass
class Recipe:
    """What a recipe says: its classes with their attributes, and its directives' calls."""

    text: str
    classes: list[type] = field(default_factory=list)
    calls: dict[str, list[Call]] = field(default_factory=lambda: {name: [] for name in DIRECTIVES})

    @property
    def variants(self) -> set[str]:
        return {arguments[0] for arguments, _ in self.calls["variant"]}

    @property
    def dependencies(self) -> set[str]:
        return {re.split(r"[@+~%^ ]", arguments[0])[0] for arguments, _ in self.calls["depends_on"]}


def recipe_file(name: str) -> Path:
    return RECIPES / name / "package.py"


def load(name: str) -> Recipe:
    """Execute a recipe with stand-ins for Spack. What it raises is raised."""
    path = recipe_file(name)
    recipe = Recipe(path.read_text())
    base = type("CMakePackage", (), {})
    package = types.ModuleType("spack.package")
    for directive in DIRECTIVES:
        setattr(package, directive, _recorder(recipe.calls[directive]))
    package.any_combination_of = lambda *values: values  # type: ignore[attr-defined]
    package.run_before = lambda *_, **__: lambda method: method  # type: ignore[attr-defined]
    package.InstallError = RuntimeError  # type: ignore[attr-defined]
    parts = ["spack_repo", "builtin", "build_systems", "cmake"]
    modules = [".".join(parts[: n + 1]) for n in range(len(parts))]
    stand_ins = {module: types.ModuleType(module) for module in modules}
    stand_ins |= {"spack": types.ModuleType("spack"), "spack.package": package}
    stand_ins[modules[-1]].CMakePackage = base  # type: ignore[attr-defined]
    with pytest.MonkeyPatch.context() as patch:
        for module, stand_in in stand_ins.items():
            patch.setitem(sys.modules, module, stand_in)
        scope: dict[str, Any] = {"__file__": str(path), "__name__": "recipe"}
        exec(compile(recipe.text, str(path), "exec"), scope)
    recipe.classes = [c for c in scope.values() if isinstance(c, type) and issubclass(c, base) and c is not base]
    return recipe


def _recorder(calls: list[Call]) -> Callable[..., None]:
    def directive(*arguments: Any, **options: Any) -> None:
        calls.append((arguments, options))

    return directive


def words(condition: str) -> set[str]:
    """The variants of a condition on the package itself, not on what follows ^ or %."""
    own = re.split(r"[\^%]", condition)[0]
    return {flag or key for flag, key in re.findall(r"[+~]([\w-]+)|\b([\w-]+)=", own)}


def cmake(project: Path) -> str:
    """What the project's CMakeLists.txt say, without comments."""
    # a folder build-linux-... is what Spack leaves of a build; a project within it is built by itself
    files = [
        path
        for path in sorted(project.rglob("CMakeLists.txt"))
        if "build-linux" not in str(path) and (path.parent == project or "\nproject(" not in path.read_text())
    ]
    lines = [line for path in files for line in path.read_text().splitlines()]
    return "\n".join(line for line in lines if not line.strip().startswith("#"))


def test_every_folder_is_a_recipe_of_a_project() -> None:
    assert {path.name for path in RECIPES.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(PROJECTS)


@pytest.mark.parametrize("name", PROJECTS)
def test_a_recipe_is_one_class_of_its_project(name: str) -> None:
    """Its variants are its own, what it defines the project knows, and what the project looks for it depends on."""
    recipe, text = load(name), cmake(PROJECTS[name])
    assert [one.__name__ for one in recipe.classes] == ["".join(part.capitalize() for part in name.split("_"))]
    assert recipe.classes[0].__doc__ and all(recipe.calls[one] for one in ("license", "version", "depends_on"))
    named = set(re.findall(r'define_from_variant\(\s*"\w+",\s*"([\w-]+)"', recipe.text))
    for calls in recipe.calls.values():
        named |= {word for _, options in calls for word in words(str(options.get("when", "")))}
    assert named <= recipe.variants | {"platform", "target", "os"}
    for option in re.findall(r'self\.define(?:_from_variant)?\(\s*"(\w+)"', recipe.text):
        assert option.startswith(("CMAKE_", "MPI_")) or re.search(rf"\b{option}\b", text), option
    switched = set(re.findall(r"CMAKE_DISABLE_FIND_PACKAGE_(\w+)", recipe.text))  # what a recipe decides by itself
    wanted = {LIBRARIES[library] for library in re.findall(r"find_library\(\s*(?:PE_)?(\w+)_LIBRARY", text)}
    wanted |= {FOUND[one] for one in set(re.findall(r"find_package\(\s*(\w+)", text)) - WITHOUT_PACKAGE - switched}
    assert wanted <= recipe.dependencies


def test_the_variant_of_the_standards_abi_builds_with_its_wrapper_or_says_that_it_is_not_there(tmp_path: Path) -> None:
    """The same wrapper as ./bench's, and all else as the build for the MPI's own ABI has it."""
    ran: list[tuple[str, ...]] = []
    wrapper = tmp_path / ABIS["standard-abi"].wrapper
    package = types.SimpleNamespace(
        spec={"mpi": types.SimpleNamespace(mpicc=str(tmp_path / "mpicc"))},
        build_directory="/build", root_cmakelists_dir="/sources",
        std_cmake_args=["-DCMAKE_INSTALL_PREFIX=/prefix"], cmake_args=lambda: [f"-DMPI_C_COMPILER={tmp_path}/mpicc"],
        define=lambda name, value: f"-D{name}={value}",
        module=types.SimpleNamespace(make_jobs=2, cmake=lambda *words: ran.append(words)),
    )  # fmt: skip
    (recipe,) = load("progress_engine").classes
    with pytest.raises(RuntimeError, match=f"{wrapper} is not there"):
        recipe.install_for_standard_abi(package)  # type: ignore[attr-defined]
    assert not ran
    wrapper.touch()
    recipe.install_for_standard_abi(package)  # type: ignore[attr-defined]
    configured, built = ran
    assert "-DCMAKE_INSTALL_PREFIX=/prefix" in configured
    assert [word for word in configured if "MPI_C_COMPILER" in word][-1] == f"-DMPI_C_COMPILER={wrapper}"
    assert configured[configured.index("-B") + 1] == built[built.index("--build") + 1] != package.build_directory
    assert built[-2:] == ("--target", "install")


def test_the_recipe_builds_every_workload_unless_told_otherwise() -> None:
    """A variant stands for each one that CMake passes over where something is missing; only the tests are extra."""
    calls = load("overlap_bench_workloads").calls
    defaults = {name: options["default"] for (name, *_), options in calls["variant"]}
    passed_over = {
        path.parent.name
        for path in PROJECTS["overlap_bench_workloads"].rglob("CMakeLists.txt")
        if "return()" in path.read_text()
    }
    assert passed_over == {"tasks", "ult"}
    assert defaults == {"core": True, "ult": True, "tests": False}


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
    """As harness/codes says that each is installed; of NPB every program and class, since each is built for one."""
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


ENGINE = {"active": True, "preset": "adaptive", "driver": "mpi_test"}


def record(library: str = "Open MPI v5.0.11", ranks: int = 2, **engine: Any) -> RecordFile:
    ends = [{"rank": rank, "engine": ENGINE | engine} for rank in range(ranks)]
    return RecordFile({"mpi_library": library, "world_size": ranks}, [], {"ranks": ends})


@pytest.fixture
def openmpi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SiteEnvironment:
    monkeypatch.setattr(make_site, "SITES", tmp_path)
    environment = SiteEnvironment("cluster", ENVIRONMENTS["openmpi"])
    environment.folder.mkdir(parents=True)
    environment.lock_file.write_text(json.dumps({"concrete_specs": {}}))
    return environment


def test_what_was_asked_for_has_answered(openmpi: SiteEnvironment) -> None:
    answer = spack_smoke.judge(openmpi, record())
    assert answer["library"] == "Open MPI v5.0.11"
    assert answer["engine"] == "preset adaptive, driver mpi_test, on 2 ranks"


@pytest.mark.parametrize(
    ("found", "words"),
    [
        (record(library="MPICH Version: 4.0.2"), "'MPICH Version: 4.0.2' answered instead of Open MPI"),
        (record(ranks=1), "1 ranks instead of 2"),
        (record(active=False), "the engine did not run on each"),
        (RecordFile(None, [], None), "'no library' answered"),
    ],
)
def test_what_was_not_asked_for_is_found(openmpi: SiteEnvironment, found: RecordFile, words: str) -> None:
    with pytest.raises(Failure, match=words):
        spack_smoke.judge(openmpi, found)


def test_nothing_to_run_is_a_sentence(openmpi: SiteEnvironment) -> None:
    with pytest.raises(Failure, match=r"progress-run is not there: \./bench spack install openmpi first"):
        spack_smoke.run(openmpi)
