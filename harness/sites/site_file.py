# SPDX-License-Identifier: BSD-3-Clause
"""A site's own ReFrame configuration, checked whole before anything is submitted.

ReFrame's own loader and schema say whether it is a configuration; what a check has to know beyond that stands in the
`extras` of its partition and environments, see reframe_checks.systems.extras.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from harness.base import validate
from harness.base.errors import UsageError, there_are
from harness.base.mpis import MPIS
from harness.codes import known
from harness.sites import site_probe
from spack_env import site_environment as spack

if TYPE_CHECKING:  # 0.2 s of imports
    from reframe_checks.systems.extras import EnvironmentExtras

Config = Mapping[str, Any]
CODES = [code.name for code in known.CODES]


@dataclass(frozen=True)
class Site:
    """What runs there: ReFrame's names of system and partition, where the programs of each MPI environment are.

    `spack`: the environments that Spack installs; the programs of the others are there. `apps`: of each environment,
    other people's code -> the folder it is in.
    """

    system: str
    partition: str
    programs: dict[str, Path]
    spack: dict[str, spack.SiteEnvironment]
    apps: dict[str, dict[str, str]]


def partitions(path: Path) -> list[str]:
    """The names of a file's partitions that have MPI environments; UsageError with what is wrong in the file."""
    try:
        return [partition["name"] for partition, _ in _mpi_parts(_load(path))]
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error.__cause__


def read(path: Path, wanted: str = "") -> Site:
    """One partition of the site that a configuration file describes, the `wanted` one or the only one.

    UsageError with what is wrong in it, and what would be right.
    """
    try:
        config = _load(path)
        partition, environments = _chosen(_mpi_parts(config), path.name, wanted)
        extras = _extras(partition, environments)
        site_probe.check(config["systems"][0], partition, environments)
        built = {name: _from_spack(name, known) for name, known in extras.items()}
        for name, known in extras.items():
            _check_apps(name, known)
            _check_programs(name, known, built[name])
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error.__cause__
    programs = {name: Path(known.bin_dir) for name, known in extras.items()}
    return Site(
        config["systems"][0]["name"],
        partition["name"],
        programs,
        {name: chosen for name, chosen in built.items() if chosen},
        {name: known.apps for name, known in extras.items()},
    )


def _load(path: Path) -> Config:
    """The configuration for this host, as ReFrame itself would have it."""
    import jsonschema  # noqa: PLC0415 - half a second of imports
    from reframe.core import settings  # noqa: PLC0415
    from reframe.core.backends import getlauncher, getscheduler  # noqa: PLC0415
    from reframe.core.config import load_config  # noqa: PLC0415
    from reframe.utility import import_module_from_file  # noqa: PLC0415

    try:
        # ReFrame's loader takes the file for good before it validates, so it is held against the schema before.
        given = getattr(import_module_from_file(str(path)), "site_configuration", None)
        if not isinstance(given, dict):
            raise UsageError("it defines no dictionary site_configuration.")
        jsonschema.validate({**settings.site_configuration, **given}, load_config().schema)
        config: Config = load_config(str(path))
        config.select_subconfig()  # type: ignore[attr-defined]
        for partition in config["systems"][0]["partitions"]:
            getscheduler(partition["scheduler"])
            getlauncher(partition["launcher"])
    except UsageError:
        raise
    except (Exception, SystemExit) as error:  # the file is a program of its own: it may raise anything
        raise UsageError(f"not a ReFrame configuration for this host: {_words(error)}.") from error
    if config["systems"][0]["name"] == "generic":
        raise UsageError("none of its systems has a pattern in 'hostnames' that this host's name matches.")
    return config


def _words(error: BaseException) -> str:
    """The innermost cause on one line: with jsonschema's, where in the file."""
    while error.__cause__:
        error = error.__cause__
    place = "/".join(map(str, getattr(error, "absolute_path", ())))
    message = " ".join(str(getattr(error, "message", None) or error).split())[:200].rstrip(".")
    kind = "" if place or type(error).__name__ == "ConfigError" else f"{type(error).__name__}: "
    return f"{place}: {message}" if place else f"{kind}{message}".removesuffix(": ")


