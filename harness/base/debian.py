# SPDX-License-Identifier: BSD-3-Clause
"""Debian packages by name, with all that they need, unpacked into a folder. Nothing of this machine changes.

apt's ordinary client resolves and downloads them, with a state of its own in which nothing is installed; no root is
needed, and no maintainer script runs. A program of such a folder runs with that folder's own loader and libraries.
Standard library only.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.base import process
from harness.base.errors import Failure

MIRROR = "http://deb.debian.org/debian"
SECURITY = "http://deb.debian.org/debian-security"
KEYRING = Path("/usr/share/keyrings/debian-archive-keyring.gpg")
LIBRARIES = Path("usr/lib/x86_64-linux-gnu")
LINKS_TO_USR = ("bin", "sbin", "lib", "lib64")
NOT_UNPACKED = ("./usr/share/doc/*", "./usr/share/man/*", "./usr/share/locale/*", "./usr/share/info/*")
LONGEST_S = 1800.0  # of any one step, on a slow line
MOST_LINKS = 20

EXCLUDED = " ".join(f"--exclude '{path}'" for path in NOT_UNPACKED)
# Packages of before the merged /usr hold ./bin and ./lib, which are links here and stay so.
UNPACK = f"""
root=$1; shift
for package; do
  dpkg-deb --fsys-tarfile "$package" | tar -x -C "$root" --keep-directory-symlink --no-same-owner {EXCLUDED} || exit 1
done
"""


@dataclass(frozen=True)
class Release:
    """Where packages come from: suites of the mirror and of the security mirror; `preferred` wins where it has one."""

    suites: tuple[str, ...]
    security: tuple[str, ...] = ()
    preferred: str = ""

    def lines(self) -> list[str]:
        """As sources.list has them."""
        found = [(MIRROR, suite) for suite in self.suites] + [(SECURITY, suite) for suite in self.security]
        return [f"deb [signed-by={KEYRING}] {mirror} {suite} main" for mirror, suite in found]


def why_not() -> str | None:
    """The sentence why packages cannot be had here, or None."""
    if missing := [tool for tool in ("apt-get", "dpkg-deb", "tar") if shutil.which(tool) is None]:
        return f"Debian's packages cannot be fetched here: there is no {' and no '.join(missing)}."
    if not KEYRING.exists():
        return f"Debian's packages cannot be fetched here: no {KEYRING}, which the package debian-archive-keyring has."
    return None


def unpack(release: Release, packages: Sequence[str], cache: Path, root: Path) -> list[str]:
    """Unpack `packages` and what they need into the new folder `root`; which files they came in, in order of name.

    `cache`: where the package lists and, meanwhile, the downloads are. Failure with a sentence where that cannot be;
    there is no `root` then.
    """
    if reason := why_not():
        raise Failure(reason)
    new = root.with_name(root.name + ".new")
    with _locked(cache):
        archives = cache / "cache" / "archives"
        for left in archives.glob("*.deb"):
            left.unlink()
        shutil.rmtree(new, ignore_errors=True)
        _apt(release, cache, ["update"])
        preferred = ["-t", release.preferred] if release.preferred else []
        _apt(release, cache, ["install", "-y", "--no-install-recommends", "--download-only", *preferred, *packages])
        found = sorted(archives.glob("*.deb"))
        _make_merged(new)
        _do(["sh", "-c", UNPACK, "sh", str(new), *map(str, found)], cache)
        for package in found:
            package.unlink()
        shutil.rmtree(root, ignore_errors=True)
        new.rename(root)
    return [package.name for package in found]


def _make_merged(root: Path) -> None:
    for name in LINKS_TO_USR:
        (root / "usr" / name).mkdir(parents=True)
        (root / name).symlink_to(f"usr/{name}")


@contextlib.contextmanager
def _locked(cache: Path) -> Iterator[None]:
    """One at a time: another waits."""
    for name in ("state/lists/partial", "cache/archives/partial"):
        (cache / name).mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _apt(release: Release, cache: Path, words: list[str]) -> None:
    (cache / "status").touch()
    (cache / "sources.list").write_text("\n".join(release.lines()) + "\n")
    settings = {
        "Dir::State": cache / "state",
        "Dir::State::status": cache / "status",
        "Dir::Cache": cache / "cache",
        "Dir::Etc::sourcelist": cache / "sources.list",
        "Dir::Etc::sourceparts": "-",
        "Dir::Etc::preferencesparts": "-",
        "APT::Sandbox::User": "root",  # _apt may not enter a folder of this user's
        "Acquire::Languages": "none",
    }
    _do(["apt-get", "-q", *(f"-o{key}={value}" for key, value in settings.items()), *words], cache)


def _do(command: list[str], cache: Path) -> None:
    done = process.answer(command, LONGEST_S, dict(os.environ) | {"LC_ALL": "C.UTF-8"}, cwd=cache, merged=True)
    if done.status != 0:
        raise Failure(f"Debian's packages cannot be fetched: {done.last_line or command[0]}")


def program(root: Path, path: str, library_paths: Sequence[Path] = ()) -> list[str]:
    """The command that runs a program of an unpacked folder with that folder's loader and libraries."""
    libraries = [root / LIBRARIES, *library_paths]
    loader = root / LIBRARIES / "ld-linux-x86-64.so.2"
    where = ":".join(map(str, libraries))
    return [str(loader), "--argv0", Path(path).name, "--library-path", where, str(_within(root, path))]


def _within(root: Path, path: str) -> Path:
    """The file that a path names in `root`: links are meant from there."""
    file = root / path.lstrip("/")
    for _ in range(MOST_LINKS):
        if not file.is_symlink():
            return file
        target = file.readlink()
        file = root / target.relative_to("/") if target.is_absolute() else file.parent / target
    raise Failure(f"{root / path.lstrip('/')} is a link in a circle")
