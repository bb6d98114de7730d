# SPDX-License-Identifier: BSD-3-Clause
"""A test whose programs are there already, or come from Spack: the environment's extras say which.

The build is ReFrame's own (build_system = "Spack"), of an environment of a site (harness.spack), on the login node.
"""

from __future__ import annotations

from typing import Any

import reframe as rfm
from reframe.core.builtins import run_before

from harness import spack


class MayBuildWithSpack(rfm.RegressionTest, special=True):  # type: ignore[call-arg]
    """Has a compile phase only on environments whose extras have `spack`; otherwise like a run-only test."""

    build_system: Any

    def spack_environment(self) -> spack.SiteEnvironment | None:
        """The Spack environment that this ReFrame environment asks for. Needs the test to be set up."""
        asked = dict(self.current_environ.extras).get("spack")
        return spack.SiteEnvironment(asked["site"], spack.environment(asked["environment"])) if asked else None

    @run_before("compile")
    def choose_build_system(self) -> None:
        if chosen := self.spack_environment():
            spack.require()
            chosen.write()
            self.build_system = "Spack"
            self.build_system.environment = str(chosen.folder)
            self.build_system.install_opts = chosen.install_options()
            self.prerun_cmds += [f'eval "$(spack env activate --sh {chosen.folder})"']

    def built_from(self) -> dict[str, Any]:
        """What the record must say of the build: the concrete specs and the lock's hash; empty without Spack."""
        chosen = self.spack_environment()
        return chosen.lock() if chosen else {}

    def compile(self) -> None:
        if self.spack_environment():
            super().compile()
        else:
            self._build_job = None  # as a run-only test has it

    def compile_wait(self) -> None:
        if self.build_job:
            super().compile_wait()
