# SPDX-License-Identifier: BSD-3-Clause
"""The one base class of all checks: a job that runs a study's interleaved schedule of launches on system x MPI.

A study's check names its study; everything else is here. What ReFrame needs to know of a system stands in the system
file's `extras` (reframe_checks.systems.common).
"""

from __future__ import annotations

import shlex
import statistics
import sys
from pathlib import Path
from typing import Any

import reframe.utility.sanity as sn
from reframe.core.backends import getlauncher
from reframe.core.builtins import run_after, run_before, sanity_function, variable

from harness.mpis import MPIS, Where
from harness.paths import ROOT, results_dir
from harness.schedule import records
from harness.schedule.plan import Plan, Point, Sampler, Site
from harness.schedule.sweep import MARK
from reframe_checks.features import why_not
from reframe_checks.spack_build import MayBuildWithSpack
from reframe_checks.study import Scale
from reframe_checks.study_table import STUDIES

SEPARATOR = ";"  # between settings: their values hold commas


class WorkloadCheck(MayBuildWithSpack):
    """Variables (all can be set with -S): see `./bench run --help`, whose options they are."""

    study = variable(str)
    scale = variable(str, value="quick")
    variants = variable(str, value="")
    settings = variable(str, value="")
    seed = variable(int, value=1)
    nodes = variable(int, value=2)
    session_dir = variable(str, value="")
    slowdown = variable(float, value=1.0)
    job_state = variable(str, value="")  # how the job ended, in the scheduler's word: for ReFrame's report

    valid_systems = ["*"]
    valid_prog_environs = ["+mpi"]
    sourcesdir = None

    @run_before("setup")
    def choose_scale(self) -> None:
        """Read the study's table; a bad setting ends here, before anything is submitted."""
        pairs = [pair.partition("=") for pair in self.settings.split(SEPARATOR) if pair]
        self.chosen: Scale = STUDIES[self.study].scale(self.scale, {name: text for name, _, text in pairs})
        self.descr = STUDIES[self.study].title

    @run_before("run")
    def write_plan(self) -> None:
        """Plan the job's launches and hand them to the schedule runner."""
        session = Path(self.session_dir or results_dir() / f"reframe-{self.unique_name}")
        session.mkdir(parents=True, exist_ok=True)
        self.plan = self._plan(session.name)
        self.records = session / "records"
        plan_file = Path(self.stagedir) / "plan.json"
        self.plan.save(plan_file)
        self.executable = sys.executable
        self.executable_opts = ["-m", "harness.schedule.runner", str(plan_file), str(session)]
        self.env_vars["PYTHONPATH"] = str(ROOT)
        self.job.launcher = getlauncher("local")()
        # The runner takes the shell's place: it is then the process that a scheduler signals, and waits for.
        self.job.launcher.options = ["exec"]
        self.time_limit = f"{int(self.chosen.time_limit_s or 600 + 3 * self.plan.estimate_s())}s"

    @run_after("run")
    def note_job_state(self) -> None:
        """NODE_FAIL, CANCELLED and the like are known here alone; the harness reads them from ReFrame's report."""
        self.job_state = str(self.job.state or "")

    def _plan(self, session: str) -> Plan:
        study, chosen, site = STUDIES[self.study], self.chosen, self._site()
        variants = self.variants.split(",") if self.variants else list(chosen.variants)
        points = [dict(point) for point in chosen.points()]
        stem = f"{study.name}.{self.current_system.name}.{site.mpi}"
        executable, *arguments = study.workload
        return Plan(
            session=session,
            study=study.name,
            scale=self.scale,
            seed=self.seed,
            workload=[
                str(Path(self._environ_extras["bin_dir"]) / executable),
                *arguments,
                *self._settle(),
                *self._slowdown(),
            ],
            points=points,
            sampler=Sampler(chosen.min_samples, chosen.max_samples, chosen.warmup, chosen.time_box_s),
            launches=study.launches(stem, chosen, variants, self.seed),
            site=site,
            test_case=f"{self.short_name} /{self.hashcode}",
            given_timeout_s=chosen.timeout_s,
            slowdown=self.slowdown,
            point_s=chosen.point_s,
            calibrate_points=study.calibrate_points,
            swept=study.sweep(chosen).axes,
            impossible=[(point, why) for point in points if (why := self._why_not(point))],
        )

    def _why_not(self, point: Point) -> str:
        features = self.current_partition.features
        return why_not(STUDIES[self.study].needs, point, features, self._partition_extras.get("cores"))

    def _settle(self) -> list[str]:
        pause = dict(self.current_partition.extras).get("settle_s")
        return [f"--settle-s={pause:g}"] if pause else []

    def _slowdown(self) -> list[str]:
        return [f"--inject-slowdown={self.slowdown:g}"] if self.slowdown != 1 else []

    @property
    def _partition_extras(self) -> dict[str, Any]:
        """What the partition says; of a study of one node, what it says of such a node."""
        extras = dict(self.current_partition.extras)
        alone = extras.pop("alone", {})
        return extras | (alone if STUDIES[self.study].nodes == 1 else {})

    @property
    def _environ_extras(self) -> dict[str, Any]:
        return dict(self.current_environ.extras)

    def _site(self) -> Site:
        partition, environ = self._partition_extras, self._environ_extras
        study = STUDIES[self.study]
        if study.own_threads:
            partition["bind"] = False
        if study.shared_memory:
            self.env_vars |= environ.get("shared_memory", {})
        nodes = min(int(partition.get("nodes", self.nodes)), study.nodes or self.nodes)
        per_node = study.tasks(self.nodes) // nodes
        self.num_tasks, self.num_tasks_per_node = nodes * per_node, per_node
        if reserved := partition.get("progress_cores"):
            self.num_cpus_per_task = 1 + reserved
        if per_node > partition.get("cores", per_node) and not partition.get("cpus_too_few"):
            partition["cpus_too_few"] = f"{per_node} ranks a node share {partition['cores']} of its cores"
        if nodes == 1:
            partition["check_interfaces"] = False  # shared memory leaves no bytes on an interface
        return Site(
            system=self.current_partition.fullname,
            mpi=environ["mpi"],
            library=environ["library"],
            launch_command=self._launch_command(partition, environ),
            tasks=nodes * per_node,
            nodes=nodes,
            progress_run=str(Path(environ["bin_dir"]) / "progress-run"),
            async_progress=environ.get("async_progress", {}),
            spack=self.built_from(),
            **{name: partition[name] for name in _SITE_EXTRAS if name in partition},
        )

    def _launch_command(self, partition: dict[str, Any], environ: dict[str, Any]) -> list[str]:
        if partition.get("launch", "launcher") == "launcher":
            # ReFrame tells the job only when it runs it, and the command is wanted before.
            for name in ("num_tasks", "num_tasks_per_node", "num_cpus_per_task"):
                setattr(self.job, name, getattr(self, name))
            return shlex.split(self.current_partition.launcher_type().run_command(self.job))
        hosts = partition.get("hosts")
        where = Where(
            hosts=tuple(hosts[: self.num_tasks // self.num_tasks_per_node]) if hosts else None,
            remote_shell=partition.get("remote_shell"),
            bind=partition.get("bind", False),
            exports=(MARK,),
        )
        return MPIS[environ["mpi"]].launch_command(self.num_tasks, self.num_tasks_per_node, where)

    @sanity_function
    def every_point_ok(self) -> Any:
        """Every launch left a record in which each point is ok, or skipped for a reason."""
        bad = [reason for launch in self.plan.launches for reason in self._failures(launch.identity)]
        return sn.assert_false(bad, f"{len(bad)} points failed, the first: {bad[:1]}")

    def _failures(self, identity: str) -> list[str]:
        done = records.finished(self.records, identity, self.plan.site.tasks)
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
        """For ReFrame's own database: the median of the study's leading quantity for each variant and point."""
        quantity = STUDIES[self.study].quantity
        totals: dict[str, list[float]] = {}
        for launch in self.plan.launches:
            for path in records.attempts(self.records, launch.identity):
                for line in records.read(path).points:
                    if line["status"] == "ok" and line["rank"] == 0:
                        axes = [str(line["point"][axis]) for axis in self.plan.points[0] if axis in line["point"]]
                        name = "_".join([launch.variant, *axes])
                        totals.setdefault(name, []).extend(line["samples"].get(quantity, []))
        unit = "s" if quantity.endswith("_s") else quantity
        self.perf_variables = {
            name: sn.make_performance_function(sn.defer(statistics.median(values)), unit)
            for name, values in totals.items()
            if values
        }


_SITE_EXTRAS = ("network", "cpus_shared", "cpus_too_few", "check_interfaces", "sweep")
