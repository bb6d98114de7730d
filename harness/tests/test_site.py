# SPDX-License-Identifier: BSD-3-Clause
"""Sites' files: written from options, checked on the host; every mistake a sentence before anything is submitted."""

from __future__ import annotations

import os
import pty
import re
import runpy
import shlex
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.base.errors import UsageError
from harness.base.paths import ROOT
from harness.cli import main
from harness.job.session import Facts
from harness.sessions.run import reframe_command
from harness.sites import site_file, site_probe, site_writer, systems
from harness.sites.site_writer import FABRICS, Answers, SiteMpi
from harness.sites.systems import from_facts
from harness.tests.login_node import MODULES, NUMBER, new, program
from harness.tests.sessions import refused
from reframe_checks.catalogue import by_names
from reframe_checks.jobs import Request, differences
from spack_env import make_site
from spack_env import site_environment as spack

SPACK = ("--mpi", "openmpi", "--mpi", "mvapich2", "--spack-site", "cluster")


def test_a_site_whose_mpis_come_from_spack(host: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = ("--partition", "batch", "--account", "abc", "--reserve", "1", "--feature", "smt", "--feature", "mwait")
    status, file = new(host, *SPACK, *given)
    assert status == 0, capsys.readouterr().err
    config = site_file._load(file)
    partition = config["systems"][0]["partitions"][0]
    assert (partition["scheduler"], partition["launcher"]) == ("slurm", "srun")
    assert partition["access"] == ["--partition=batch", "--account=abc"]
    assert set(partition["features"]) == {"remote", "rdma", "smt", "mwait"}
    assert (partition["extras"]["cores"], partition["extras"]["progress_cores"]) == (32, 1)
    assert partition["extras"]["check_interfaces"] is False, "InfiniBand's bytes are on no interface's counters"
    by_name = {environment["name"]: environment for environment in config["environments"]}
    assert dict(by_name["openmpi"]["env_vars"])["SLURM_MPI_TYPE"] == "pmix"
    assert dict(by_name["mvapich2"]["env_vars"]) == {"SLURM_MPI_TYPE": "pmi2", "MV2_ENABLE_AFFINITY": "0"}
    site = site_file.read(file)
    assert site.spack["openmpi"] == spack.SiteEnvironment("cluster", spack.environment("openmpi"))
    assert site.programs["openmpi"] == host / "sites" / "cluster" / "openmpi" / ".spack-env" / "view" / "bin"
    assert main(["site", "check", str(file)]) == 0
    assert "cluster, mvapich2: Spack installs it" in capsys.readouterr().out
    edited = host / f"site_{next(NUMBER)}.py"
    edited.write_text(file.read_text().replace('# "sched_options"', '"sched_options"'))  # as it offers
    assert site_file._load(edited)["systems"][0]["partitions"][0]["sched_options"]["ignore_reqnodenotavail"]
    assert main(["site", "check", str(edited)]) == 0


def test_a_site_whose_mpi_is_a_module(host: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = f"--bin-dir {host}/programs --launcher mpirun --fabric ethernet --scheduler pbs --partition workq"
    status, file = new(host, *MODULES, *options.split())
    assert status == 0, capsys.readouterr().err
    config = site_file._load(file)
    assert config["systems"][0]["partitions"][0]["access"] == ["-q workq"]
    (environment,) = [known for known in config["environments"] if known["name"] == "mpich"]
    assert environment["modules"] == ["mpich/4.2"]
    assert config["systems"][0]["partitions"][0]["extras"]["check_interfaces"] is True
    assert site_file.read(file).programs == {"mpich": host / "programs"}


def test_a_compiler_has_the_variables_that_its_jobs_have(host: Path) -> None:
    """Intel MPI's finds its header by I_MPI_ROOT."""
    program(host / "bin", "needy", '[ "$MPI_ROOT" = "/opt/two words/5" ] && cat > /dev/null')
    partition = {"name": "p", "scheduler": "local", "env_vars": [["BASE", "'/opt/two words'"]]}
    known = {"name": "mpich", "cc": "needy", "extras": {}}
    site_probe.check({}, partition, [known | {"env_vars": [["MPI_ROOT", '"$BASE/5"']]}])
    with pytest.raises(UsageError, match=r"'needy' finds no mpi\.h"):
        site_probe.check({}, partition, [known])


MISTAKES = {
    "scheduler": ((*SPACK, "--scheduler", "cron"), "--scheduler: there is no 'cron'. There are: slurm, squeue, pbs"),
    "fabric": ((*SPACK, "--fabric", "infinband"), "--fabric: there is no 'infinband'. Is infiniband meant?"),
    "partition": ((*SPACK, "--partition", "gpu"), "no partition or queue 'gpu' here. There are: batch, debug."),
    "queue": ((*SPACK, "--scheduler", "pbs", "--launcher", "mpirun", "--partition", "batch"), "There are: workq."),
    "module": (("--mpi", "mpich=mpich/9", "--modules-system", "lmod"), "the module mpich/9 cannot be loaded here"),
    "modules system": (("--mpi", "mpich=mpich/4.2"), "'modules_system' is 'nomod': say lmod or envmod"),
    "no modules system": ((*MODULES, "--modules-system", "softenv"), "--modules-system: there is no 'softenv'."),
    "compiler": (("--mpi", "mpich", "--cc", "mpicc-9"), "its C compiler 'mpicc-9' is not on PATH here."),
    "compiler of a module": ((*MODULES, "--cc", "mpicc-9"), "is not on PATH here after loading mpich/4.2."),
    "programs": ((*MODULES, "--bin-dir", "absent/{mpi}"), "bin_dir: there is no progress-run in"),
    "no mpi": ((), "--mpi is missing"),
    "library": (("--mpi", "lam=lam/7"), "what does its MPI_Get_library_version say?"),
    "spack's site": (("--mpi", "openmpi", "--spack-site", "mars"), "no site 'mars' yet: ./bench spack site mars"),
    "spack's environment": (("--mpi", "lam=lam/7=LAM", "--spack-site", "cluster"), "no environment 'lam'"),
    "pmi": ((*SPACK, "--pmi", "pmi9"), "--pmi is pmi2 or pmix"),
    "pmi without srun": ((*SPACK, "--pmi", "pmix", "--launcher", "mpirun"), "goes with --launcher srun"),
    "launcher": ((*SPACK, "--launcher", "catapult"), "catapult"),
    "hostname": ((*SPACK, "--hostname", "^elsewhere$"), "this host's name"),
    "cores": ((*SPACK, "--cores", "0"), "--cores is a number of at least 1, not '0'."),
    "feature": ((*SPACK, "--feature", "gpu"), "--feature: there is no 'gpu'. There are: smt, mwait, two-sockets."),
    "name of two words": ((*SPACK, "--name", "hpc 1"), "--name 'hpc 1': a name has letters, digits"),
    "name with a point": ((*SPACK, "--name", "hpc.1"), "--name 'hpc.1': a name has"),
    "name of ours": ((*SPACK, "--name", "vcluster"), "a system of that name already"),
    "name of ReFrame's": ((*SPACK, "--name", "generic"), "a system of that name already"),
    "mpi's name": (("--mpi", "mpich-4.2=mpich/4.2=MPICH"), "--mpi 'mpich-4.2': a name has"),
    "two partitions": ((*SPACK, "--partition", "batch,debug"), "one partition and one account are wanted"),
    "account": ((*SPACK, "--account", "a'b"), "one partition and one account are wanted"),
    "hostname's brackets": ((*SPACK, "--hostname", "("), "not a regular expression"),
    "an mpi twice": ((*SPACK, "--mpi", "openmpi"), "--mpi openmpi is given twice"),
    "no mpi's compiler": (("--mpi", "mpich", "--cc", "cc"), "its C compiler 'cc' finds no mpi.h"),
    "flux without its bindings": ((*SPACK, "--scheduler", "flux"), "no flux Python bindings found"),
    "torque's queue": ((*SPACK, "--scheduler", "torque", "--partition", "long"), "There are: workq."),
}


WORDS = ("--name", "--account")


@pytest.mark.parametrize(("options", "words"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_is_a_sentence(
    host: Path, options: tuple[str, ...], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, file = new(host, *options)
    error = capsys.readouterr().err
    assert status == 2 and words in error and "Traceback" not in error
    assert not file.exists(), "no file that does not fit"
    if options[-2:-1] and options[-2] in WORDS:
        assert not file.with_name(f"{file.stem}_unchecked.py").exists(), "refused before anything is written"


EDITED = {
    "partition": ('"--partition=batch"', '"--partition=gpu"', "no partition or queue 'gpu' here."),
    "module": ('["mpich/4.2"]', '["mpich/9"]', "the module mpich/9 cannot be loaded here"),
    "no compiler": ('"cc": "mpicc",', "", "it has no 'cc': name the MPI's C compiler"),
    "unknown key": ('"max_jobs"', '"max_job"', "max_job"),
}


@pytest.mark.parametrize(("old", "new_text", "words"), EDITED.values(), ids=EDITED.keys())
def test_an_edited_mistake_is_refused_before_a_run(host: Path, old: str, new_text: str, words: str) -> None:
    status, file = new(host, *MODULES, "--partition", "batch", "--bin-dir", str(host / "programs"))
    text = file.read_text()
    assert status == 0 and old in text
    edited = host / f"site_{next(NUMBER)}.py"
    edited.write_text(text.replace(old, new_text))
    for command in (["site", "check", str(edited)], ["run", "overlap-ratio", "--system", str(edited)]):
        assert words in refused(*command)


def asked(host: Path, answers: str, *options: str) -> tuple[Path, subprocess.CompletedProcess[str]]:
    """The file that ./bench site new writes for someone who types these answers, and how it ends."""
    ours, theirs = pty.openpty()
    file = host / f"asked_{next(NUMBER)}.py"
    command = [sys.executable, "-m", "harness", "site", "new", str(file), "--hostname", ".*", *options]
    os.write(ours, answers.encode())
    done = subprocess.run(command, stdin=theirs, capture_output=True, text=True, cwd=ROOT, check=False, timeout=120)
    os.close(ours)
    os.close(theirs)
    return file, done


def test_who_goes_away_from_a_question_has_interrupted_it(host: Path) -> None:
    """By Ctrl-D, which a terminal hands on whoever it is of; Ctrl-C comes the same way."""
    file, done = asked(host, "\n\x04")
    assert (done.returncode, file.exists()) == (130, False)
    assert done.stderr.endswith("bench: interrupted\n")


def test_what_is_not_given_is_asked(host: Path) -> None:
    """On a terminal, in this order; Enter takes what is offered, and what is no choice is asked again."""
    answers = "\nslurm\nbatch\n\n\nlmod\nmpich=mpich/4.2\n16\n1\nsmt two-sockets\npigeons\nethernet\n"
    file, done = asked(host, answers, "--bin-dir", str(host / "programs"))
    assert done.returncode == 0, done.stderr
    system = site_file._load(file)["systems"][0]
    partition = system["partitions"][0]
    assert (system["name"], system["modules_system"]) == (file.stem, "lmod")
    assert (partition["launcher"], partition["access"]) == ("srun", ["--partition=batch"])
    assert (partition["extras"]["cores"], partition["extras"]["progress_cores"]) == (16, 1)
    assert partition["features"] == ["remote", "smt", "two-sockets"]


def test_without_a_terminal_nothing_is_guessed(host: Path) -> None:
    """And what is wrong with the rest is said before the network, which is asked last."""
    call = ["site", "new", str(host / "s.py"), "--scheduler", "slurm", *SPACK]
    assert "--cores is missing" in refused(*call)
    assert "--name 'hpc 1': a name has" in refused(*call, "--cores", "4", "--name", "hpc 1")
    assert "--fabric is missing: Which network?" in refused(*call, "--cores", "4")


def test_a_scheduler_that_is_not_here_or_does_not_answer(
    host: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (host / "bin" / "qsub").unlink()
    assert new(host, *SPACK, "--scheduler", "pbs", "--launcher", "mpirun")[0] == 2
    assert "its scheduler is 'pbs', and there is no qsub on PATH here." in capsys.readouterr().err
    program(host / "bin", "sinfo", "echo 'Unable to contact slurm controller' >&2; exit 1")
    assert new(host, *SPACK, "--partition", "batch")[0] == 2
    assert "Unable to contact slurm controller" in capsys.readouterr().err
    program(host / "bin", "sinfo", "sleep 60")
    monkeypatch.setattr("harness.sites.site_probe.TIMEOUT_S", 0.2)
    assert new(host, *SPACK, "--partition", "batch")[0] == 2


def test_a_file_is_not_replaced_unasked(host: Path) -> None:
    _, file = new(host, *SPACK)
    before = file.read_text()
    assert "is there already" in refused("site", "new", str(file), "--scheduler", "slurm")
    assert file.read_text() == before


@pytest.mark.parametrize("fabric", FABRICS)
@pytest.mark.parametrize("launcher", ["srun", "mpirun"])
def test_what_is_written_is_as_the_formatter_has_it(fabric: str, launcher: str) -> None:
    """Parsed as it stands; and lines that a reader can read."""
    mpis = [SiteMpi.parse("mvapich2=mvapich2/2.3.7"), SiteMpi.parse("openmpi")]
    for spack_site in ("", "cluster"):
        text = Answers("c", "slurm", launcher, fabric, mpis, "^login", spack_site=spack_site).text()
        compile(text, "site.py", "exec")
        assert max(map(len, text.splitlines())) < 160


SPACKS = {
    "": "Spack is not on PATH",
    "echo '0.23.1 (abc)'": "is Spack 0.23.1, and 1.0 or newer is needed",
    "echo 'no python' >&2; exit 1": "ends with status 1 and says: no python",
    "echo hello": "ends with status 0 and says: nothing",
}


@pytest.mark.parametrize("script", SPACKS)
def test_without_a_spack_that_will_do_nothing_is_submitted(host: Path, script: str) -> None:
    if script:
        program(host / "bin", "spack", script)
    _, file = new(host, *SPACK)
    calls = [["spack", command, "mpich", "--site", "cluster"] for command in ("concretize", "install", "smoke")]
    for call in (["run", "overlap-ratio", "--scale", "test", "--system", str(file)], *calls):
        assert SPACKS[script] in refused(*call)


@pytest.mark.parametrize("answer", ["1.0.0", "1.1.0 (2e907202bcc8209a6a62243aab50c179b524cc3b)", "1.3.0.dev0", "2.0.1"])
def test_a_spack_that_will_do(host: Path, answer: str) -> None:
    program(host / "bin", "spack", f"echo '{answer}'")
    assert spack.supported() is None
    assert spack.version() == answer


def test_an_environment_is_written_for_its_site(host: Path) -> None:
    chosen = spack.SiteEnvironment("cluster", spack.environment("mvapich2"))
    chosen.write()
    text = (chosen.folder / "spack.yaml").read_text()
    assert str(host / "sites" / "cluster" / "packages.yaml") in text
    assert "deprecated: true" in text
    stamp = (chosen.folder / "spack.yaml").stat().st_mtime_ns
    chosen.write()
    assert (chosen.folder / "spack.yaml").stat().st_mtime_ns == stamp, "Spack would concretize anew"
    with pytest.raises(UsageError, match="no site 'mars' yet"):
        spack.SiteEnvironment("mars", spack.environment("mpich")).write()


def test_what_a_rebuild_installs_anew_is_linked(host: Path) -> None:
    """Spack keeps a view for as long as the hashes are the same; a rebuilt checkout may bring another program."""
    chosen = spack.SiteEnvironment("cluster", spack.environment("mpich"))
    prefix, view = host / "prefix" / "bin", chosen.folder / ".spack-env" / "._view" / "hash" / "bin"
    for folder in (prefix, view):
        folder.mkdir(parents=True)
    for name in ("microbench", "himeno"):
        (prefix / name).write_text("")
    (view / "microbench").symlink_to(prefix / "microbench")
    chosen.bin.parent.symlink_to(view.parent)
    again = f"mkdir -p {view}; ln -s {prefix}/* {view}; ln -s {view.parent} {chosen.bin.parent}; echo x >> {host}/made"
    program(host / "bin", "spack", f"case $3 in find) echo {prefix.parent};; env) [ ! -e {view} ] && {again};; esac")
    for _ in range(2):
        chosen._renew_view()
        assert {link.name for link in chosen.bin.iterdir()} == {"microbench", "himeno"}
    assert (host / "made").read_text() == "x\n", "what is in order is left alone"


def test_flux_is_told_ranks_nodes_and_cores() -> None:
    from reframe_checks.systems import launchers  # noqa: PLC0415 - ReFrame is slow to import

    job = SimpleNamespace(num_tasks=8, num_tasks_per_node=4, num_cpus_per_task=2)
    assert launchers.FluxRun().command(job) == ["flux", "run", "--ntasks=8", "--nodes=2", "--cores-per-task=2"]
    text = Answers("c", "flux", "flux-run", "slingshot", [SiteMpi.parse("cray-mpich")], "^login").text()
    assert "import launchers" in text


@pytest.mark.parametrize("name", ["infiniband", "omnipath", "slingshot"])
def test_what_the_page_writes_is_in_order_where_its_cluster_is(
    name: str, host: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program(host / "bin", "sinfo", "printf 'batch\\nstandard\\n'")
    (host / ".bash_profile").write_text(f"unset BASH_ENV\nexport PATH={host}/bin:/usr/bin:/bin\nmodule() {{ true; }}\n")
    for compiler in ("cc", "mpicc"):
        program(host / "bin", compiler, "true")
    make_site.SITES.joinpath(name).mkdir(exist_ok=True)
    make_site.SITES.joinpath(name, "packages.yaml").write_text("packages: {}\n")
    monkeypatch.setattr(site_writer, "HOME", host)
    for mpi in ("mvapich2", "intel-oneapi-mpi", "cray-mpich"):
        (host / "build" / mpi / "bin").mkdir(parents=True)
        (host / "build" / mpi / "bin" / "progress-run").write_text("")
    page = (ROOT / "docs" / "how-to" / "add-a-site.md").read_text()
    (command,) = re.findall(rf"^    \./bench (site new {name}\.py .*)$", page, re.MULTILINE)
    words = shlex.split(command)
    words[2] = str(host / words[2])
    assert main([*words, "--hostname", ".*"]) == 0
    site = site_file.read(host / f"{name}.py")
    assert site.system == name
    assert list(site.programs) == [words[at + 1].partition("=")[0] for at, word in enumerate(words) if word == "--mpi"]
    assert set(site.spack) == (set(site.programs) if name == "infiniband" else set())


def test_files_and_templates_say_how_a_network_moves_messages_itself(tmp_path: Path) -> None:
    """With its variables, switched the other way, as comments: they are the user's choice."""
    for name, fabric in FABRICS.items():
        assert bool(fabric.switch) is fabric.rdma
        written = Answers("c", "slurm", "srun", name, [SiteMpi.parse("openmpi")], "^login").text()
        (tmp_path / "site.py").write_text(written)
        made = runpy.run_path(str(tmp_path / "site.py"))["site_configuration"]["systems"][0]["partitions"][0]
        assert made.get("env_vars", []) == []
        for variable, value in fabric.switch:
            assert f'# ["{variable}", "{value}"],' in written
            assert all(f"# {line}\n" in written for line in fabric.comment)
            assert f"#   export {variable}={value}\n" in (make_site.TEMPLATES / f"{name}.yaml").read_text()


def with_two_partitions(host: Path) -> Path:
    """A site whose nodes are of two kinds, and whose login nodes are a partition without MPI."""
    _, file = new(host, *MODULES, "--partition", "batch", "--bin-dir", str(host / "programs"))
    text = file.read_text()
    start = text.index('                {\n                    "name": "compute"')
    end = text.index('            ],\n        }\n    ],\n    "environments"')
    one = text[start:end]
    other = one.replace('"name": "compute"', '"name": "debug"').replace("--partition=batch", "--partition=debug")
    login = (
        """                {"name": "login", "scheduler": "local", "launcher": "local", "environs": ["builtin"]},\n"""
    )
    file.write_text(text[:start] + login + one.rstrip() + ",\n" + other + text[end:])
    return file


def test_of_several_partitions_one_is_named(host: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = with_two_partitions(host)
    assert main(["site", "check", str(file)]) == 0
    assert "cluster:compute, mpich: programs in" in (shown := capsys.readouterr().out)
    assert "cluster:debug, mpich: programs in" in shown
    run = ["run", "overlap-ratio", "--dry-run", "--scale", "test", "--system"]
    assert f"name one, as in --system {file.name}:compute. There are: compute, debug." in refused(*run, str(file))
    assert "no partition 'login' has MPI environments. There are: compute, debug." in refused(*run, f"{file}:login")
    assert main([*run, f"{file}:debug"]) == 0


def test_a_session_is_of_the_partition_that_was_named(host: Path) -> None:
    system = systems.by_name(f"{with_two_partitions(host)}:debug")
    request = Request.of(by_names(["overlap-ratio"]), system, ["mpich"], [], scale="test")
    command = reframe_command(request, request.studies[0], ["mpich"], host)
    assert command[command.index("--system") + 1] == "cluster:debug"
    assert from_facts(Facts("s", "2026-01-01", "running", **request.facts())).system.partition == "debug", (
        "and --resume goes on there"
    )
    there = replace(request, system=systems.by_name(f"{system.config}:compute")).but(partition="compute")
    assert differences(request.identity(), there.identity()), "its samples are not another partition's"
