# SPDX-License-Identifier: BSD-3-Clause
"""python -m harness: what ./bench becomes."""

import sys

from harness.base.errors import INTERRUPTED, defect

try:
    from harness.cli import main

    status = main(sys.argv[1:])
except KeyboardInterrupt:  # it takes a second to load
    print("bench: interrupted", file=sys.stderr)
    status = INTERRUPTED
except Exception:
    status = defect(sys.argv[1:])

sys.exit(status)
