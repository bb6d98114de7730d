# SPDX-License-Identifier: BSD-3-Clause
"""May this change be merged? The verdict of a gate: commit, node, system, same, faster or undecided.

found = judge.judge(session.read(Path("results/SESSION")), history=[]); raise SystemExit(found.status)
"""
