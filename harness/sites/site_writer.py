# SPDX-License-Identifier: BSD-3-Clause
"""Writes a site's file from what is known of the site: a ReFrame configuration with what the checks need beside it."""

from __future__ import annotations

import json
import re
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness.base.errors import UsageError, there_are
from harness.base.paths import HOME
from harness.sites.systems import SUMMARIES
from spack_env.mpi_environments import ENVIRONMENTS

TEMPLATES = Path(__file__).resolve().parent / "templates"
SCHEDULERS = ("slurm", "squeue", "pbs", "torque", "flux", "local")
MODULES_SYSTEMS = ("nomod", "lmod", "envmod")
NODE_FEATURES = ("smt", "mwait", "two-sockets")  # those of reframe_checks.catalogue that the rest does not tell
PMIS = ("pmi2", "pmix")
NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]*")  # ReFrame's rule, of systems and environments
OF_REFRAME = "generic"  # the system that every host has there
COMMENT_WIDTH = 94
COUNTED = "its bytes are seen on the nodes' network interfaces"
BYPASSED = "it bypasses the counters of the network interfaces"


@dataclass(frozen=True)
class Fabric:
    """`moves_itself`: how the network moves messages without the engine; `switch`: the variables that turn it the other
    way. A site's file has both as comments."""

    title: str
    rdma: bool
    moves_itself: str = ""
    switch: tuple[tuple[str, str], ...] = ()

    @property
    def on_interfaces(self) -> bool:
        return not self.rdma

    @property
    def comment(self) -> list[str]:
        return textwrap.wrap(self.moves_itself, COMMENT_WIDTH)

    @property
    def counters(self) -> str:
        return BYPASSED if self.rdma else COUNTED


# docs/explanation/events.md has the table.
FABRICS = {
    "infiniband": Fabric(
        "InfiniBand",
        rdma=True,
        moves_itself=(
            "Adapters from ConnectX-5 on can match messages by themselves, which is off by default. With these "
            "two lines UCX lets them; the engine then has less to win:"
        ),
        switch=(("UCX_RC_MLX5_TM_ENABLE", "y"), ("UCX_DC_MLX5_TM_ENABLE", "y")),
    ),
    "omnipath": Fabric(
        "Omni-Path",
        rdma=True,
        moves_itself=(
            "A thread of PSM2 receives beside the program, so bare may overlap, and the engine has little to win. "
            "Without that thread the engine has its work, and the core is free:"
        ),
        switch=(("PSM2_RCVTHREAD", "0"),),
    ),
    "slingshot": Fabric(
        "Slingshot",
        rdma=True,
        moves_itself=(
            "The adapter matches and fetches messages by itself (hardware, the default), so bare may overlap, and"
            " the engine has little to win. Software leaves both to the MPI's calls:"
        ),
        switch=(("FI_CXI_RX_MATCH_MODE", "software"),),
    ),
    "ethernet": Fabric("Ethernet", rdma=False),
}


@dataclass(frozen=True)
class SiteMpi:
    """An MPI of a site: its name (one of spack_env's where it is of those), its modules, its C compiler."""

    name: str
    modules: list[str] = field(default_factory=list)
    library: str = ""
    compiler: str = "mpicc"

    @staticmethod
    def parse(text: str, compiler: str = "mpicc") -> SiteMpi:
        """NAME, NAME=MODULE,MODULE or NAME=MODULE,...=LIBRARY, as an option has it."""
        name, _, rest = text.partition("=")
        modules, _, library = rest.partition("=")
        known = ENVIRONMENTS.get(name)
        library = library or (known.library if known else "")
        if not name:
            raise UsageError(f"--mpi {text}: a name is wanted, as in --mpi mpich=mpich/4.2.")
        if not library:
            raise UsageError(
                f"--mpi {text}: what does its MPI_Get_library_version say? Add a word of it: --mpi {name}=MODULE=WORD."
            )
        return SiteMpi(name, [module for module in modules.split(",") if module], library, compiler)


