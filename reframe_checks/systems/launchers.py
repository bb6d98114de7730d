# SPDX-License-Identifier: BSD-3-Clause
"""Launchers that ReFrame does not bring. A site's file imports this module, and names one of them."""

from __future__ import annotations

from typing import Any

from reframe.core.backends import register_launcher
from reframe.core.launchers import JobLauncher


@register_launcher("flux-run")
class FluxRun(JobLauncher):  # type: ignore[misc]
    """Ranks by `flux run` within a job of Flux."""

    def command(self, job: Any) -> list[str]:
        """As many ranks, nodes and cores a rank as the job has."""
        nodes = -(-job.num_tasks // (job.num_tasks_per_node or job.num_tasks))
        counts = {"ntasks": job.num_tasks, "nodes": nodes, "cores-per-task": job.num_cpus_per_task or 1}
        return ["flux", "run", *(f"--{name}={count}" for name, count in counts.items())]
