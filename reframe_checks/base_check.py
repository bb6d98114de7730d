# SPDX-License-Identifier: BSD-3-Clause
"""The one base class of all checks: a job that runs a study's interleaved schedule of launches on system x MPI.

A study's check has its study; everything else is here. What ReFrame needs to know of a system stands in the system
file's `extras` (reframe_checks.systems.extras).
"""

from __future__ import annotations

import functools
import os
import shlex
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import fixture, parameter, run_after, run_before, sanity_function, variable
from reframe.core.decorators import TestRegistry
from reframe.core.exceptions import ReframeError
from reframe.core.meta import make_test
from reframe.core.runtime import runtime

from harness.base.errors import Failure
from harness.base.mpis import MPIS, Where, passed_on
from harness.base.paths import ROOT, python
from harness.job import records
from harness.job import session as sessions
from harness.job.plan import Plan, Platform, Point, Sampler, Stop, simulated_point_s
from harness.job.program import Program
from harness.job.reap import MARK
from harness.job.session import Asked
from reframe_checks import own_session, preempted, sides, systems
from reframe_checks.catalogue import ALWAYS, REGISTRY, Scale, Study, valid_systems, why_not
from reframe_checks.jobs import launches_of
from reframe_checks.systems.extras import extras_of_environment, extras_of_partition
from spack_env import site_environment as spack

SYSTEMS = Path(systems.__file__).parent
A_DAY_MIN = 1440.0
SEPARATOR = ";"  # between settings: their values hold commas


class Programs(rfm.CompileOnlyRegressionTest):
    """The engine and the workloads that run under one MPI, of an environment. Where its extras say so they are built
    with Spack, else looked for. That build is ReFrame's own (build_system = "Spack"), of a site's environment
    (spack_env.site_environment), on the login node, once for all checks of a ReFrame run."""

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


