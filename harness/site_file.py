# SPDX-License-Identifier: BSD-3-Clause
"""A site's own ReFrame configuration, checked whole before anything is submitted.

ReFrame's own loader and schema say whether it is a configuration; what a check has to know beyond that stands in the
`extras` of its partition and environments, see reframe_checks.systems.common.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import site_probe, spack
from harness.errors import UsageError

Config = Mapping[str, Any]

# name -> its type; `launch` besides is one of LAUNCHES
PARTITION_EXTRAS: dict[str, type] = {
    "launch": str, "hosts": list, "remote_shell": str, "bind": bool, "network": str, "cpus_shared": bool,
    "cpus_too_few": str, "check_interfaces": bool, "sweep": list, "nodes": int, "cores": int,
    "progress_cores": int,
}  # fmt: skip
ENVIRONMENT_EXTRAS: dict[str, type] = {
    "mpi": str, "library": str, "bin_dir": str, "async_progress": dict, "spack": dict,
}  # fmt: skip
REQUIRED = ("mpi", "library", "bin_dir")
LAUNCHES = ("mpiexec", "launcher")


@dataclass(frozen=True)
class Site:
    """What runs there: ReFrame's name of the system, where the programs of each MPI environment are, who builds them.

    `spack`: the environments that Spack installs; the programs of the others are there.
    """

    system: str
    programs: dict[str, Path]
    spack: dict[str, spack.SiteEnvironment]


def read(path: Path) -> Site:
    """The site that a configuration file describes; UsageError with what is wrong in it, and what would be right."""
    try:
        config = _load(path)
        partition, environments = _mpi_part(config)
        _check_partition(partition)
        for environment in environments:
            _check_environment(environment, partition)
        site_probe.check(config["systems"][0], partition, environments)
        for environment in environments:
            _check_programs(environment)
    except UsageError as error:
        raise UsageError(f"{path}: {error}") from error.__cause__
    programs = {environment["name"]: Path(environment["extras"]["bin_dir"]) for environment in environments}
    built = {environment["name"]: _from_spack(environment) for environment in environments}
    return Site(config["systems"][0]["name"], programs, {name: chosen for name, chosen in built.items() if chosen})


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


def _mpi_part(config: Config) -> tuple[Config, list[Config]]:
    """The partition that has MPI environments, and these."""
    known = {environment["name"]: environment for environment in config["environments"]}
    found = []
    for partition in config["systems"][0]["partitions"]:
        chosen = [known[name] for name in partition["environs"] if "mpi" in known[name].get("features", [])]
        if chosen:
            found.append((partition, chosen))
    if len(found) != 1:
        names = ", ".join(partition["name"] for partition, _ in found) or "none"
        raise UsageError(
            f"one partition with environments that have the feature 'mpi' is wanted, and there are: {names}."
        )
    return found[0]


def _check_partition(partition: Config) -> None:
    where = f"partition {partition['name']}"
    extras = _typed(where, partition.get("extras", {}), PARTITION_EXTRAS)
    if extras.get("launch", "launcher") not in LAUNCHES:
        raise UsageError(f"{where}: extras 'launch' is one of {', '.join(LAUNCHES)}, not '{extras['launch']}'.")
    for name in ("hosts", "sweep"):
        if not all(isinstance(item, str) for item in extras.get(name, [])):
            raise UsageError(f"{where}: extras '{name}' is a list of strings.")
    for name, least in (("nodes", 1), ("cores", 1), ("progress_cores", 0)):
        if extras.get(name, least) < least:
            raise UsageError(f"{where}: extras '{name}' is at least {least}.")


def _check_environment(environment: Config, partition: Config) -> None:
    from harness.mpis import MPIS  # noqa: PLC0415

    name = environment["name"]
    where = f"environment {name}"
    extras = _typed(where, environment.get("extras", {}), ENVIRONMENT_EXTRAS)
    if lacking := [key for key in REQUIRED if not extras.get(key)]:
        raise UsageError(f"{where}: extras lack {', '.join(lacking)}.")
    if extras["mpi"] != name:
        raise UsageError(f"{where}: extras 'mpi' must be the environment's own name, and is '{extras['mpi']}'.")
    if partition.get("extras", {}).get("launch") == "mpiexec" and name not in MPIS:
        raise UsageError(f"{where}: with 'launch': 'mpiexec' it is one of {', '.join(MPIS)}; or let ReFrame launch.")
    if not all(isinstance(text, str) for pair in extras.get("async_progress", {}).items() for text in pair):
        raise UsageError(f"{where}: extras 'async_progress' has strings for strings.")


def _check_programs(environment: Config) -> None:
    """Last, since without the right modules and compiler there would be nothing to build them with."""
    where, extras = f"environment {environment['name']}", environment["extras"]
    if chosen := _from_spack(environment):
        if Path(extras["bin_dir"]) != chosen.bin:
            raise UsageError(f"{where}: extras 'bin_dir' of what Spack installs is {chosen.bin}.")
    elif not (Path(extras["bin_dir"]) / "progress-run").is_file():
        absent = f"{where}: there is no progress-run in bin_dir {extras['bin_dir']}"
        raise UsageError(f"{absent}; build it for this MPI (docs/cluster.md says how).")


def _from_spack(environment: Config) -> spack.SiteEnvironment | None:
    """What Spack is to install for it, if anything; UsageError if there is no such environment or site."""
    asked = environment["extras"].get("spack")
    if asked is None:
        return None
    where = f"environment {environment['name']}: extras 'spack'"
    if set(asked) != {"site", "environment"} or not all(isinstance(text, str) for text in asked.values()):
        raise UsageError(f"{where} is {{'site': NAME, 'environment': NAME}}, not {asked!r}.")
    try:
        chosen = spack.SiteEnvironment(asked["site"], spack.environment(asked["environment"]))
        chosen.check_site()
    except UsageError as error:
        raise UsageError(f"{where}: {error}") from error
    return chosen


def _typed(where: str, extras: object, types: Mapping[str, type]) -> Config:
    if not isinstance(extras, dict):
        raise UsageError(f"{where}: extras is a dictionary.")
    for name, value in extras.items():
        if name in types and type(value) is not types[name]:
            raise UsageError(f"{where}: extras '{name}' is of type {types[name].__name__}, not {value!r}.")
    return extras
