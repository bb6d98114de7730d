# SPDX-License-Identifier: BSD-3-Clause
"""The programs of one environment, as a fixture: built with Spack where its extras say so, else looked for.

Spack's build is ReFrame's own (build_system = "Spack"), of a site's environment (spack_env.site_environment), on the
login node, once for all checks of a ReFrame run.
"""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import reframe as rfm
from reframe.core.builtins import run_before

from harness.base.errors import Failure
from reframe_checks.systems.extras import extras_of_environment
from spack_env import site_environment as spack


class Programs(rfm.CompileOnlyRegressionTest):
    """The engine and the workloads that run under one MPI."""

    descr = "the engine and the workloads for this MPI"
    sourcesdir = None
    build_system: Any = "CustomBuild"

    @property
    def folder(self) -> Path:
        """Where they are."""
        return Path(extras_of_environment(self.current_environ)["bin_dir"])

    @property
    def spack(self) -> spack.SiteEnvironment | None:
        """The Spack environment that this ReFrame environment asks for, if it does."""
        asked = extras_of_environment(self.current_environ).get("spack")
        return spack.SiteEnvironment(asked["site"], spack.environment(asked["environment"])) if asked else None

    @run_before("compile")
    def choose_build_system(self) -> None:
        """Spack's environment, or the look whether they are there."""
        if chosen := self.spack:
            spack.require()
            chosen.prepare()
            self.build_system = "Spack"
            self.build_system.environment = str(chosen.folder)
            self.build_system.install_opts = chosen.install_options()
        else:
            program = shlex.quote(str(self.folder / "progress-run"))
            absent = shlex.quote(f"There is no {self.folder / 'progress-run'}: build it for this MPI, see bin_dir.")
            self.build_system.commands = [f"test -x {program} || {{ echo {absent} >&2; exit 1; }}"]

    def require(self, program: str) -> None:
        """Failure unless it is there: what has been built for another study may lack it."""
        if not (self.folder / program).is_file():
            raise Failure(f"There is no {self.folder / program}: build it for this MPI.")

    def activation(self) -> list[str]:
        """What a job's script has before it runs them."""
        return [f'eval "$(spack env activate --sh {self.spack.folder})"'] if self.spack else []

    def built_from(self) -> dict[str, Any]:
        """What the record must say of the build: the concrete specs and the lock's hash; empty without Spack."""
        return self.spack.lock() if self.spack else {}
