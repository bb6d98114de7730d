# SPDX-License-Identifier: BSD-3-Clause
"""Spack as the harness uses it: is it there, an environment of a site, its lock, what it installed.

A site (spack_env.make_site) has each environment in a folder of its own: sites/SITE/ENVIRONMENT, a copy of the one in
spack_env/environments that includes the site's packages. Its lock and view are there, too.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from harness.base import process
from harness.base.errors import Failure, UsageError, there_are
from harness.base.mpis import MPIS
from harness.base.paths import IN_CLONE, ROOT
from harness.base.process import has_stamp, run_step, setup_lock, write_stamp
from spack_env import make_site
from spack_env.mpi_environments import ENVIRONMENTS, Environment

OLDEST = (1, 0)  # the first that reads recipes of package API v2
ENVIRONMENTS_DIR = ROOT / "spack_env" / "environments"
PACKAGES = ("progress-engine", "overlap-bench-workloads")
VERSION_TIMEOUT_S = 60


def supported() -> str | None:
    """None, or the sentence why Spack cannot be used here."""
    if not IN_CLONE:
        return "Spack builds from a clone of Overlap Bench, and this is an installed package: run ./bench there."
    wanted = ".".join(map(str, OLDEST))
    program = shutil.which("spack")
    if program is None:
        return f"Spack is not on PATH: clone it (release {wanted} or newer) and source its share/spack/setup-env.sh."
    done = process.answer([program, "--version"], VERSION_TIMEOUT_S)
    if done.status is None:
        return f"{program} --version does not answer ({done.last_line}): is this Spack in order?"
    found = re.match(r"(\d+)\.(\d+)\S*", done.out.strip())
    if done.status or not found:
        last = (done.err.strip().splitlines() or ["nothing"])[-1]
        return f"{program} --version ends with status {done.status} and says: {last}"
    if (int(found[1]), int(found[2])) < OLDEST:
        return f"{program} is Spack {found[0]}, and {wanted} or newer is needed: its recipes are of package API v2.0."
    return None


def require() -> None:
    """UsageError with the sentence if Spack cannot be used here."""
    if reason := supported():
        raise UsageError(reason)


def version() -> str:
    """As `spack --version` says it, its commit included where it knows that."""
    return process.answer(["spack", "--version"], VERSION_TIMEOUT_S).out.strip()


def environment(name: str) -> Environment:
    """The environment of this name; UsageError with the names there are."""
    if name not in ENVIRONMENTS:
        raise UsageError(f"There is no environment '{name}'. {there_are(name, ENVIRONMENTS)}")
    return ENVIRONMENTS[name]


@dataclass(frozen=True)
class SiteEnvironment:
    """An environment as a site uses it. Everything that Spack makes of it is below `folder`."""

    site: str
    environment: Environment

    @property
    def folder(self) -> Path:
        return make_site.SITES / self.site / self.environment.name

    @property
    def bin(self) -> Path:
        """Where the installed programs appear."""
        return self.folder / ".spack-env" / "view" / "bin"

    @property
    def lock_file(self) -> Path:
        return self.folder / "spack.lock"

    def check_site(self) -> Path:
        """The site's packages.yaml; UsageError if the site was not made yet."""
        packages = make_site.SITES / self.site / "packages.yaml"
        if not packages.is_file():
            raise UsageError(f"There is no site '{self.site}' yet: ./bench spack site {self.site} --template NAME.")
        return packages

    def write(self) -> None:
        """Put spack.yaml in the folder; UsageError if the site was not made yet."""
        packages = self.check_site()
        source = ENVIRONMENTS_DIR / self.environment.name / "spack.yaml"
        tree = yaml.safe_load(source.read_text())
        tree["spack"]["include"] = [str(packages), str(ENVIRONMENTS_DIR / "common.yaml")]
        origin = f"# Made from environments/{self.environment.name} by ./bench spack.\n"
        text = origin + yaml.safe_dump(tree, sort_keys=False)
        self.folder.mkdir(exist_ok=True)
        target = self.folder / "spack.yaml"
        if not target.exists() or target.read_text() != text:
            target.write_text(text)

    def concretize(self) -> None:
        """Choose what would be installed, and write the lock."""
        self.write()
        self._spack("concretizing", ["concretize", "--force"], about_s=40)
        write_stamp(self._stamp, self._inputs())

    def prepare(self) -> None:
        """Have a lock of what the recipes, the environment and the site say now: Spack itself keeps an old one."""
        self.write()
        if not (self.lock_file.exists() and has_stamp(self._stamp, self._inputs())):
            self.concretize()

    @property
    def _stamp(self) -> Path:
        return self.folder / "overlap-bench.stamp"

    def _inputs(self) -> str:
        """The digest of all that a lock is made from."""
        recipes = sorted((ROOT / "spack_env" / "repo").rglob("package.py"))
        files = [self.folder / "spack.yaml", self.check_site(), ENVIRONMENTS_DIR / "common.yaml", *recipes]
        return hashlib.sha256(b"\0".join(path.read_bytes() for path in files) + version().encode()).hexdigest()

    def install(self) -> None:
        """Install what the lock says, chosen anew if its reasons have changed. Quick if all is there."""
        self.prepare()
        self._spack("installing", ["install", *self.install_options()], about_s=120)
        self._renew_view()

    def _renew_view(self) -> None:
        """Link what is installed now: Spack keeps a view while the hashes are the same, and so does not see what a
        rebuild of the same specs installed anew, or what an interrupted one had taken away.
        """
        command = ["spack", "-e", str(self.folder), "find", "--format", "{prefix}", *PACKAGES]
        found = process.answer(command, VERSION_TIMEOUT_S).out.split()
        installed = {file.name for prefix in found for file in Path(prefix, "bin").glob("*")}
        if installed <= {link.name for link in self.bin.glob("*") if link.exists()}:
            return
        view = self.bin.parent
        shutil.rmtree(view.resolve(), ignore_errors=True)
        view.unlink(missing_ok=True)
        self._spack("linking the programs of", ["env", "view", "regenerate"], about_s=5)

    @staticmethod
    def install_options() -> list[str]:
        """OVERLAP_BENCH_JOBS: how many compilers at once, where a login node is shared."""
        return ["-j", os.environ.get("OVERLAP_BENCH_JOBS", str(os.cpu_count() or 1))]

    def _spack(self, what: str, command: list[str], about_s: int) -> None:
        title = f"Spack: {what} {self.environment.name} for {self.site}"
        run_step(title, ["spack", "-e", str(self.folder), *command], about_s=about_s)

    def lock(self) -> dict[str, Any]:
        """What the lock says of our packages: the concrete specs, the lock's hash. Failure if there is no lock."""
        try:
            data = self.lock_file.read_bytes()
        except OSError as error:
            raise Failure(
                f"{self.lock_file} is not there: ./bench spack concretize {self.environment.name}."
            ) from error
        specs = json.loads(data)["concrete_specs"]
        return {
            "site": self.site,
            "environment": self.environment.name,
            "lock_sha256": hashlib.sha256(data).hexdigest(),
            "specs": {node["name"]: describe(specs, key) for key, node in specs.items() if node["name"] in PACKAGES},
        }


