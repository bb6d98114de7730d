# SPDX-License-Identifier: BSD-3-Clause
"""The emulated machines without booting any: what QEMU, a guest, ReFrame and a session are told, who ends what."""

from __future__ import annotations

import fcntl
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from harness.base import debian, validate
from harness.base.errors import Failure, UsageError
from harness.base.paths import ROOT
from harness.rdma_lab import attend, fetch, guest_build, image, keeper, lab, lab_settings, shell
from harness.rdma_lab.lab_folder import State
from harness.rdma_lab.lab_settings import Settings
from harness.sites.systems import BUILTIN, Request
from harness.tests.sessions import refused
from harness.tests.waiting import eventually, lives
from reframe_checks.systems import rdma_lab
from reframe_checks.systems.extras import EnvironmentExtras, PartitionExtras


@pytest.fixture
def state(tmp_path: Path) -> State:
    made = State(tmp_path / "rdma-lab")
    (made.host / "usr/lib/modules/6.12-test").mkdir(parents=True)
    (made.host / "boot").mkdir()
    (made.guest / "usr/bin").mkdir(parents=True)
    for name in ("ssh", "busybox"):
        (made.guest / "usr/bin" / name).touch()
    made.keys.mkdir()
    (made.keys / "known_hosts").write_text("rdma-lab ssh-ed25519 AAAA\n")
    return made


RATES = ["fast", "20", "20mbit; reboot", "-1mbit", "20 mbit", "0mbit", "0.0gbit"]


def test_bad_input_is_a_sentence_before_anything_is_built(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "state", lambda: state)
    monkeypatch.setattr(guest_build, "ensure", lambda _: pytest.fail("it goes on"))
    up = ("up", "--build", "debian-mpich")
    calls: dict[tuple[str, ...], str] = {
        **{(*up, f"--rate={rate}"): "a rate is like 20mbit" for rate in RATES},
        (*up, "--memory", "100"): "768 MB",
        (*up, "--memory", "100000000"): "needs 200000512 MB of memory",
        ("exec", "lab1", "--", "true"): "No emulated machines are up",
        ("status",): "No emulated machines are up",
    }
    for words, sentence in calls.items():
        assert sentence in refused("rdma-lab", *words)
    with pytest.raises(UsageError, match="there is a space in it"):
        Settings.make(None, 1536, {"/a b": False})
    with pytest.raises(UsageError, match="has 2 machines, not 3"), BUILTIN["rdma-lab"].open(3):
        pass


def test_qemu_is_told_of_shares_sockets_and_nothing_outside(state: State, tmp_path: Path) -> None:
    wanted = Settings.make("20mbit", 1536, {"/project/results": True, "/x,y": False})
    commands = [keeper.qemu_command(state, wanted, keeper.Machine(index, 4000 + index, tmp_path)) for index in (0, 1)]
    first, second = (" ".join(command) for command in commands)
    assert {"lab.node=1", "lab.rate=20mbit"} <= set(first.split()) and "lab.node=2" in second
    assert "hostfwd=tcp:127.0.0.1:4000-10.0.2.15:22" in first and "restrict=on" in first and "snapshot=on" in first
    for told, (own, other) in ((first, (1, 2)), (second, (2, 1))):
        assert f"local.path={tmp_path}/data{own},remote.type=unix,remote.path={tmp_path}/data{other}" in told
    assert re.search(r"path=/x,,y,mount_tag=share1,\S*readonly=on", first)
    assert re.search(r"path=/project/results,mount_tag=share0,\S*remap ", first)


def test_what_a_guest_reads_when_it_boots(state: State) -> None:
    state.vm.mkdir()
    (state.vm / "left").touch()
    keeper.prepare(state, Settings.make(None, 1536, {"/p/results": True, "/p": False}))
    assert not (state.vm / "left").exists()
    assert (state.shown / "shares").read_text() == "share0 ro /p\nshare1 rw /p/results\n"
    assert {"init", "attended", "sshd_config", "known_hosts"} <= {path.name for path in state.shown.iterdir()}
    assert os.access(state.shown / "attended", os.X_OK)


def test_modules_are_loaded_after_what_they_need() -> None:
    dependencies = "a/rdma_rxe.ko.xz: b/udp.ko.xz c/core.ko.xz\nb/udp.ko.xz: c/core.ko.xz\nc/core.ko.xz:\n"
    assert image.load_order(dependencies, ["rdma_rxe"]) == ["c/core.ko.xz", "b/udp.ko.xz", "a/rdma_rxe.ko.xz"]
    assert image.load_order(dependencies, ["ext4"], "kernel/fs/ext4.ko") == []
    with pytest.raises(Failure, match="has no module siw"):
        image.load_order(dependencies, ["siw"])


