# SPDX-License-Identifier: BSD-3-Clause
"""python -m harness: what ./bench becomes."""

import sys

try:
    from harness.cli import main

    status = main(sys.argv[1:])
except KeyboardInterrupt:  # it takes a second to load
    sys.exit("bench: interrupted")

sys.exit(status)