class WorkloadCheck(rfm.RunOnlyRegressionTest):
    """Variables (all can be set with -S): see `./bench run --help`, whose options they are.

    `scale` is a parameter (-P scale=paper), so that ReFrame's database takes two scales for two tests. `session_dir`:
    where the samples go, of ./bench, whose session says what is asked for; without one the other variables do, and each
    ReFrame run makes a session of its own.
    """

    study: Study
    scale = parameter(["quick"], type=str, loggable=True)
    variants = variable(str, value="")
    settings = variable(str, value="")
    seed = variable(int, value=1)
    nodes = variable(int, value=2)
    session_dir = variable(str, value="")
    job_state = variable(str, value="")  # how the job ended, in the scheduler's word: for ReFrame's report

    valid_systems = ALWAYS
    valid_prog_environs = ["+mpi"]
    sourcesdir = None
    programs = fixture(Programs, scope="environment")

    @run_after("init")
    def describe(self) -> None:
        """What ReFrame lists and chooses checks by.

        A session of ./bench has a record of what cannot be measured here, with the reason; so the check runs anyway.
        """
        self.descr = self.study.title
        self.tags |= {self.study.group, self.study.name, self.scale}
        self.valid_systems = ALWAYS if self.session_dir else valid_systems(self.study.needs)

    @run_after("init")
    def read_asked(self) -> None:
        """Of the session, else of ReFrame's variables. A launcher of one's own runs here, in the allocation that it
        knows of."""
        self.asked = _of_session(self.session_dir) if self.session_dir else self._of_variables()
        self.study = self.study.with_program(self.asked.program)
        if self.study.program and self.study.program.launcher:
            self.local = True

    @run_before("setup")
    def choose_scale(self) -> None:
        """Read the study; a bad setting ends here, before anything is submitted."""
        self.study = self.study.asked(self.asked.settings)
        self.chosen: Scale = self.study.scale(self.scale, self.asked.settings)

    def _of_variables(self) -> Asked:
        pairs = [pair.partition("=") for pair in self.settings.split(SEPARATOR) if pair]
        config = Path(runtime().site_config.sources[-1]).resolve()
        return Asked(
            variants=self.variants.split(",") if self.variants else [],
            settings={name: text for name, _, text in pairs},
            seed=self.seed,
            nodes=self.nodes,
            config=str(config),
        )

    @run_before("run")
    def write_plan(self) -> None:
        """Plan the job's launches and hand them to the schedule runner."""
        if self.study.workload:
            self.programs.require(self.study.workload[0])
        absent = self._find_case() if self.study.case else ""
        if not self.session_dir:
            self.session_dir = str(self._own_session())
        session = Path(self.session_dir)
        self.plan = self._plan(session, absent)
        self.records = session / "records"
        plan_file = Path(self.stagedir) / "plan.json"
        self.plan.save(plan_file)
        self.executable, *options = python("-m", "harness.job.runner", str(plan_file), str(session))
        self.executable_opts = list(map(shlex.quote, options))
        self.env_vars["PYTHONPATH"] = str(ROOT)
        self.prerun_cmds += self.programs.activation()
        self.job.launcher = getlauncher("local")()
        # The runner takes the shell's place: it is then the process that a scheduler signals, and waits for.
        self.job.launcher.options = ["exec"]
        self.time_limit = f"{int(self.chosen.time_limit_s or self._time_limit_s())}s"

    @run_before("run")
    def end_when_preempted(self) -> None:
        """Also where the job is not put back into the queue."""
        if self.job.scheduler.registered_name in preempted.SCHEDULERS:
            preempted.ends(self.job.scheduler)

    def _time_limit_s(self) -> float:
        """Of somebody else's program nothing is known but when a launch of it is given up."""
        rounds, patience = self.plan.rounds, self.plan.timeout_s()
        if not self.plan.program:
            return 600 + 3 * self.plan.estimate_s()
        if rounds and rounds.stop:  # no round begins after its minutes; before the first one the program is tried
            return 600 + 60 * rounds.stop.minutes + patience * (2 + len(rounds.sides))
        return 600 + patience * (1 + len(self.plan.launches))

    @run_after("run")
    def note_job_state(self) -> None:
        """NODE_FAIL, CANCELLED and the like are known here alone; the harness reads them from ReFrame's report."""
        self.job_state = str(self.job.state or "")

    def _own_session(self) -> Path:
        if Path(self.asked.config).parent != SYSTEMS:  # a session is of one partition; ours have one each
            self.asked = replace(self.asked, partition=self.current_partition.name)
        environ, partition = self.environ_extras, extras_of_partition(self.current_partition)
        emulated, model = partition.get("emulated", False), partition.get("simulated", {})
        wanted = own_session.Wanted(self.asked, self.scale, self.current_system.name, emulated, model)
        programs, network = Path(environ["bin_dir"]), self._partition_extras.get("network", "")
        check = own_session.Check(self.study, environ["mpi"], programs, network, self.programs.built_from())
        return own_session.folder_for(wanted, check)

    def _find_case(self) -> str:
        """Look for the code of this case, and give it the files that it reads; why it cannot be run, or empty."""
        from reframe_checks import code_case  # noqa: PLC0415 - few studies have one

        environ = self.environ_extras
        loading = self._loading(environ) | {name: str(value) for name, value in self.current_environ.env_vars.items()}
        ranks, folder = self.study.tasks(self.asked.nodes), Path(self.stagedir)
        made, variables = code_case.of_study(self.study.case, ranks, self.chosen.points(), folder, environ, loading)
        if isinstance(made, str):
            return made
        self.env_vars |= variables
        self.study = replace(self.study, program=made)
        return ""

    def _loading(self, environ: dict[str, Any]) -> dict[str, str]:
        """With which a program that is linked to an MPI by its name finds this one."""
        mpi = MPIS.get(environ["mpi"])
        return mpi.loading_environment() if mpi else {}

    def _plan(self, session: Path, absent: str) -> Plan:
        # before the platform: what is asked of the scheduler is the study's number of ranks
        rounds = sides.of_check(self) if self.asked.rounds else None
        study, chosen, platform = self.study, self.chosen, self.platform(self.environ_extras, self.study)
        if study.shared_memory:
            self.env_vars |= self.environ_extras.get("shared_memory", {})
        asked, launches = self.asked, launches_of(session, study.name, platform.mpi)
        points = [dict(point) for point in chosen.points()]
        look = python("-m", study.look, platform.mpi)
        return Plan(
            session=session.name,
            study=study.name,
            scale=self.scale,
            seed=asked.seed,
            workload=self.workload(self.environ_extras),
            points=points,
            sampler=Sampler(chosen.min_samples, chosen.max_samples, chosen.warmup, chosen.time_box_s),
            launches=sides.known(launches, rounds) if rounds else launches,
            platform=platform,
            test_case=f"{self.short_name} /{self.hashcode}",
            given_timeout_s=chosen.timeout_s,
            trial_factor=chosen.trial_factor,
            slowdown=asked.slowdown,
            point_s=simulated_point_s(platform.tasks) if platform.simulated else chosen.point_s,
            calibrate_points=study.calibrate_points,
            same_work=dict(study.same_work),
            swept=study.sweep(chosen).axes,
            impossible=[(point, why) for point in points if (why := absent or self._why_not(point))],
            program=None if study.workload or absent else study.named(),
            rounds=rounds,
            stop=Stop(list(chosen.looks), look, A_DAY_MIN) if chosen.looks else None,
            on_off=study.on_off or bool(asked.gate and asked.gate.on_off),
            mpi_environment=asked.mpi_environment,
            probes=asked.search.probes if asked.search else [],
        )

    def workload(self, environ: dict[str, Any]) -> list[str]:
        if not self.study.workload:
            return []
        executable, *arguments = self.study.workload
        return [str(Path(environ["bin_dir"]) / executable), *arguments, *self.settle(), *self._slowdown()]

    def _why_not(self, point: Point) -> str:
        features = self.current_partition.features
        return why_not(self.study.needs, point, features, self._partition_extras.get("cores"))

    def settle(self) -> list[str]:
        pause = self._partition_extras.get("settle_s")
        return [f"--settle-s={pause:g}"] if pause else []

    def _slowdown(self) -> list[str]:
        return [f"--inject-slowdown={self.asked.slowdown:g}"] if self.asked.slowdown != 1 else []

    @property
    def _partition_extras(self) -> dict[str, Any]:
        """What the partition says; of a study of one node, what it says of such a node."""
        extras = extras_of_partition(self.current_partition)
        alone = extras.pop("alone", {})
        return extras | (alone if self.study.nodes == 1 else {})

    @property
    def environ_extras(self) -> dict[str, Any]:
        return extras_of_environment(self.current_environ)

    def platform(self, environ: dict[str, Any], study: Study) -> Platform:
        partition = self._partition_extras
        if study.own_threads:
            partition["bind"] = False
        tasks = study.tasks(self.asked.nodes)
        nodes = min(int(partition.get("nodes", self.asked.nodes)), study.nodes or self.asked.nodes, tasks)
        per_node = -(-tasks // nodes)
        self.num_tasks, self.num_tasks_per_node = tasks, per_node
        if reserved := partition.get("progress_cores"):
            self.num_cpus_per_task = 1 + reserved
        if per_node > partition.get("cores", per_node) and not partition.get("cpus_too_few"):
            partition["cpus_too_few"] = f"{per_node} ranks a node share {partition['cores']} of its cores"
        if nodes == 1:
            partition["check_interfaces"] = False  # shared memory leaves no bytes on an interface
        return Platform(
            system=self.current_partition.fullname,
            mpi=environ["mpi"],
            library=environ["library"],
            launch_command=self._launch_command(partition, environ, study.program),
            tasks=tasks,
            nodes=nodes,
            progress_run=str(Path(environ["bin_dir"]) / "progress-run"),
            async_progress=environ.get("async_progress", {}),
            spack=self.programs.built_from(),
            **{name: partition[name] for name in _PLATFORM_EXTRAS if name in partition},
        )

    def _launch_command(self, partition: dict[str, Any], environ: dict[str, Any], program: Program | None) -> list[str]:
        exports = partition.get("exports", [])
        if program:
            self.env_vars |= self._loading(environ)
            exports = sorted({*exports, *passed_on([*os.environ, *self.env_vars])})
            if program.launcher:
                return list(program.launcher)
        if simulate := environ.get("simulate"):
            return [*simulate, "-n", str(self.num_tasks), "--"]
        if partition.get("launch", "launcher") == "launcher":
            # ReFrame tells the job only when it runs it, and the command is wanted before.
            for name in ("num_tasks", "num_tasks_per_node", "num_cpus_per_task"):
                setattr(self.job, name, getattr(self, name))
            return shlex.split(self.current_partition.launcher_type().run_command(self.job))
        hosts = partition.get("hosts")
        where = Where(
            hosts=tuple(hosts[: -(-self.num_tasks // self.num_tasks_per_node)]) if hosts else None,
            remote_shell=partition.get("remote_shell"),
            bind=partition.get("bind", False),
            exports=(MARK, *(name for name in exports if name != MARK)),
        )
        mpiexec = MPIS[environ["mpi"]].launch_command(self.num_tasks, self.num_tasks_per_node, where)
        return [*partition.get("via", []), *mpiexec]

    @sanity_function
    def every_point_ok(self) -> Any:
        """Every launch left a record in which each point is ok, or skipped for a reason."""
        bad = [reason for launch in self.plan.launches for reason in self._failures(launch.identity)]
        return sn.assert_false(bad, f"{len(bad)} points failed, the first: {bad[:1]}")

    def _failures(self, identity: str) -> list[str]:
        done = records.finished(self.records, identity, self.plan.reporting)
        lines = [line for path in records.attempts(self.records, identity) for line in records.read(path).points]
        if not lines:
            return [f"{identity}: no record"]
        return [
            f"{identity}: {line['reason']}"
            for line in lines
            if line["status"] not in ("ok", "skipped") and records.key(line["point"]) not in done
        ]

    @run_before("performance")
    def name_performance_variables(self) -> None:
        """For ReFrame's own database: what the study is about, for each variant and point."""
        files = [path for launch in self.plan.launches for path in records.attempts(self.records, launch.identity)]
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(value), unit)
            for name, (value, unit) in records.performance(files).items()
        }


@functools.cache
def _of_session(folder: str) -> Asked:
    """What it was asked for: read once, though ReFrame makes a check of each study in the file."""
    asked = sessions.facts_of(Path(folder)).request
    if asked is None:
        raise ReframeError(f"The session.json of {folder} does not say what was asked for.")
    return asked


_PLATFORM_EXTRAS = (
    "network", "network_measured", "emulated", "simulated", "cpus_shared", "cpus_too_few", "check_interfaces", "reap"
)  # fmt: skip


def registry(module: str, studies: Sequence[Study]) -> TestRegistry:
    """A check for each of these studies, as ReFrame looks for them in this module."""
    made = TestRegistry()
    setattr(sys.modules[module], REGISTRY, made)
    for study in studies:
        rfm.simple_test(make_test(study.check_name, (WorkloadCheck,), {"study": study}, module=module))
    return made
