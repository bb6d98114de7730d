# SPDX-License-Identifier: BSD-3-Clause
"""python -m harness: what ./bench becomes."""

import sys

from harness.cli import main

sys.exit(main(sys.argv[1:]))
