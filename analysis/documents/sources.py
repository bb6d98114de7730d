# SPDX-License-Identifier: BSD-3-Clause
"""Where numbers come from, a line a session: for tables that are printed or kept as documents."""

from __future__ import annotations

from typing import Any


def source(session: dict[str, Any]) -> str:
    """A session's command, time, system, machine and commit, as an item of a list."""
    about = session.get("machine") or {}
    command = " ".join(["./bench", *map(str, session.get("command") or [])])
    words = [
        str(session.get("created", "time unknown")),
        f"{session.get('system', 'unknown system')} ({session.get('network') or 'network unknown'})",
        f"{about.get('cpu_model', 'unknown CPU')}, {about.get('cores', '?')} cores, {about.get('cpus', '?')} CPUs"
        + (", a virtual machine" if about.get("virtual_machine") else ""),
        f"Linux {about.get('kernel', '?')}",
        f"commit {str((session.get('git') or {}).get('commit', 'unknown'))[:12]}",
    ]
    return f"- session {session['session']}: `{command}`, {', '.join(words)}"
