# SPDX-License-Identifier: BSD-3-Clause
"""What makes a fresh machine ready: Debian packages, the virtual environment, the MPIs, the builds.

Standard library only, since it runs before anything is installed. Each step looks first and does nothing when there
is nothing to do, so that it can be called at every start.
"""
