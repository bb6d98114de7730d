# SPDX-License-Identifier: BSD-3-Clause
"""A site's packages.yaml names each MPI by a prefix that is its alone, and says what was found and what was not."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
import yaml

from harness.base.errors import UsageError
from harness.base.mpis import MPIS, WHEEL_MPIS
from harness.setup.build import ABIS
from spack_env import externals, make_site, mpi_environments

MPICH = {"MPICH_VERSION": '"4.1.2"'}
OPENMPI = {"OMPI_MAJOR_VERSION": "5", "OMPI_MINOR_VERSION": "0", "OMPI_RELEASE_VERSION": "3"}
INTEL = {"MPICH_VERSION": '"3.4a2"', "I_MPI_VERSION": '"2021.11.0"'}
MVAPICH2 = {"MPICH_VERSION": '"3.2.1"', "MVAPICH2_VERSION": '"2.3.7"'}


def fake_mpi(prefix: Path, macros: dict[str, str], suffix: str = "", library: str = "mpi") -> Path:
    """A prefix with an MPI as a compiler wrapper shows it: its macros, its flags, its library."""
    for folder in ("bin", "lib", "include"):
        (prefix / folder).mkdir(parents=True, exist_ok=True)
    (prefix / "include" / "mpi.h").write_text("")
    (prefix / "lib" / f"lib{library}.so").write_text("")
    defines = "\\n".join(f"#define {name} {value}" for name, value in macros.items())
    flags = f"cc -I{prefix}/include -L{prefix}/lib -l{library}"
    answers = f"-show) echo '{flags}';; -who) echo {suffix or 'plain'};; *) printf '{defines}\\n';;"
    script = f"#!/bin/sh\ncase $1 in {answers} esac\n"
    wrapper = prefix / "bin" / f"mpicc{suffix}"
    wrapper.write_text(script)
    wrapper.chmod(0o755)
    return wrapper


@pytest.mark.parametrize(
    ("macros", "label"),
    [
        (MPICH, "mpich-4.1.2"),
        (OPENMPI, "openmpi-5.0.3"),
        (INTEL, "intel-oneapi-mpi-2021.11.0"),
        (MVAPICH2, "mvapich2-2.3.7"),
    ],
)
def test_an_mpi_is_told_by_its_header(macros: dict[str, str], label: str, tmp_path: Path) -> None:
    found = mpi_environments.identify(fake_mpi(tmp_path, macros))
    assert isinstance(found, mpi_environments.Found)
    assert found.label == label


def test_what_is_no_mpi_is_left_out_with_a_sentence(tmp_path: Path) -> None:
    assert "does not compile" in str(mpi_environments.identify(tmp_path / "mpicc"))
    assert "names none of" in str(mpi_environments.identify(fake_mpi(tmp_path, {"MPI_VERSION": "4"})))


def test_two_mpis_in_one_prefix_are_kept_apart(tmp_path: Path) -> None:
    """As Debian has them in /usr: whoever asks for one must not be given the other."""
    usr = tmp_path / "usr"
    wrappers = [fake_mpi(usr, MPICH, ".mpich", "mpich"), fake_mpi(usr, OPENMPI, ".openmpi", "mpi")]
    found = [mpi_environments.identify(wrapper) for wrapper in wrappers]
    entries = [make_site.external(mpi, tmp_path / "shims") for mpi in found if isinstance(mpi, mpi_environments.Found)]
    prefixes = [Path(entry.prefix) for entry in entries]
    assert len(set(prefixes)) == 2
    assert usr not in prefixes
    for prefix, suffix in zip(prefixes, (".mpich", ".openmpi"), strict=True):
        assert subprocess.check_output([prefix / "bin" / "mpicc", "-who"], text=True).strip() == suffix
        assert (prefix / "include" / "mpi.h").exists()
    libraries = [{path.name for path in (prefix / "lib").iterdir()} for prefix in prefixes]
    assert libraries[0] == {"libmpich.so"}
    assert "libmpi.so" in libraries[1]


def test_an_mpi_with_a_prefix_of_its_own_is_used_where_it_is(tmp_path: Path) -> None:
    """One of oneAPI by the prefix above its component."""
    for place, macros, prefix, spec in (
        ("openmpi", OPENMPI, "openmpi", "openmpi@5.0.3"),
        ("oneapi/mpi/2021.11", INTEL, "oneapi", "intel-oneapi-mpi@2021.11.0 +generic-names"),
    ):
        found = mpi_environments.identify(fake_mpi(tmp_path / place, macros))
        assert isinstance(found, mpi_environments.Found)
        entry = make_site.external(found, tmp_path / "shims")
        assert entry.prefix == str(tmp_path / prefix) and entry.spec.startswith(spec)
    assert not (tmp_path / "shims").exists()


def test_a_template_is_for_building_and_an_external_is_not_built() -> None:
    template = {"mpich": {"variants": "netmod=ucx"}, "ucx": {"prefer": ["+verbs"]}}
    found = [
        externals.External("mpich", "mpich@4.1.2", "/opt/mpich", ""),
        externals.External("fmt", "fmt@9.1", "/usr", ""),
    ]
    packages = make_site.merge(template, found)
    assert packages["mpich"] == {"externals": [{"spec": "mpich@4.1.2", "prefix": "/opt/mpich"}], "buildable": False}
    assert packages["ucx"] == {"prefer": ["+verbs"]}
    assert packages["fmt"] == {"externals": [{"spec": "fmt@9.1", "prefix": "/usr"}]}
    assert template["mpich"] == {"variants": "netmod=ucx"}


def test_a_site_is_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_site, "SITES", tmp_path / "sites")
    fake_mpi(tmp_path / "opt", OPENMPI)
    made = make_site.make("cluster", "infiniband", [tmp_path / "opt"])
    packages = yaml.safe_load((made.folder / "packages.yaml").read_text())["packages"]
    assert packages["openmpi"]["externals"][0]["prefix"] == str(tmp_path / "opt")
    assert "+verbs" in packages["ucx"]["prefer"][0] or "externals" in packages["ucx"]
    assert packages["gcc"]["externals"][0]["extra_attributes"]["compilers"]["cxx"].endswith("g++")
    assert all(found.how for found in made.found)


def test_wrong_sites_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_site, "SITES", tmp_path / "sites")
    with pytest.raises(UsageError, match="There are: ethernet, infiniband, omnipath, pypi, slingshot"):
        make_site.make("x", "myrinet")
    with pytest.raises(UsageError, match="letters, digits"):
        make_site.make("../x", "pypi")
    with pytest.raises(UsageError, match="no program bin/mpicc in it"):
        make_site.make("x", "ethernet", [tmp_path])


def test_crays_mpi_says_by_its_module_where_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CRAY_MPICH_DIR", "/opt/cray/pe/mpich/8.1.28/ofi/gnu/12.3")
    monkeypatch.setenv("CRAY_MPICH_VERSION", "8.1.28")
    (entry,) = make_site._cray()
    assert entry.entry()["modules"] == ["cray-mpich/8.1.28"]


@pytest.mark.mpi
@pytest.mark.parametrize(
    ("name", "command"), [*((name, "mpicc") for name in WHEEL_MPIS), ("mpich", ABIS["standard-abi"].wrapper)]
)
def test_a_wheels_shim_links_its_own_library(name: str, command: str, tmp_path: Path) -> None:
    mpi = MPIS[name]
    if not mpi.installed():
        pytest.skip(f"{mpi.title} is not installed")
    found = mpi_environments.identify(mpi.mpicc, mpi.environment() if mpi.family == "intel" else {})
    assert isinstance(found, mpi_environments.Found)
    prefix = Path(make_site.external(found, tmp_path).prefix)
    (wrapper,) = prefix.rglob(f"bin/{command}")
    program = tmp_path / "program"
    source = tmp_path / "program.c"
    source.write_text("#include <mpi.h>\nint main(void) { return MPI_Finalize(); }\n")
    subprocess.run([wrapper, source, "-o", program], check=True, timeout=120)
    needed = subprocess.check_output(["ldd", program], text=True, timeout=120)
    assert str(mpi.prefix.resolve()) in needed.replace(str(mpi.prefix), str(mpi.prefix.resolve()))
    assert (ABIS["standard-abi"].library in needed) == (command != "mpicc")
    (header,) = (
        prefix.rglob("include/mpi.h") if name != "intel-mpi" else [next(iter(prefix.glob("mpi/*/include/mpi.h")))]
    )
    assert header.exists()


# package -> (its headers as they say their version, the version)
BY_HEADER = {
    "boost": ({"boost/fiber/fiber.hpp": "", "boost/version.hpp": '#define BOOST_LIB_VERSION "1_74"'}, "1.74"),
    "opa-psm2": ({"psm2.h": "#define PSM2_VERNO_MAJOR 0x0002\n#define PSM2_VERNO_MINOR 0x0002"}, "2.2"),
}


@pytest.mark.parametrize("package", externals.HEADERS)
def test_a_library_is_found_by_its_headers(package: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """All of them: a Boost without fibers is none for us."""
    texts, version = BY_HEADER[package]
    monkeypatch.setenv("CPATH", str(tmp_path))
    for file, text in texts.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text + "\n")
    assert externals.header_version(*externals.HEADERS[package]) == version
    absent = ((*externals.HEADERS[package][0], "absent.h"), externals.HEADERS[package][1])
    assert externals.header_version(*absent) == ""
