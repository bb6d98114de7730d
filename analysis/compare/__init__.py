# SPDX-License-Identifier: BSD-3-Clause
"""Is NEW slower than BASE? A verdict for every point and one for the session that can be trusted in CI.

comparison = judge.compare(Path("results/base"), Path("results/new"))
print(comparison.markdown()); raise SystemExit(comparison.status)
"""