def describe(specs: dict[str, Any], key: str) -> str:
    """A concrete spec of a lock in Spack's own notation: itself with its variants, its compiler and MPI, its hash."""
    node = specs[key]
    parts = [_node(node), *(_variants(node.get("parameters", {})))]
    arch = node.get("arch", {})
    target = arch.get("target")
    if arch:
        name = target["name"] if isinstance(target, dict) else target
        parts.append(f"arch={arch['platform']}-{arch['platform_os']}-{name}")
    for dependency in node.get("dependencies", []):
        virtuals = dependency.get("parameters", {}).get("virtuals", [])
        if "mpi" in virtuals:
            parts.append(f"^{_node(specs[dependency['hash']])}/{dependency['hash'][:7]}")
        elif "cxx" in virtuals:
            parts.append(f"%{_node(specs[dependency['hash']])}")
    return " ".join([*parts, f"/{key}"])


def _node(node: dict[str, Any]) -> str:
    return f"{node['name']}@{node['version']}"


def _variants(parameters: dict[str, Any]) -> list[str]:
    """Flags of the compiler are in it, too, where there are any."""
    words = []
    for name, value in sorted(parameters.items()):
        if isinstance(value, bool):
            words.append(f"{'+' if value else '~'}{name}")
        elif value and name != "dev_path":  # where the sources are is this machine's affair
            words.append(f"{name}={','.join(value) if isinstance(value, list) else value}")
    return words


# The site of this machine, with the MPIs that ./bench installs from PyPI; and which of them is whose external.
HERE = "here"
FROM_SPACK = {
    name: SiteEnvironment(HERE, ENVIRONMENTS[package])
    for name, package in {"mpich": "mpich", "openmpi": "openmpi", "intel-mpi": "intel-oneapi-mpi"}.items()
}


def ensure_here() -> None:
    """Have the site of this machine written: anew when an MPI is of another version, or sites are made otherwise."""
    stamp = make_site.SITES / HERE / "overlap-bench.stamp"
    makers = [*make_site.HERE.glob("*.py"), make_site.TEMPLATES / f"{make_site.WHEELS}.yaml"]
    how = hashlib.sha256(b"\0".join(path.read_bytes() for path in sorted(makers))).hexdigest()
    wheels = [wheel for name in FROM_SPACK if MPIS[name].installed() for wheel in MPIS[name].wheels]
    wanted = " ".join([*wheels, how])
    with setup_lock():
        if not has_stamp(stamp, wanted):
            make_site.make(HERE, make_site.WHEELS)
            write_stamp(stamp, wanted)