@dataclass(frozen=True)
class Answers:
    """All that a site's file is made of. `spack_site` empty: the programs are below `bin_dir` ({mpi} in it)."""

    name: str
    scheduler: str
    launcher: str
    fabric: str
    mpis: list[SiteMpi]
    hostname: str
    partition: str = "compute"
    access: list[str] = field(default_factory=list)
    pmi: str = ""
    modules_system: str = "nomod"
    spack_site: str = ""
    bin_dir: str = "build/{mpi}/bin"
    cores: int = 1
    progress_cores: int = 0
    node_features: list[str] = field(default_factory=list)

    def check(self) -> None:
        """UsageError for what no site can have; whether this one has it, the written file is asked."""
        choices: Mapping[str, tuple[str, Any]] = {
            "--scheduler": (self.scheduler, SCHEDULERS),
            "--fabric": (self.fabric, FABRICS),
            "--modules-system": (self.modules_system, MODULES_SYSTEMS),
        }
        for option, (value, allowed) in choices.items():
            if value not in allowed:
                raise UsageError(f"{option}: there is no '{value}'. {there_are(value, allowed)}")
        if unknown := [name for name in self.node_features if name not in NODE_FEATURES]:
            raise UsageError(f"--feature: there is no '{unknown[0]}'. {there_are(unknown[0], NODE_FEATURES)}")
        if self.pmi and (self.pmi not in PMIS or self.launcher != "srun"):
            raise UsageError(f"--pmi is {' or '.join(PMIS)} and goes with --launcher srun, not with '{self.launcher}'.")
        self._check_words()
        if not self.mpis:
            raise UsageError("Which MPIs? --mpi NAME, once for each; with modules --mpi NAME=MODULE,MODULE.")
        names = [mpi.name for mpi in self.mpis]
        if twice := [name for name in names if names.count(name) > 1]:
            raise UsageError(f"--mpi {twice[0]} is given twice: each MPI has a name of its own.")
        if self.spack_site and (lacking := [name for name in names if name not in ENVIRONMENTS]):
            raise UsageError(f"Spack has no environment '{lacking[0]}'. {there_are(lacking[0], ENVIRONMENTS)}")

    def _check_words(self) -> None:
        """UsageError for words that ReFrame, the batch system or Python itself would not take."""
        for option, name in (("--name", self.name), *(("--mpi", mpi.name) for mpi in self.mpis)):
            if not NAME.fullmatch(name):
                raise UsageError(
                    f"{option} '{name}': a name has letters, digits, _ and - alone, and begins with a letter or _."
                )
        if self.name in (*SUMMARIES, OF_REFRAME):
            raise UsageError(f"--name {self.name}: there is a system of that name already, call yours otherwise.")
        for words in self.access:
            if not re.fullmatch(r"-\S+?[= ][^\s,:;'\"\\$`]+", words):
                raise UsageError(
                    f"'{words}': one partition and one account are wanted, without blanks, quotes or commas."
                )
        try:
            re.compile(self.hostname)
        except re.error as error:
            raise UsageError(f"--hostname '{self.hostname}': not a regular expression: {error}.") from error

    def _env_vars(self, mpi: SiteMpi) -> dict[str, str]:
        needs = dict(ENVIRONMENTS[mpi.name].needs) if mpi.name in ENVIRONMENTS and not self.spack_site else {}
        # srun takes the kind of PMI from here, so that one partition can serve MPIs that speak different ones
        kind = {"SLURM_MPI_TYPE": self.pmi or pmi_of(mpi.name)} if self.launcher == "srun" else {}
        return needs | {name: value for name, value in kind.items() if value}

    def _described(self, mpi: SiteMpi) -> dict[str, Any]:
        known = ENVIRONMENTS.get(mpi.name)
        return {
            "name": mpi.name,
            "modules": mpi.modules,
            "library": mpi.library,
            "compiler": mpi.compiler,
            "env_vars": self._env_vars(mpi),
            "pairs": [[name, value] for name, value in self._env_vars(mpi).items()],
            "bin_dir": str((HOME / self.bin_dir.replace("{mpi}", mpi.name)).resolve()),
            "async_progress": dict(known.async_progress) if known else {},
        }

    def text(self) -> str:
        """The file."""
        from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - no other call needs it

        self.check()
        fabric = FABRICS[self.fabric]
        features = ["remote", *(["rdma"] if fabric.rdma else []), *dict.fromkeys(self.node_features)]
        loader = Environment(
            loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, keep_trailing_newline=True
        )
        loader.filters["py"] = _python
        facts = {name: getattr(self, name) for name in self.__dataclass_fields__}
        facts |= {"fabric": fabric, "features": features, "names": [mpi.name for mpi in self.mpis]}
        return loader.get_template("site.py.j2").render(facts | {"mpis": [self._described(mpi) for mpi in self.mpis]})


def pmi_of(mpi: str) -> str:
    """What srun must speak with this MPI; empty: the site's default (Cray's srun knows)."""
    return {"openmpi": "pmix", "cray-mpich": ""}.get(mpi, "pmi2")


def _python(value: Any) -> str:
    """As the formatter would write it: double quotes."""
    if isinstance(value, (list, tuple)):
        return f"[{', '.join(map(_python, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{_python(key)}: {_python(item)}' for key, item in value.items())}}}"
    return json.dumps(value) if isinstance(value, str) else repr(value)
