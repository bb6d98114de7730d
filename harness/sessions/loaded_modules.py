# SPDX-License-Identifier: BSD-3-Clause
"""What `module load` changes in the environment (Lmod or Environment Modules)."""

from __future__ import annotations

import shlex
import shutil
from collections.abc import Sequence
from dataclasses import dataclass

from harness.base import process
from harness.base.errors import UsageError

LIMIT_S = 60.0
NO_MODULES = 97  # a status that neither bash nor module has
# What a shell sets for itself, and modules for their own bookkeeping, which grows with each of them.
OWN = ("_", "SHLVL", "PWD", "OLDPWD", "BASH_FUNC_", "__Lmod", "__LMOD", "_LM", "LMOD_", "LOADEDMODULES", "_LMFILES_")


@dataclass(frozen=True)
class Loaded:
    """The variables that modules add or change. `path`: the PATH without them."""

    environment: dict[str, str]
    path: str = ""

    def program(self, name: str) -> str:
        """Where they have this program; empty: they bring none."""
        found, before = (shutil.which(name, path=path) for path in (self.environment.get("PATH", self.path), self.path))
        return found if found and found != before else ""


def load(names: Sequence[str]) -> Loaded:
    """The environment with these modules against that without; UsageError with what `module` says where one fails.

    Without also where the caller has one loaded already: else it would bring nothing.
    """
    asked = " ".join(map(shlex.quote, names))
    without = _environment(
        f"if command -v module >/dev/null; then for one in {asked}; do module unload $one || :; done; fi"
    )
    with_them = _environment(
        f"command -v module >/dev/null || exit {NO_MODULES}; for one in {asked}; do module load $one || exit 1; done"
    )
    changed = {name: text for name, text in with_them.items() if without.get(name) != text}
    kept = {name: text for name, text in changed.items() if not name.startswith(OWN)}
    return Loaded(kept, without.get("PATH", ""))


def _environment(before: str) -> dict[str, str]:
    """Of a login shell behind these commands."""
    ended = process.answer(["bash", "-lc", f"{{ {before}; }} >&2; exec env -0"], LIMIT_S)
    if ended.status == NO_MODULES:
        raise UsageError("An arm with modules: there is no command `module` in a login shell here.")
    if ended.status != 0:
        raise UsageError(f"An arm with modules: {ended.last_line or f'the shell ended with status {ended.status}'}")
    pairs = (entry.partition("=") for entry in ended.out.split("\0") if "=" in entry)
    return {name: text for name, _, text in pairs}