def _mpi_parts(config: Config) -> list[tuple[Config, list[Config]]]:
    """The partitions that have MPI environments, and these; UsageError if there is none."""
    known = {environment["name"]: environment for environment in config["environments"]}
    found = []
    for partition in config["systems"][0]["partitions"]:
        chosen = [known[name] for name in partition["environs"] if "mpi" in known[name].get("features", [])]
        if chosen:
            found.append((partition, chosen))
    if not found:
        raise UsageError("a partition with environments that have the feature 'mpi' is wanted, and there is none.")
    return found


def _chosen(parts: list[tuple[Config, list[Config]]], file: str, wanted: str) -> tuple[Config, list[Config]]:
    names = [partition["name"] for partition, _ in parts]
    if not wanted and len(parts) > 1:
        example = f"--system {file}:{parts[0][0]['name']}"
        there = there_are("", names)
        raise UsageError(f"several partitions have MPI environments: name one, as in {example}. {there}")
    for part in parts:
        if wanted in ("", part[0]["name"]):
            return part
    raise UsageError(f"no partition '{wanted}' has MPI environments. {there_are(wanted, names)}")


def _extras(partition: Config, environments: list[Config]) -> dict[str, EnvironmentExtras]:
    """Those of each environment, checked, and with them the partition's."""
    from reframe_checks.systems import extras as models  # noqa: PLC0415 - 0.2 s of imports

    where = f"extras of partition {partition['name']}"
    here = validate.check(models.PartitionExtras, partition.get("extras", {}), where)
    found = {}
    for environment in environments:
        name = environment["name"]
        where = f"extras of environment {name}"
        known = validate.check(models.EnvironmentExtras, environment.get("extras", {}), where)
        if known.mpi != name:
            raise UsageError(f"{where}: mpi must be the environment's own name, and is '{known.mpi}'.")
        if here.launch == "mpiexec" and name not in MPIS:
            raise UsageError(
                f"{where}: with 'launch': 'mpiexec' it is one of {', '.join(MPIS)}; or let ReFrame launch."
            )
        found[name] = known
    return found


def _check_programs(name: str, known: EnvironmentExtras, chosen: spack.SiteEnvironment | None) -> None:
    """Last, since without the right modules and compiler there would be nothing to build them with."""
    where = f"extras of environment {name}: bin_dir"
    if chosen:
        if Path(known.bin_dir) != chosen.bin:
            raise UsageError(f"{where} of what Spack installs is {chosen.bin}.")
    elif not (Path(known.bin_dir) / "progress-run").is_file():
        absent = f"{where}: there is no progress-run in {known.bin_dir}"
        raise UsageError(f"{absent}; build it for this MPI (docs/how-to/cluster.md says how).")


def _check_apps(name: str, known: EnvironmentExtras) -> None:
    """A code whose name or folder is misspelt would be looked for elsewhere, without a word."""
    for code, folder in known.apps.items():
        where = f"extras of environment {name}: apps"
        if code not in CODES:
            raise UsageError(f"{where}: there is no code '{code}'. {there_are(code, CODES)}")
        if not (Path(folder).is_absolute() and Path(folder).is_dir()):
            raise UsageError(f"{where}.{code}: there is no folder {folder}; give one from / on.")


def _from_spack(name: str, known: EnvironmentExtras) -> spack.SiteEnvironment | None:
    """What Spack is to install for it, if anything; UsageError if there is no such environment or site."""
    if known.spack is None:
        return None
    try:
        chosen = spack.SiteEnvironment(known.spack.site, spack.environment(known.spack.environment))
        chosen.check_site()
    except UsageError as error:
        raise UsageError(f"extras of environment {name}: spack: {error}") from error
    return chosen