def test_a_command_on_a_guest_keeps_its_words(state: State, tmp_path: Path) -> None:
    words = shell.remote(["sh", "-c", "echo $1 'a b'", "x;y"], {"UCX_TLS": "ud"}, "/p", attended=True)
    stub = tmp_path / "attended"
    stub.write_text('#!/bin/sh\nprintf \'%s\\n\' "$UCX_TLS" "$@"\n')
    stub.chmod(0o755)
    done = subprocess.run(["sh", "-c", words.replace("/lab/attended", str(stub)).replace("-C /p", "-C /")],
                          capture_output=True, text=True, check=True)  # fmt: skip
    assert done.stdout.splitlines() == ["ud", "sh", "-c", "echo $1 'a b'", "x;y"]
    with pytest.raises(UsageError, match="no emulated machine 'lab3'"):
        lab.Lab(state, Settings.make(None, 1536, {}), {}, 1.0).command("lab3", ["true"])


def test_what_is_attended_ends_with_who_asked_for_it() -> None:
    script = str(image.GUEST_FILES / "attended")
    with subprocess.Popen([script, "sh", "-c", "exit 7"], stdin=subprocess.PIPE) as done:
        assert done.wait(120) == 7
    with subprocess.Popen([script, "sh", "-c", "echo $$; sleep 1000"], stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE, text=True) as asked:  # fmt: skip
        assert asked.stdin and asked.stdout
        pid = int(asked.stdout.readline())
        asked.stdin.close()
        asked.wait(120)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


LIKE_SSH = "import os; os.closerange(3, 256); os.execvp('timeout', ['timeout', '1', 'cat'])"
JOB = """
import sys
from harness.base import process
from harness.rdma_lab import attend
attend.hold_stdin()
sys.exit(process.attended([sys.executable, "-c", sys.argv[1]]))
"""


def test_a_job_without_stdin_holds_one_for_the_guest() -> None:
    """ssh closes what it has inherited."""
    done = subprocess.run([sys.executable, "-c", JOB, LIKE_SSH], stdin=subprocess.DEVNULL, cwd=ROOT, check=False)
    assert done.returncode == 124, "cat has read to the end: the guest would take the job for gone"


def test_the_job_passes_on_what_concerns_the_ranks_and_the_guests_own_python() -> None:
    environment = {"UCX_RNDV_SCHEME": "put_zcopy", "OVERLAP_BENCH_LAUNCH": "x", "LD_LIBRARY_PATH": "/x", "PATH": "/y"}
    assert set(attend.passed_on(environment)) == {"UCX_RNDV_SCHEME", "OVERLAP_BENCH_LAUNCH"}
    assert attend.translated(["env", "/venv/python", "-m", "x"], "/venv/python") == [
        "env",
        "/usr/bin/python3",
        "-m",
        "x",
    ]


def _fetched(state: State, version: str = "1") -> None:
    for job in fetch.jobs(state):
        fetch.stamp(job.root).write_text(fetch.stamp_text(job.release, job.packages))
        fetch.files_of(job.root).write_text(f"libucx0_{version}_amd64.deb\n")


