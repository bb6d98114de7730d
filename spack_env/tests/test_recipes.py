# SPDX-License-Identifier: BSD-3-Clause
"""What can be said of a recipe without Spack; not that Spack can build anything.

The recipe is executed with stand-ins that record its directives; these are held against each other and against the
CMake project that the recipe builds.
"""

from __future__ import annotations

import re
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from harness.base.paths import ROOT

PACKAGES = ROOT / "spack_env" / "repo" / "spack_repo" / "overlap_bench" / "packages"
PROJECTS = {"progress_engine": ROOT / "progress_engine", "overlap_bench_workloads": ROOT / "workloads"}
DIRECTIVES = (
    "conflicts",
    "depends_on",
    "license",
    "maintainers",
    "patch",
    "provides",
    "requires",
    "variant",
    "version",
)
Call = tuple[tuple[Any, ...], dict[str, Any]]

# find_package's name -> Spack's package, for all that the projects look for
FOUND = {
    "Boost": "boost", "CLI11": "cli11", "GTest": "googletest", "MPI": "mpi", "Python3": "python",
    "benchmark": "benchmark", "fmt": "fmt", "nlohmann_json": "nlohmann-json",
}  # fmt: skip
WITHOUT_PACKAGE = {"Threads"}  # parts of the system
# find_library's PREFIX_NAME_LIBRARY -> Spack's package
LIBRARIES = {"FFTW": "fftw", "HWLOC": "hwloc", "ARGOBOTS": "argobots", "PROGRESS_CORE": "progress-engine"}


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
    return PACKAGES / name / "package.py"


def load(name: str) -> Recipe:
    """Execute a recipe with stand-ins for Spack. What it raises is raised."""
    path = recipe_file(name)
    recipe = Recipe(path.read_text())
    base = type("CMakePackage", (), {})
    package = types.ModuleType("spack.package")
    for directive in DIRECTIVES:
        setattr(package, directive, _recorder(recipe.calls[directive]))
    package.any_combination_of = lambda *values: values  # type: ignore[attr-defined]
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
    assert {path.name for path in PACKAGES.iterdir() if path.is_dir() and path.name != "__pycache__"} == set(PROJECTS)


@pytest.mark.parametrize("name", PROJECTS)
def test_a_recipe_is_one_class_with_what_spack_wants(name: str) -> None:
    recipe = load(name)
    assert [one.__name__ for one in recipe.classes] == ["".join(part.capitalize() for part in name.split("_"))]
    assert recipe.classes[0].__doc__
    assert all(recipe.calls[directive] for directive in ("license", "version", "depends_on"))


@pytest.mark.parametrize("name", PROJECTS)
def test_every_variant_that_is_named_is_the_recipes_own(name: str) -> None:
    recipe = load(name)
    named = set(re.findall(r'define_from_variant\(\s*"\w+",\s*"([\w-]+)"', recipe.text))
    for calls in recipe.calls.values():
        named |= {word for _, options in calls for word in words(str(options.get("when", "")))}
    assert named <= recipe.variants | {"platform", "target", "os"}


@pytest.mark.parametrize("name", PROJECTS)
def test_what_a_recipe_defines_is_what_its_project_knows(name: str) -> None:
    text = cmake(PROJECTS[name])
    for option in re.findall(r'self\.define(?:_from_variant)?\(\s*"(\w+)"', load(name).text):
        assert option.startswith(("CMAKE_", "MPI_")) or re.search(rf"\b{option}\b", text), option


@pytest.mark.parametrize("name", PROJECTS)
def test_what_a_project_looks_for_is_what_its_recipe_depends_on(name: str) -> None:
    recipe, text = load(name), cmake(PROJECTS[name])
    switched = set(re.findall(r"CMAKE_DISABLE_FIND_PACKAGE_(\w+)", recipe.text))  # what a recipe decides by itself
    for library in set(re.findall(r"find_library\(\s*(?:PE_)?(\w+)_LIBRARY", text)):
        assert LIBRARIES[library] in recipe.dependencies
    for found in set(re.findall(r"find_package\(\s*(\w+)", text)) - WITHOUT_PACKAGE - switched:
        assert FOUND[found] in recipe.dependencies


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
