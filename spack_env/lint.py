# SPDX-License-Identifier: BSD-3-Clause
"""Recipe lint: what can be said of a recipe without Spack. It is lint, and no test that Spack can build anything.

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
PACKAGES = {
    "Boost": "boost", "CLI11": "cli11", "GTest": "googletest", "MPI": "mpi", "Python3": "python",
    "benchmark": "benchmark", "fmt": "fmt", "nlohmann_json": "nlohmann-json",
}  # fmt: skip
WITHOUT_PACKAGE = {"Threads"}  # parts of the system
# find_library's PREFIX_NAME_LIBRARY -> Spack's package
LIBRARIES = {"FFTW": "fftw", "HWLOC": "hwloc", "ARGOBOTS": "argobots", "PROGRESS_CORE": "progress-engine"}


@dataclass
class Recipe:
    """What a recipe says: its classes with their attributes, and its directives' calls."""

    path: Path
    classes: list[type] = field(default_factory=list)
    calls: dict[str, list[Call]] = field(default_factory=lambda: {name: [] for name in DIRECTIVES})

    @property
    def variants(self) -> set[str]:
        return {arguments[0] for arguments, _ in self.calls["variant"]}

    @property
    def dependencies(self) -> set[str]:
        return {re.split(r"[@+~%^ ]", arguments[0])[0] for arguments, _ in self.calls["depends_on"]}


def load(path: Path) -> Recipe:
    """Execute a recipe with stand-ins for Spack. What it raises is raised."""
    recipe = Recipe(path)
    base = type("CMakePackage", (), {})
    package = types.ModuleType("spack.package")
    for name in DIRECTIVES:
        setattr(package, name, _recorder(recipe.calls[name]))
    package.any_combination_of = lambda *values: values  # type: ignore[attr-defined]
    stand_ins = {name: types.ModuleType(name) for name in _parents("spack_repo.builtin.build_systems.cmake")}
    stand_ins |= {"spack": types.ModuleType("spack"), "spack.package": package}
    stand_ins["spack_repo.builtin.build_systems.cmake"].CMakePackage = base  # type: ignore[attr-defined]
    before = {name: sys.modules.get(name) for name in stand_ins}
    sys.modules.update(stand_ins)
    try:
        scope: dict[str, Any] = {"__file__": str(path), "__name__": "recipe"}
        exec(compile(path.read_text(), str(path), "exec"), scope)
    finally:
        for name, module in before.items():
            if module is None:
                del sys.modules[name]
            else:
                sys.modules[name] = module
    recipe.classes = [c for c in scope.values() if isinstance(c, type) and issubclass(c, base) and c is not base]
    return recipe


def _recorder(calls: list[Call]) -> Callable[..., None]:
    def directive(*arguments: Any, **options: Any) -> None:
        calls.append((arguments, options))

    return directive


def _parents(module: str) -> list[str]:
    parts = module.split(".")
    return [".".join(parts[: n + 1]) for n in range(len(parts))]


def problems(path: Path, project: Path) -> list[str]:
    """What is wrong with a recipe, in words; `project` is the folder with the CMakeLists.txt that it builds."""
    try:
        recipe = load(path)
    except Exception as error:  # a recipe is a program of its own
        return [f"it does not load: {type(error).__name__}: {error}"]
    return [problem for check in (_names, _directives, _variants, _cmake) for problem in check(recipe, project)]


def _names(recipe: Recipe, _project: Path) -> list[str]:
    folder = recipe.path.parent.name
    wanted = "".join(part.capitalize() for part in folder.split("_"))
    found = [c.__name__ for c in recipe.classes]
    wrong = [] if found == [wanted] else [f"folder {folder} wants one class {wanted}, and there are {found}"]
    return wrong + [f"class {c.__name__} has no words that say what it is" for c in recipe.classes if not c.__doc__]


def _directives(recipe: Recipe, _project: Path) -> list[str]:
    return [f"it has no {name}()" for name in ("license", "version", "depends_on") if not recipe.calls[name]]


def _variants(recipe: Recipe, _project: Path) -> list[str]:
    """Every variant that a condition or a definition names is one of the recipe's own."""
    named = set(re.findall(r'define_from_variant\(\s*"\w+",\s*"([\w-]+)"', recipe.path.read_text()))
    for calls in recipe.calls.values():
        for _, options in calls:
            named |= _words(str(options.get("when", "")))
    known = recipe.variants | {"platform", "target", "os"}
    return [f"there is no variant {name}" for name in sorted(named - known)]


def _words(condition: str) -> set[str]:
    """The variants of a condition on the package itself, not on what follows ^ or %."""
    own = re.split(r"[\^%]", condition)[0]
    return {flag or key for flag, key in re.findall(r"[+~]([\w-]+)|\b([\w-]+)=", own)}


def _cmake(recipe: Recipe, project: Path) -> list[str]:
    """What the recipe defines is what the project knows, and what the project looks for is what it depends on."""
    # a folder build-linux-... is what Spack leaves of a build; a project within it is built by itself
    files = [
        path
        for path in sorted(project.rglob("CMakeLists.txt"))
        if "build-linux" not in str(path) and (path.parent == project or "\nproject(" not in path.read_text())
    ]
    lines = [line for path in files for line in path.read_text().splitlines()]
    text = "\n".join(line for line in lines if not line.strip().startswith("#"))
    recipe_text = recipe.path.read_text()
    switched = set(re.findall(r"CMAKE_DISABLE_FIND_PACKAGE_(\w+)", recipe_text))  # what a recipe decides by itself
    wrong = []
    for name in re.findall(r'self\.define(?:_from_variant)?\(\s*"(\w+)"', recipe_text):
        if not name.startswith(("CMAKE_", "MPI_")) and not re.search(rf"\b{name}\b", text):
            wrong.append(f"the project knows no option {name}")
    for name in sorted(set(re.findall(r"find_library\(\s*(?:PE_)?(\w+)_LIBRARY", text))):
        if LIBRARIES.get(name) not in recipe.dependencies:
            wrong.append(
                f"the project looks for the library {name}, and the recipe depends on no {LIBRARIES.get(name)}"
            )
    for name in sorted(set(re.findall(r"find_package\(\s*(\w+)", text)) - WITHOUT_PACKAGE - switched):
        if PACKAGES.get(name) not in recipe.dependencies:
            wrong.append(f"the project looks for {name}, and the recipe depends on no {PACKAGES.get(name, name)}")
    return wrong