def test_an_image_that_was_interrupted_or_is_of_other_packages_is_made_anew(
    state: State, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(state: State) -> None:
        state.image.write_text("half of it")
        raise KeyboardInterrupt

    _fetched(state)
    monkeypatch.setattr(image, "_make_keys", lambda state: state.keys.mkdir(exist_ok=True))
    monkeypatch.setattr(image, "_make_initrd", lambda state: state.initrd.write_text(""))
    monkeypatch.setattr(image, "_make_image", lambda state: state.image.write_text(""))
    image.ensure(state)
    assert image.done(state)
    _fetched(state, "2")
    assert not image.done(state)
    _fetched(state)
    state.image.unlink()  # for its room
    monkeypatch.setattr(image, "_make_image", interrupted)
    with pytest.raises(KeyboardInterrupt):
        image.ensure(state)
    assert not image.done(state)


def test_a_folder_that_was_not_finished_is_fetched_anew(state: State, monkeypatch: pytest.MonkeyPatch) -> None:
    _fetched(state)
    shutil.rmtree(state.guest)

    def unpacked(_release: object, _packages: object, _cache: Path, root: Path) -> list[str]:
        root.mkdir()
        return []

    def interrupted(_root: Path) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(debian, "unpack", unpacked)
    monkeypatch.setattr(fetch, "_finish", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fetch.ensure(state)
    assert not fetch.done(state)


def test_a_program_of_an_unpacked_folder_runs_by_its_own_loader(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/tool-1").touch()
    (tmp_path / "usr/bin/tool").symlink_to("/usr/bin/tool-1")
    command = debian.program(tmp_path, "usr/bin/tool")
    assert command[0] == str(tmp_path / debian.LIBRARIES / "ld-linux-x86-64.so.2")
    assert command[-1] == str(tmp_path / "usr/bin/tool-1")
    (tmp_path / "usr/bin/circle").symlink_to("circle")
    with pytest.raises(Failure, match="a link in a circle"):
        debian.program(tmp_path, "usr/bin/circle")


PLAIN = json.dumps({"rate": None, "memory_mb": 1536, "shares": {}})
KEEPER = """
import sys
from harness.rdma_lab import keeper
keeper.qemu_command = lambda state, settings, machine: ["sleep", "1000"]
sys.exit(keeper.main(sys.argv[1:]))
"""


def _sleepers(keeper_pid: int) -> list[int]:
    """Only who sleeps already: before that, a child has not yet asked the kernel to end it with its parent."""
    children = Path(f"/proc/{keeper_pid}/task/{keeper_pid}/children").read_text().split()
    return [int(pid) for pid in children if Path(f"/proc/{pid}/comm").read_text().strip() == "sleep"]


@pytest.mark.parametrize("how", ["owner gone", "keeper killed", "told to end"])
def test_no_machine_outlives_who_wanted_it(how: str, state: State) -> None:
    """Programs that sleep stand for QEMU: what ends them is the same."""
    words = [sys.executable, "-c", KEEPER, str(state.folder), PLAIN]
    with subprocess.Popen(
        words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, cwd=ROOT, start_new_session=True
    ) as kept:
        assert kept.stdin
        assert eventually(lambda: len(_sleepers(kept.pid)) == 2)
        machines = _sleepers(kept.pid)
        assert state.keeper() == kept.pid
        if how == "owner gone":
            kept.stdin.close()
        elif how == "keeper killed":
            kept.kill()
        else:
            kept.stdin.write(keeper.KEEP)
            kept.stdin.close()
            time.sleep(1)
            assert kept.poll() is None, "who was told KEEP stays"
            kept.send_signal(signal.SIGTERM)
        kept.wait(120)
        assert eventually(lambda: not any(map(lives, machines)))
    assert state.keeper() is None
    if how != "keeper killed":
        assert (state.folder / "running").read_text() == "", "its number may be another program's"
    left = state.sockets.resolve()
    assert left.exists() is (how == "keeper killed"), "only who is killed leaves the folder of its sockets"
    keeper.prepare(state, Settings.make(None, 1536, {}))
    assert not left.exists(), "and the next one removes it"


def test_a_second_keeper_says_that_there_is_one(state: State) -> None:
    lock = state.lock()
    assert lock is not None
    with lock:
        words = [sys.executable, "-m", keeper.__name__, str(state.folder), PLAIN]
        done = subprocess.run(words, capture_output=True, text=True, cwd=ROOT, check=False)
    assert (done.returncode, done.stdout) == (1, "others of this checkout run already\n")


def test_who_only_asks_is_taken_for_no_keeper_and_waited_for(state: State) -> None:
    """What stands in the file is of a keeper that was killed, whose number another program may have by now."""
    state.folder.mkdir(exist_ok=True)
    (state.folder / "running").write_text(str(os.getpid()))
    asking = (state.folder / "running").open("a")
    fcntl.flock(asking, fcntl.LOCK_SH)
    assert state.keeper() is None
    threading.Timer(0.1, asking.close).start()
    lock = state.lock()
    assert lock is not None
    lock.close()


QEMU, UCX = "1%3a10.0.2_amd64", "1.13.1-1_amd64"


@pytest.fixture
def running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> lab.Lab:
    state = State(tmp_path)
    (state.host / "usr/lib/modules/6.12-test").mkdir(parents=True)
    (tmp_path / "host.packages").write_text(f"qemu-system-x86_{QEMU}.deb\n")
    (tmp_path / "guest.packages").write_text(f"libucx0_{UCX}.deb\nbash_5_amd64.deb\n")
    made = lab.Lab(state, Settings.make("20mbit", 1536, {}), {"lab1": 1, "lab2": 2}, 12.0)
    monkeypatch.setattr(lab, "load", lambda: made)
    return made


def _partition() -> dict[str, Any]:
    found: dict[str, Any] = rdma_lab.configuration()["systems"][0]["partitions"][0]
    return found


def test_a_launch_goes_to_a_guest_and_the_record_will_say_emulated(
    running: lab.Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UCX_RNDV_SCHEME", "put_zcopy")
    extras = validate.check(PartitionExtras, _partition()["extras"], "extras")
    assert extras.emulated
    assert extras.via[-2:] == ["-m", "harness.rdma_lab.attend"]
    assert "UCX_RNDV_SCHEME" in extras.exports, "Open MPI passes on what it is told to"
    assert extras.hosts == ["lab1", "lab2"]
    assert extras.network == running.network_description
    assert "QEMU 1:10.0.2, TCG" in extras.network
    assert "limited by htb to 20mbit (bucket 16 KB)" in extras.network
    assert "UCX 1.13.1-1 rc" in extras.network


def test_open_mpi_takes_verbs_or_nothing() -> None:
    environments = {found["name"]: found for found in rdma_lab.configuration()["environments"]}
    assert set(environments) == set(lab_settings.MPIS)
    for environment in environments.values():
        validate.check(EnvironmentExtras, environment["extras"], "extras")
    told = dict(environments["debian-openmpi"]["env_vars"])
    assert (told["OMPI_MCA_pml"], told["OMPI_MCA_osc"]) == ("ucx", "ucx")
    assert lab_settings.UCX["UCX_TLS"] == "rc,self"


def test_without_machines_reframe_can_still_list(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lab, "load", lambda: None)
    assert _partition()["extras"] == {}


def test_a_session_says_that_its_system_is_emulated() -> None:
    asked = {name: Request.of([], BUILTIN[name], [], []).facts()["emulated"] for name in ("rdma-lab", "local")}
    assert asked == {"rdma-lab": True, "local": False}
